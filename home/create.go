package home

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
)

// folderState is what a folder without CURRENT looks like.
type folderState int

const (
	empty       folderState = iota // nothing of an agent is there
	interrupted                    // a creation did not finish: nothing in it was ever acknowledged
	lostCurrent                    // data without CURRENT: damage, never a fresh start
)

// Create makes the agent if there is none: under the exclusive lock it builds
// generation 1 with build, which puts the databases into an empty folder, and
// then writes CURRENT. A creation that was interrupted is begun again from
// nothing. It returns the live generation and whether it was made now.
// Errors: those of build; damaged when the folder holds data without CURRENT.
func (a *Agent) Create(ctx context.Context, build func(dir string, c Current) error) (Current, bool, error) {
	c, err := a.Current()
	if amber.KindOf(err) != amber.KindNotFound {
		return c, false, err
	}
	if err := fsx.MkdirAll(a.o.FS, a.dir, 0o700); err != nil {
		return Current{}, false, diskError("make agent", a.dir, err)
	}
	created := false
	err = a.exclusive(ctx, func() error {
		c, err = a.Current()
		if amber.KindOf(err) != amber.KindNotFound {
			return err // somebody else made it meanwhile
		}
		c, err = a.create(build)
		created = err == nil
		return err
	})
	return c, created, err
}

// create runs under the exclusive lock and only when there is no data. The
// order is the promise: the CREATING note, the data, CURRENT, the note gone.
func (a *Agent) create(build func(dir string, c Current) error) (Current, error) {
	c, err := a.firstGeneration()
	if err != nil {
		return Current{}, err
	}
	note := []byte("this agent is being made; without CURRENT nothing here was ever acknowledged\n")
	if err := fsx.CreateSame(a.o.FS, a.path(creatingName), 0o600, note); err != nil {
		return Current{}, diskError("make agent", a.dir, err)
	}
	if err := fsx.RemoveAll(a.o.FS, a.path(genName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Current{}, diskError("make agent", a.dir, err)
	}
	if err := fsx.MkdirAll(a.o.FS, a.GenDir(c), 0o700); err != nil {
		return Current{}, diskError("make agent", a.dir, err)
	}
	if err := build(a.GenDir(c), c); err != nil {
		return Current{}, err
	}
	if err := a.o.FS.SyncDir(a.GenDir(c)); err != nil {
		return Current{}, diskError("make agent", a.dir, err)
	}
	if err := fsx.CreateNew(a.o.FS, a.path(currentName), 0o600, c.marshal()); err != nil {
		return Current{}, diskError("make agent", a.dir, err)
	}
	// The agent exists now. A note that stays behind means nothing beside
	// CURRENT, so failing to remove it is no failure.
	_ = fsx.RemoveAll(a.o.FS, a.path(creatingName))
	return c, nil
}

func (a *Agent) firstGeneration() (Current, error) {
	now := a.o.Clock()
	incarnation, err := amber.NewUUID(now, a.o.Random)
	if err != nil {
		return Current{}, err
	}
	device, err := amber.NewUUID(now, a.o.Random)
	if err != nil {
		return Current{}, err
	}
	return Current{Generation: 1, Incarnation: incarnation, Device: device, Clock: amber.StampAt(now)}, nil
}

// look tells what a folder without CURRENT is. Locks, the spool and temporary
// files are no data of a generation.
func (a *Agent) look() (folderState, error) {
	if _, err := a.o.FS.Lstat(a.path(creatingName)); err == nil {
		return interrupted, nil
	}
	files, err := a.anyFile(a.path(genName), 3)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return empty, nil
	case err != nil:
		return empty, diskError("open agent", a.dir, err)
	case files:
		return lostCurrent, nil
	}
	return empty, nil
}

// anyFile reports whether a file lies in dir or below it, depth levels deep;
// anything deeper counts as one.
func (a *Agent) anyFile(dir string, depth int) (bool, error) {
	entries, err := a.o.FS.ReadDir(dir)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if !e.IsDir() || depth == 0 {
			return true, nil
		}
		if found, err := a.anyFile(filepath.Join(dir, e.Name()), depth-1); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

// Agents returns the agents of a tenant that have a folder, sorted. A name
// that is no agent id is left out.
func (h *Home) Agents(tenant amber.TenantID) ([]amber.AgentID, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return nil, err
	}
	entries, err := h.o.FS.ReadDir(filepath.Join(h.dir, "tenants", string(tenant), "agents"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diskError("list agents", h.dir, err)
	}
	var agents []amber.AgentID
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() {
			continue
		}
		if id, err := amber.ParseAgentID(e.Name()); err == nil {
			agents = append(agents, id)
		}
	}
	return agents, nil
}
