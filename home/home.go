package home

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
)

// DefaultWait is how long a writer waits for its turn, and a fence for the
// writers, before the answer is busy.
const DefaultWait = 60 * time.Second

// Options say how a home works. Clock and Random are required.
type Options struct {
	Clock  amber.Clock
	Random io.Reader
	Wait   time.Duration // 0: DefaultWait
	FS     fsx.FS        // nil: the operating system's
}

// Home is the folder that holds every tenant and agent of one user.
type Home struct {
	dir string
	o   Options
}

// Open returns the home at dir, made with mode 0700 if it is missing, and
// whether it was made now. Errors: invalid for a relative path or something
// that is not a folder, refused where the folder cannot be written.
func Open(dir string, o Options) (h *Home, created bool, err error) {
	if o.Clock == nil || o.Random == nil {
		return nil, false, amber.Errorf(amber.KindInvalid, "open home", dir, "clock and random source are required")
	}
	if !filepath.IsAbs(dir) {
		return nil, false, amber.Errorf(amber.KindInvalid, "open home", dir, "the path is not absolute")
	}
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	if o.Wait == 0 {
		o.Wait = DefaultWait
	}
	info, err := o.FS.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := fsx.MkdirAll(o.FS, dir, 0o700); err != nil {
			return nil, false, diskError("make home", dir, err)
		}
		created = true
	case err != nil:
		return nil, false, diskError("open home", dir, err)
	case info.Mode()&fs.ModeSymlink != 0:
		// The user's own link to a bigger disk is fine; below it nothing is.
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return nil, false, diskError("open home", dir, err)
		}
	case !info.IsDir():
		return nil, false, amber.Errorf(amber.KindInvalid, "open home", dir, "it is not a folder")
	}
	return &Home{dir: dir, o: o}, created, nil
}

// Dir returns the folder.
func (h *Home) Dir() string { return h.dir }

// Agent returns the handle of one agent. It touches no disk; the agent need
// not exist. The ids are checked again here: they become path elements.
func (h *Home) Agent(tenant amber.TenantID, agent amber.AgentID) (*Agent, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return nil, err
	}
	if _, err := amber.ParseAgentID(string(agent)); err != nil {
		return nil, err
	}
	return &Agent{
		dir:    filepath.Join(h.dir, "tenants", string(tenant), "agents", string(agent)),
		tenant: tenant,
		agent:  agent,
		o:      h.o,
		turns:  newTurns(),
	}, nil
}

// diskError gives a file system error its kind: what permissions forbid is
// refused, everything else is internal.
func diskError(op, path string, err error) error {
	e := &amber.Error{Op: op, Kind: amber.KindInternal, ID: path, Err: err}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		e.Kind = amber.KindRefused
		e.Hint = "check who owns the folder, or choose another with --home"
	case errors.Is(err, syscall.ENOSPC):
		e.Hint = "free some disk space and try again; nothing was changed"
	}
	return e
}
