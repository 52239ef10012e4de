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

// creatingNote is for whoever looks into the folder; only the name counts.
const creatingNote = "this agent is being made; without CURRENT nothing here was ever acknowledged\n"

// Create makes the agent if there is none: under the exclusive lock it builds
// generation 1 with build, which puts the databases into an empty folder, and
// then writes CURRENT. A creation that was interrupted is begun again from
// nothing. It returns the live generation and whether it was made now; either
// is durable then. After an error Create may be repeated: it makes the agent
// or finds the one that was made after all. Errors: those of build and
// Current; busy.
func (a *Agent) Create(ctx context.Context, build func(dir string, c Current) error) (Current, bool, error) {
	c, err := a.settled()
	if amber.KindOf(err) != amber.KindNotFound {
		return c, false, err
	}
	if err := fsx.MkdirAll(a.o.FS, a.dir, 0o700); err != nil {
		return Current{}, false, diskError("make agent", a.dir, err)
	}
	created := false
	err = a.exclusive(ctx, func() error {
		c, err = a.settled()
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
	if err := a.prepare(c); err != nil {
		return Current{}, diskError("make agent", a.dir, err)
	}
	if err := build(a.GenDir(c), c); err != nil {
		return Current{}, err
	}
	if err := a.publish(c); err != nil {
		return Current{}, diskError("make agent", a.dir, err)
	}
	return c, nil
}

// prepare leaves the note, and an empty folder for the generation.
func (a *Agent) prepare(c Current) error {
	if _, err := fsx.SweepTemp(a.o.FS, a.dir); err != nil {
		return err
	}
	if err := fsx.Replace(a.o.FS, a.path(creatingName), 0o600, []byte(creatingNote)); err != nil {
		return err
	}
	if err := fsx.RemoveAll(a.o.FS, a.path(genName)); err != nil {
		return err
	}
	return fsx.MkdirAll(a.o.FS, a.GenDir(c), 0o700)
}

// publish makes the generation live.
func (a *Agent) publish(c Current) error {
	if err := a.o.FS.SyncDir(a.GenDir(c)); err != nil {
		return err
	}
	if err := fsx.CreateNew(a.o.FS, a.path(currentName), 0o600, c.marshal()); err != nil {
		return err
	}
	// The agent exists now, durably. Failing to remove the note is no failure:
	// whoever writes first does it.
	_ = fsx.RemoveAll(a.o.FS, a.path(creatingName))
	return nil
}

// settled is Current for whoever is about to write. A note beside CURRENT says
// that the creation was cut off before the name CURRENT was known to be
// durable. A power cut could still take that name away and leave the note,
// and with it the order to begin again from nothing. So the name is made
// durable and the note removed before anything is acknowledged. This needs no
// lock: nobody removes CURRENT.
func (a *Agent) settled() (Current, error) {
	c, err := a.Current()
	if err != nil {
		return Current{}, err
	}
	_, err = a.o.FS.Lstat(a.path(creatingName))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = a.o.FS.SyncDir(a.dir)
	}
	if err == nil {
		err = fsx.RemoveAll(a.o.FS, a.path(creatingName))
	}
	if err != nil {
		return Current{}, diskError("finish making agent", a.dir, err)
	}
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
	c := Current{Generation: 1, Incarnation: incarnation, Device: device, Clock: amber.StampAt(now)}
	// A stamp holds the years 1970 to 9999.
	if _, err := parseCurrent(c.marshal()); err != nil || c.Clock.Time().UnixMilli() != now.UnixMilli() {
		e := amber.Errorf(amber.KindInvalid, "make agent", string(a.agent), "the clock says "+now.UTC().String()+", which no record can hold")
		e.Hint = "set the clock of this machine"
		return Current{}, e
	}
	return c, nil
}

// lostCurrent reports whether a folder without CURRENT holds data that may
// have been acknowledged: damage, never a fresh start. Locks, the spool and
// temporary files are no data of a generation. It looks in the opposite order
// of a creation, the files and then the note, so that one under way is not
// taken for damage.
func (a *Agent) lostCurrent() (bool, error) {
	files, err := a.anyFile(a.path(genName), 3)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !files {
		return false, err
	}
	_, err = a.o.FS.Lstat(a.path(creatingName))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return false, err
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
