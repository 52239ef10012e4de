package notes

import (
	"context"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// Options is what a [Dir] needs.
type Options struct {
	Guard Guard       // required
	Clock amber.Clock // dates the commits; required
	FS    fsx.FS      // where the folder is; default fsx.OS()
}

// Dir is a folder of notes. It holds nothing open and is safe for concurrent use; writers queue
// in the guard.
type Dir struct {
	guard Guard
	clock amber.Clock
	fsys  fsx.FS
}

var (
	_ amber.Notes   = (*Dir)(nil)
	_ amber.NoteLog = (*Dir)(nil)
)

// New returns the notes behind a guard. It touches nothing: the folder and its repository are made by the
// first write. The error is of kind invalid.
func New(o Options) (*Dir, error) {
	const op = "open notes"
	switch {
	case o.Guard == nil:
		return nil, amber.Errorf(amber.KindInvalid, op, "", "Options.Guard is not set")
	case o.Clock == nil:
		return nil, amber.Errorf(amber.KindInvalid, op, "", "Options.Clock is not set")
	}
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	return &Dir{guard: o.Guard, clock: o.Clock, fsys: o.FS}, nil
}

// write runs fn as the only writer.
func (d *Dir) write(ctx context.Context, fn func(*repo) error) error {
	return d.guard.Write(ctx, func(dir string) error { return d.at(dir, fn) })
}

// read runs fn beside a writer.
func (d *Dir) read(ctx context.Context, fn func(*repo) error) error {
	return d.guard.Read(ctx, func(dir string) error { return d.at(dir, fn) })
}

func (d *Dir) at(dir string, fn func(*repo) error) error {
	gitDir := filepath.Join(dir, ".git")
	r := &repo{dir: dir, gitDir: gitDir, fsys: d.fsys, clock: d.clock, objects: gitobj.OpenFolder(d.fsys, gitDir)}
	err := fn(r)
	if closed := r.objects.Close(); err == nil {
		err = closed
	}
	return err
}

// wrap names the operation and its subject; the kind stays that of err.
func wrap(op, id string, err error) error { return notefile.Wrap(op, id, err) }

// amberError is an [amber.Error] without a subject.
func amberError(k amber.Kind, op string, err error, hint string) error {
	return notefile.Error(k, op, err, hint)
}
