package notes

import (
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitrun"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// Options is what a [Dir] needs.
type Options struct {
	Guard   Guard         // required
	Clock   amber.Clock   // dates the commits; required
	Git     string        // the git program: a name looked up in PATH or a path; default "git"
	Timeout time.Duration // for each git command; default [gitrun.DefaultTimeout]
	FS      fsx.FS        // where note files are read and written; default fsx.OS()
}

// Dir is a folder of notes. It holds nothing open and is safe for concurrent use; writers queue
// in the guard.
type Dir struct {
	guard Guard
	clock amber.Clock
	git   gitrun.Program
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
	case o.Timeout < 0:
		return nil, amber.Errorf(amber.KindInvalid, op, "", "Options.Timeout is negative")
	}
	if o.Timeout == 0 {
		o.Timeout = gitrun.DefaultTimeout
	}
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	git, err := gitrun.Find(o.Git, o.Timeout)
	if err != nil {
		return nil, wrap(op, "", err)
	}
	return &Dir{guard: o.Guard, clock: o.Clock, git: git, fsys: o.FS}, nil
}

func (d *Dir) repoAt(dir string) *repo {
	return &repo{
		dir:    dir,
		gitDir: filepath.Join(dir, ".git"),
		fsys:   d.fsys,
		git:    d.git,
		clock:  d.clock,
	}
}

// wrap names the operation and its subject; the kind stays that of err.
func wrap(op, id string, err error) error { return notefile.Wrap(op, id, err) }

// amberError is an [amber.Error] without a subject.
func amberError(k amber.Kind, op string, err error, hint string) error {
	return notefile.Error(k, op, err, hint)
}
