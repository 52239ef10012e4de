package home

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fifo"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// tenantsName is the folder of the tenants.
const tenantsName = "tenants"

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
// that is not a folder, refused where it may not be made or reached.
func Open(dir string, o Options) (h *Home, created bool, err error) {
	h, there, err := locate(dir, o)
	if err != nil || there {
		return h, false, err
	}
	if err := fsx.MkdirAll(h.o.FS, h.dir, 0o700); err != nil {
		return nil, false, openError("make home", h.dir, err)
	}
	return h, true, nil
}

// At returns the home at dir without making it: there need not be one. It is
// for those who only look, and for those who make what they need themselves.
// Errors: those of Open.
func At(dir string, o Options) (*Home, error) {
	h, _, err := locate(dir, o)
	return h, err
}

// locate returns the home at dir and whether it is there.
func locate(dir string, o Options) (h *Home, there bool, err error) {
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
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		// The user's own link to a bigger disk is fine.
		if dir, info, err = follow(o.FS, dir); err != nil {
			return nil, false, err
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &Home{dir: dir, o: o}, false, nil
	}
	if err != nil {
		return nil, false, openError("open home", dir, err)
	}
	if !info.IsDir() {
		return nil, false, notFolder(dir)
	}
	return &Home{dir: dir, o: o}, true, nil
}

// follow returns where the link dir leads to.
func follow(fsys fsx.FS, dir string) (string, fs.FileInfo, error) {
	target, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, amber.Errorf(amber.KindInvalid, "open home", dir, "a symbolic link to a path that does not exist")
	}
	if err != nil {
		return "", nil, openError("open home", dir, err)
	}
	info, err := fsys.Lstat(target)
	if err != nil {
		return "", nil, openError("open home", target, err)
	}
	return target, info, nil
}

func notFolder(dir string) error {
	return amber.Errorf(amber.KindInvalid, "open home", dir, "not a folder")
}

// openError is diskError where the path is the user's choice: a file on the
// way is a wrong path, not damage.
func openError(op, dir string, err error) error {
	if errors.Is(err, syscall.ENOTDIR) {
		return notFolder(dir)
	}
	return diskerr.Own(op, dir, err)
}

// Dir returns the folder.
func (h *Home) Dir() string { return h.dir }

// RepoDir returns the folder of a tenant's snapshot repository. The id has been
// checked. It need not exist; the first use makes it.
func (h *Home) RepoDir(tenant amber.TenantID) string {
	return filepath.Join(h.dir, tenantsName, string(tenant), "repo")
}

// SnapshotsDir returns where the bundles of an agent lie unless the user says
// otherwise. It may not be there yet.
func (h *Home) SnapshotsDir(tenant amber.TenantID, agent amber.AgentID) string {
	return filepath.Join(h.BundlesDir(tenant), string(agent))
}

// BundlesDir returns the folder of the folders of bundles of a tenant's agents.
func (h *Home) BundlesDir(tenant amber.TenantID) string {
	return filepath.Join(h.dir, tenantsName, string(tenant), "snapshots")
}

// KeysDir returns the folder of keys and known chain heads: what must not lie
// in a repository. It need not exist.
func (h *Home) KeysDir() string { return filepath.Join(h.dir, "keys") }

// CacheDir returns the folder of what can be made again at any time. It need
// not exist.
func (h *Home) CacheDir() string { return filepath.Join(h.dir, "cache") }

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
		dir:    filepath.Join(h.dir, tenantsName, string(tenant), "agents", string(agent)),
		tenant: tenant,
		agent:  agent,
		o:      h.o,
		turns:  &fifo.Lines[string]{},
	}, nil
}
