package gitsync

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
)

// The folder:
//
//	.amber/.gitattributes     git neither merges nor shows chunks
//	.amber/.gitignore         local/ stays here
//	.amber/chunks/<id>.jsonl.zst
//	.amber/local/lock         held by who exports or compacts
//	.amber/local/summary.json what the chunks hold, for people
const (
	chunksDir  = "chunks"
	localDir   = "local"
	lockFile   = "lock"
	attributes = "# Chunks are written once and never edited: git takes them as they are.\n/chunks/** binary\n"
	ignore     = "# Derived from the chunks, on this machine only; and what a killed writer left.\n/local/\n.amber-tmp-*\n"
)

func (s *Sync) chunks() string { return filepath.Join(s.dir, chunksDir) }

func (s *Sync) path(id chunk.ID) string { return filepath.Join(s.chunks(), id.FileName()) }

// prepare makes the folders.
func (s *Sync) prepare() error {
	for _, dir := range []string{s.dir, s.chunks(), filepath.Join(s.dir, localDir)} {
		if err := fsx.MkdirAll(s.fs, dir, 0o755); err != nil {
			return fail("prepare sync folder", dir, err)
		}
	}
	return nil
}

// writing runs fn in a folder that is prepared and locked.
func (s *Sync) writing(ctx context.Context, fn func() error) error {
	if err := s.prepare(); err != nil {
		return err
	}
	return s.locked(ctx, filepath.Join(s.dir, localDir), s.chunks(), func() error {
		if err := s.instruct(); err != nil {
			return err
		}
		return fn()
	})
}

// instruct tells git how to treat the folder. Files that are there stay:
// everybody writes the same ones, so two who begin at the same time do not
// conflict.
func (s *Sync) instruct() error {
	const op = "prepare sync folder"
	if _, err := fsx.SweepTemp(s.fs, s.dir); err != nil {
		return fail(op, s.dir, err)
	}
	for _, f := range []struct{ name, text string }{{".gitattributes", attributes}, {".gitignore", ignore}} {
		path := filepath.Join(s.dir, f.name)
		if _, err := s.fs.Lstat(path); err == nil {
			continue
		}
		err := fsx.CreateNew(s.fs, path, 0o644, []byte(f.text))
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fail(op, path, err)
		}
	}
	return nil
}

// locked runs fn while no other process exports to the folder or compacts it. It removes temporary files that a process
// left.
func (s *Sync) locked(ctx context.Context, dir, sweep string, fn func() error) (err error) {
	l, err := fsx.AcquireLock(ctx, filepath.Join(dir, lockFile), fsx.Exclusive)
	if ctx.Err() != nil && err != nil {
		return &amber.Error{Op: "lock sync folder", Kind: amber.KindBusy, ID: s.dir, Err: err}
	}
	if err != nil {
		return fail("lock sync folder", s.dir, err)
	}
	defer func() { err = errors.Join(err, l.Unlock()) }()
	if _, err := fsx.SweepTemp(s.fs, sweep); err != nil {
		return fail("tidy sync folder", s.dir, err)
	}
	return fn()
}

// file is a chunk or a pack in the folder.
type file struct {
	id   chunk.ID
	name string
	// bad says why the file is not even opened; nil for a chunk file.
	bad error
}

// list returns the files in the folder by name. A folder that is not there
// has none.
func (s *Sync) list() ([]file, error) {
	const op = "list chunks"
	info, err := s.fs.Lstat(s.chunks())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && !info.IsDir() {
		return nil, amber.Errorf(amber.KindDamaged, op, s.chunks(), "want a folder")
	}
	var entries []fs.DirEntry
	if err == nil {
		entries, err = s.fs.ReadDir(s.chunks())
	}
	if err != nil {
		return nil, fail(op, s.chunks(), err)
	}
	var files []file
	for _, e := range entries {
		if isHidden(e.Name()) {
			continue
		}
		files = append(files, look(e))
	}
	return files, nil
}

// isHidden reports whether a name is that of a temporary file, or a system's
// own.
func isHidden(name string) bool {
	return strings.HasPrefix(name, fsx.TempPrefix) || strings.HasPrefix(name, ".") && !strings.HasSuffix(name, chunk.ID("").FileName())
}

// look says what an entry of the folder is. Nothing is opened by a name that
// is not that of a chunk, and nothing but a regular file.
func look(e fs.DirEntry) file {
	id, ok := chunk.ParseFileName(e.Name())
	f := file{id: id, name: e.Name()}
	switch {
	case !ok:
		f.bad = amber.Errorf(amber.KindInvalid, "read chunk", clip.Name(e.Name()), "want the name of a chunk")
	case !e.Type().IsRegular():
		f.bad = amber.Errorf(amber.KindInvalid, "read chunk", string(id), "want a regular file")
	}
	return f
}

// read returns the bytes of a chunk file.
func (s *Sync) read(f file) ([]byte, error) {
	if f.bad != nil {
		return nil, f.bad
	}
	b, err := fsx.ReadFile(s.fs, s.path(f.id), chunk.MaxFileBytes)
	if err = fail("read chunk", string(f.id), err); amber.KindOf(err) == amber.KindInternal {
		// The disk cannot give the file back: only this chunk is damaged, and no other.
		err = &amber.Error{Op: "read chunk", Kind: amber.KindDamaged, ID: string(f.id), Err: err}
	}
	return b, err
}

// parts returns the chunks in a file.
func (s *Sync) parts(f file) ([]chunk.Part, error) {
	b, err := s.read(f)
	if err != nil {
		return nil, err
	}
	return chunk.Open(f.id, b)
}

// quarantined describes a chunk that is not used.
func quarantined(id string, err error) amber.QuarantinedChunk {
	var e *amber.Error
	reason := err.Error()
	if errors.As(err, &e) && e.Err != nil {
		reason = e.Err.Error()
	}
	return amber.QuarantinedChunk{ID: id, Reason: reason, Kind: amber.KindOf(err)}
}

// isVerdict reports whether an error is about a chunk, and not about the disk,
// the store or the caller.
func isVerdict(err error) bool {
	switch amber.KindOf(err) {
	case amber.KindDamaged, amber.KindUntrusted, amber.KindInvalid, amber.KindTooNew, amber.KindQuota, amber.KindRefused, amber.KindNotFound:
		return true
	}
	return false
}
