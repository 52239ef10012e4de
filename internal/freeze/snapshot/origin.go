package snapshot

import (
	"context"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/wire"
)

// origin is what a restore takes an agent from: a snapshot in a repository, or
// a bundle. Whatever it hands out has been compared with what was written.
type origin interface {
	// databases describes those there are.
	databases() []storedDatabase
	// database writes one of them to a file that is not there yet.
	database(ctx context.Context, name, path string) error
	// notes makes the folder of the notes with its history. Lost says why they
	// come without it; "" when they do not.
	notes(ctx context.Context, dir string) (lost string, err error)
	// state makes the folder of the state.
	state(ctx context.Context, dir string) error
	// journal tells how far each session was drained.
	journal() []repo.JournalMark
	// frames returns the captured entries of a session, nil without any.
	frames(ctx context.Context, m repo.JournalMark) (io.Reader, error)
	// room is what everything but the databases takes.
	room() int64
	// view opens a database where it lies, for a plan.
	view(ctx context.Context, name string) (pages, error)
	// files lists those of a part, notes or state.
	files(ctx context.Context, part string) (map[string]content, error)
	// hasher makes the content of a file that can be compared with those.
	hasher() contentHasher
}

// contentHasher is written the bytes of a file, then tells its content.
type contentHasher interface {
	io.Writer
	end() []repo.ID
}

// storedDatabase is a database of an origin.
type storedDatabase struct {
	name   string
	bytes  int64
	digest repo.ID // of its content: checks are remembered by it
}

// snapshotOrigin is a snapshot in a repository.
type snapshotOrigin struct {
	e     *Engine
	rep   *repository
	inner repo.Inner

	captured map[string]repo.TreeEntry // the journal, by key; nil: not looked at yet
}

func (o *snapshotOrigin) databases() []storedDatabase {
	list := make([]storedDatabase, 0, len(o.inner.Databases))
	for _, d := range o.inner.Databases {
		list = append(list, storedDatabase{d.Name, d.Ref.Bytes(), d.Ref.Digest})
	}
	return list
}

func (o *snapshotOrigin) database(ctx context.Context, name, path string) error {
	return o.e.writeDatabase(ctx, o.rep, *findDatabase(o.inner.Databases, name), path)
}

// notes brings back the history from objects and refs alone. A history that git refuses stays in
// the snapshot.
func (o *snapshotOrigin) notes(ctx context.Context, dir string) (lost string, err error) {
	if g := o.inner.Git; g != nil {
		if err := fsx.MkdirAll(o.e.o.FS, dir, 0o700); err != nil {
			return "", fail("make notes", dir, err)
		}
		if lost, err = o.e.buildHistory(ctx, dir, refsOf(g), o.e.objects(ctx, o.rep, g)); err != nil {
			return "", err
		}
	}
	return lost, o.e.buildFiles(ctx, o.rep, o.inner.Notes, dir)
}

// lostHistory tells a history that git refuses, which the notes can do without,
// from an error.
func lostHistory(err error) (lost string, _ error) {
	switch amber.KindOf(err) {
	case amber.KindDamaged, amber.KindUnsupported:
		return err.Error(), nil
	}
	return "", err
}

// buildHistory makes the repository of the notes. Lost says why git refuses the
// objects; what cannot be read is an error.
func (e *Engine) buildHistory(ctx context.Context, dir string, refs gitobj.Refs, objects gitobj.ObjectSource) (lost string, err error) {
	var unread, refused error
	err = gitobj.Build(ctx, gitobj.Options{Git: e.o.Git, FS: e.o.FS}, dir, refs, func(yield func(string, []byte) error) error {
		err := objects(func(oid string, raw []byte) error {
			refused = yield(oid, raw)
			return refused
		})
		if refused == nil {
			unread = err
		}
		return err
	})
	if unread != nil {
		return "", err
	}
	return lostHistory(err)
}

func (o *snapshotOrigin) state(ctx context.Context, dir string) error {
	return o.e.buildFiles(ctx, o.rep, o.inner.State, dir)
}

func (o *snapshotOrigin) journal() []repo.JournalMark { return o.inner.Marks }

func (o *snapshotOrigin) frames(ctx context.Context, m repo.JournalMark) (io.Reader, error) {
	if o.inner.Journal == nil {
		return nil, nil
	}
	if o.captured == nil {
		found := map[string]repo.TreeEntry{}
		err := o.rep.WalkTree(ctx, o.inner.Journal.Tree, func(rel string, entry repo.TreeEntry) error {
			found[rel] = entry
			return nil
		})
		if err != nil {
			return nil, err
		}
		o.captured = found
	}
	if entry, ok := o.captured[m.Key]; ok {
		return &partsReader{ctx: ctx, repo: o.rep.Repo, parts: entry.Parts}, nil
	}
	return nil, nil
}

func (o *snapshotOrigin) room() (bytes int64) {
	for _, f := range []*repo.FilesEntry{o.inner.Notes, o.inner.State, o.inner.Journal} {
		if f != nil {
			bytes += f.Bytes + blockBytes*f.Files
		}
	}
	if o.inner.Git != nil {
		bytes += o.inner.Git.Bytes
	}
	return bytes
}

// blockBytes is what a file takes on a disk beside its bytes, at most.
const blockBytes = 4096

func (o *snapshotOrigin) view(ctx context.Context, name string) (pages, error) {
	return (&differ{e: o.e, rep: o.rep}).file(ctx, *findDatabase(o.inner.Databases, name))
}

func (o *snapshotOrigin) files(ctx context.Context, part string) (map[string]content, error) {
	files := o.inner.Notes
	if part == wire.PartState {
		files = o.inner.State
	}
	return (&differ{e: o.e, rep: o.rep}).tree(ctx, files)
}

func (o *snapshotOrigin) hasher() contentHasher { return &partHasher{id: o.rep.BlobID} }
