package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// GitOptions say how git is run where notes become a repository in a folder, and come from one.
type GitOptions struct {
	Git     string        // the program; default "git"
	Timeout time.Duration // how long it may run; default ten minutes
	Temp    string        // an existing folder for temporary files; default that of the system
}

func (o GitOptions) of(dir string) gitobj.Options {
	return gitobj.Options{Dir: dir, Git: o.Git, Timeout: o.Timeout, Temp: o.Temp}
}

// Export writes the notes into a folder that is empty or does not exist: a repository with their whole history and all
// branches and tags, and the files of the notes. Package notes can work on that folder. Everything is durable when
// Export returns. Errors: conflict when the folder holds something, or when another generation of the agent became live
// meanwhile; damaged; unsupported when there is no git; those of the file system. An export that fails leaves no
// repository.
func (n *Notes) Export(ctx context.Context, dir string, o GitOptions) error {
	const op = "export notes"
	fsys := fsx.OS()
	if err := notefile.NewFolder(fsys, dir); err != nil {
		return notefile.Wrap(op, "", err)
	}
	none, first := "", ""
	var refs gitobj.Refs
	err := n.view(ctx, op, &none, func(r *noteRepo) (err error) {
		first = r.t.Current.Incarnation
		refs, err = r.refs()
		return err
	})
	if err != nil {
		return err
	}
	// Objects never go, so those that are added meanwhile do no harm.
	same := func(fn func(*noteRepo) error) error {
		return n.view(ctx, op, &none, func(r *noteRepo) error {
			if r.t.Current.Incarnation != first {
				return errReplaced()
			}
			return fn(r)
		})
	}
	err = gitobj.Build(ctx, o.of(dir), dir, refs, func(yield func(string, []byte) error) error {
		return same(func(r *noteRepo) error {
			return r.eachObject(func(o gitobj.Object) error { return yield(o.OID, o.Raw) })
		})
	})
	if err != nil {
		return notefile.Wrap(op, "", err)
	}
	err = same(func(r *noteRepo) error { return r.at(refs.OID).checkout(fsys, dir) })
	if err == nil {
		err = fsys.SyncAll(dir)
	}
	if err != nil {
		return errors.Join(notefile.Wrap(op, "", err), fsx.RemoveAll(fsys, filepath.Join(dir, ".git")))
	}
	return nil
}

// errReplaced is the answer where another generation became live between two transactions.
func errReplaced() error {
	return notefile.Error(amber.KindConflict, "", errors.New("the notes were replaced meanwhile"), "try again")
}

// at is the repository as it was at a commit.
func (r *noteRepo) at(commit string) *noteRepo {
	return &noteRepo{t: r.t, head: commit, trees: map[string][]byte{}}
}

// checkout writes the files of the notes into a folder.
func (r *noteRepo) checkout(fsys fsx.FS, dir string) error {
	blobs, err := r.blobs()
	if err != nil {
		return err
	}
	named := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(blobs)) { // which are safe: their rule is that of note names
		named[blobs[name]] = append(named[blobs[name]], name)
	}
	for part := range slices.Chunk(slices.Sorted(maps.Keys(named)), objectsPage) {
		err := r.Objects(part, func(oid string, raw []byte) error {
			content, err := gitobj.ReadBlob(oid, raw)
			if err != nil {
				return damagedNotes(err)
			}
			for _, name := range named[oid] {
				if err := notefile.WriteNew(fsys, filepath.Join(dir, filepath.FromSlash(name+notefile.Suffix)), content); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Import takes over the whole history of a repository of notes, for an agent that has none: its objects and refs, as
// they are. Import trusts neither: git checks the form of every object and that every object that is named is there, in
// a folder of its own that is gone afterwards, and Import hashes each object again when it stores it. Import calls
// objects twice. It stores the objects before anything names them; one transaction writes the branches, the tags, the
// copy and the index. The same import may be repeated. Errors: invalid for refs that contradict each other; conflict
// when there are notes, and when another branch than main is checked out; damaged; unsupported for ids that are not
// SHA-1, and when there is no git; quota for an object over [gitobj.MaxObjectBytes]; those of objects.
func (n *Notes) Import(ctx context.Context, refs gitobj.Refs, objects gitobj.ObjectSource, o GitOptions) error {
	if err := checkNoteRefs(refs); err != nil {
		return notefile.Wrap(opImport, "", err)
	}
	known := map[string]bool{}
	err := gitobj.Connected(ctx, o.of(""), o.Temp, refs, func(yield func(string, []byte) error) error {
		return objects(func(oid string, raw []byte) error {
			if err := checkObjectSize(oid, raw); err != nil {
				return err
			}
			known[oid] = true
			return yield(oid, raw)
		})
	})
	if err != nil {
		return notefile.Wrap(opImport, "", err)
	}
	return n.takeOver(ctx, refs, func(yield func(string, []byte) error) error {
		left := maps.Clone(known)
		err := objects(func(oid string, raw []byte) error {
			if !known[oid] {
				return notefile.Damaged(fmt.Errorf("the object %.80q was not among those that were checked", oid))
			}
			delete(left, oid)
			return yield(oid, raw)
		})
		if err == nil && len(left) > 0 {
			err = notefile.Damaged(fmt.Errorf("%d objects did not come again", len(left)))
		}
		return err
	})
}

// ImportFolder is [Notes.Import] from a folder with a repository, which any person may have made: git never works in
// it. Files of the folder that are in no commit stay where they are. Errors: those of Import, and not_found when there
// is no repository.
func (n *Notes) ImportFolder(ctx context.Context, dir string, o GitOptions) error {
	refs, found, err := gitobj.ReadRefs(fsx.OS(), dir)
	if err == nil && !found {
		err = notefile.Error(amber.KindNotFound, "", errors.New("the folder has no repository"), "")
	}
	if err == nil {
		err = checkNoteRefs(refs)
	}
	if err != nil {
		return notefile.Wrap(opImport, "", err)
	}
	return n.takeOver(ctx, refs, func(yield func(string, []byte) error) error {
		return gitobj.RawObjects(ctx, o.of(dir), refs, yield)
	})
}

const opImport = "import notes"

// checkNoteRefs checks that refs can be those of notes.
func checkNoteRefs(refs gitobj.Refs) error {
	if err := refs.Check(); err != nil {
		return notefile.Error(amber.KindInvalid, "", err, "")
	}
	if refs.Head != gitobj.MainBranch {
		return notefile.NotMain()
	}
	for _, ref := range refs.Refs {
		if len(ref.OID) != len(gitobj.ZeroOID) {
			return notefile.Error(amber.KindUnsupported, "", errors.New("the ids of the repository are not SHA-1"), "")
		}
	}
	return nil
}

func checkObjectSize(oid string, raw []byte) error {
	if len(raw) > gitobj.MaxObjectBytes {
		return notefile.Error(amber.KindQuota, "", fmt.Errorf("the object %.80q has more than %d bytes", oid, gitobj.MaxObjectBytes), "")
	}
	return nil
}

// How much is stored in one transaction.
const (
	importObjects = 512
	importBytes   = 8 << 20
)

// takeOver stores objects, then makes refs those of the notes.
func (n *Notes) takeOver(ctx context.Context, refs gitobj.Refs, objects gitobj.ObjectSource) error {
	in := &noteImport{n: n, ctx: ctx, seen: map[string]bool{}}
	done := false
	err := in.update(func(r *noteRepo) (err error) {
		in.incarnation = r.t.Current.Incarnation
		done, err = r.same(refs)
		return err
	})
	if err != nil || done {
		return err
	}
	if err := objects(in.add); err != nil {
		return notefile.Wrap(opImport, "", err)
	}
	if err := in.flush(); err != nil {
		return err
	}
	return in.update(func(r *noteRepo) error {
		if done, err := r.same(refs); err != nil || done {
			return err
		}
		for _, ref := range refs.Refs {
			if _, err := r.t.Exec(insertBranch, ref.Name, ref.OID); err != nil {
				return err
			}
		}
		next, err := openNotes(r.t)
		if err != nil || next.head == "" {
			return err
		}
		return next.renewCopy()
	})
}

// same reports whether the notes have these refs already. The error is of kind conflict when they have others.
func (r *noteRepo) same(refs gitobj.Refs) (bool, error) {
	have, err := r.refs()
	switch {
	case err != nil:
		return false, err
	case len(have.Refs) == 0:
		return false, nil
	case have.Equal(refs):
		return true, nil
	}
	return false, notefile.Error(amber.KindConflict, "", errors.New("the agent has notes already"), "")
}

// noteImport stores objects, some in each transaction.
type noteImport struct {
	n           *Notes
	ctx         context.Context
	incarnation string // of the first transaction
	seen        map[string]bool
	batch       []gitobj.Object
	size        int
}

func (in *noteImport) update(fn func(*noteRepo) error) error {
	none := ""
	return in.n.d.UpdateAlone(in.ctx, opImport, "", func(t *tx) error {
		return inNotes(opImport, &none, t, func(r *noteRepo) error {
			if in.incarnation != "" && t.Current.Incarnation != in.incarnation {
				return errReplaced()
			}
			return fn(r)
		})
	})
}

// add checks an object and keeps it for the next transaction.
func (in *noteImport) add(oid string, raw []byte) error {
	if err := checkObjectSize(oid, raw); err != nil {
		return err
	}
	o, err := gitobj.CheckObject(oid, raw)
	if err != nil || in.seen[oid] {
		return err
	}
	in.seen[oid] = true
	o.Raw = slices.Clone(raw) // its owner may use the bytes again
	in.batch = append(in.batch, o)
	if in.size += len(raw); len(in.batch) < importObjects && in.size < importBytes {
		return nil
	}
	return in.flush()
}

func (in *noteImport) flush() error {
	if len(in.batch) == 0 {
		return nil
	}
	err := in.update(func(r *noteRepo) error { return r.put(in.batch...) })
	in.batch, in.size = in.batch[:0], 0
	return err
}

// Check looks for damage: objects that are not what their ids say, objects that something names and that are missing, refs that name
// nothing, and a copy that is not what the branch ends with. The error is of kind damaged.
func (n *Notes) Check(ctx context.Context) error {
	none := ""
	return n.view(ctx, "check notes", &none, func(r *noteRepo) error {
		refs, err := r.refs()
		if err != nil {
			return err
		}
		have, need := map[string]bool{}, map[string]bool{}
		for _, ref := range refs.Refs {
			need[ref.OID] = true
		}
		err = r.eachObject(func(o gitobj.Object) error {
			have[o.OID] = true
			named, err := o.Named()
			for _, oid := range named {
				need[oid] = true
			}
			return damagedNotes(err)
		})
		if err != nil {
			return err
		}
		for _, oid := range slices.Sorted(maps.Keys(need)) {
			if !have[oid] {
				return damagedNotes(gitobj.Missing(oid))
			}
		}
		return r.checkCopy()
	})
}

const countObjects = `SELECT count(*) FROM note_objects`

// Refs returns the branches and tags of the notes, and how many objects there are.
func (n *Notes) Refs(ctx context.Context) (refs gitobj.Refs, objects int, err error) {
	none := ""
	err = n.view(ctx, "read refs", &none, func(r *noteRepo) (err error) {
		if refs, err = r.refs(); err != nil {
			return err
		}
		return r.t.Row(countObjects).Scan(&objects)
	})
	return refs, objects, err
}

// Behind reports whether the copy of the notes, which makes them found, is of another commit than the branch ends with.
func (n *Notes) Behind(ctx context.Context) (behind bool, err error) {
	none := ""
	err = n.view(ctx, "look at notes", &none, func(r *noteRepo) error {
		behind = r.copied != r.head
		return nil
	})
	return behind, err
}

// Renew makes the copy of the notes, which makes them found, anew of what the branch ends with. Errors: damaged.
func (n *Notes) Renew(ctx context.Context) error {
	none := ""
	return n.update(ctx, "copy notes", &none, func(r *noteRepo) error { return r.renewCopy() })
}

// checkCopy compares the copy with what the branch ends with. Files that are no text of a note are not in it.
func (r *noteRepo) checkCopy() error {
	if r.copied != r.head {
		return damagedCopy("is of commit %.40q, want %.40q", r.copied, r.head)
	}
	want, err := r.blobs()
	if err != nil {
		return err
	}
	got, err := r.t.NoteBlobs()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if want[name] != got[name] {
			return damagedCopy("has a note %.80q that says something else than the branch, or is not on it", name)
		}
		delete(want, name)
	}
	for part := range slices.Chunk(slices.Sorted(maps.Keys(want)), loadedNotes) {
		texts, _, err := r.texts(part, want)
		if err != nil {
			return err
		}
		for _, name := range part {
			if text, small := texts[want[name]]; small && amber.CheckNoteContent(string(text)) == nil {
				return damagedCopy("lacks the note %.80q", name)
			}
		}
	}
	return nil
}

func damagedCopy(format string, args ...any) error {
	return notefile.Error(amber.KindDamaged, "", fmt.Errorf("the copy of the notes "+format, args...), "amber index rebuild")
}
