package home

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/guard/intake"
)

// creatingNote is for people who look into the folder; only the name counts.
const creatingNote = "this agent is being made; without CURRENT nothing here was ever acknowledged\n"

// Create makes the agent if it does not exist: under the exclusive lock it builds
// generation 1 with build, which puts the databases into an empty folder, and
// then writes CURRENT. A creation that was interrupted is begun again from
// nothing. It returns the live generation and whether it was made now; either
// is durable then. After an error Create may be repeated: it makes the agent
// or finds the one that was made after all. Errors: those of build and
// Current; busy.
func (a *Agent) Create(ctx context.Context, build func(dir string, c Current) error) (Current, bool, error) {
	return a.makeAgent(ctx, a.o.FS.SyncDir, func(dir string, c Current) (amber.Stamp, error) { return c.Clock, build(dir, c) })
}

// Fork is Create for an agent that begins with what another one was: build
// fills the folder of generation 1, need not sync anything in it, and returns
// the latest stamp it holds. The agent gets a device of its own. Errors: those
// of build; conflict when there is such an agent; busy.
func (a *Agent) Fork(ctx context.Context, build func(dir string, c Current) (amber.Stamp, error)) (Current, error) {
	c, created, err := a.makeAgent(ctx, a.o.FS.SyncAll, build)
	if err == nil && !created {
		return Current{}, amber.Errorf(amber.KindConflict, "make agent", string(a.agent), "the agent exists already")
	}
	return c, err
}

// builder fills the folder of a new agent and returns the latest stamp in it.
type builder func(dir string, c Current) (amber.Stamp, error)

// makeAgent is Create; sync makes durable what build leaves to do.
func (a *Agent) makeAgent(ctx context.Context, sync func(dir string) error, build builder) (Current, bool, error) {
	c, _, err := a.durable()
	if amber.KindOf(err) != amber.KindNotFound {
		return c, false, err
	}
	if err := fsx.MkdirAll(a.o.FS, a.dir, 0o700); err != nil {
		return Current{}, false, diskerr.Own("make agent", a.dir, err)
	}
	created := false
	err = a.exclusive(ctx, func() error {
		c, _, err = a.durable()
		if amber.KindOf(err) != amber.KindNotFound {
			return err // another process made it meanwhile
		}
		if err := a.finishDeletion(); err != nil {
			return diskerr.Own("make agent", a.dir, err)
		}
		c, err = a.create(sync, build)
		created = err == nil
		return err
	})
	return c, created, err
}

// create runs under the exclusive lock and only when there is no data. The
// order is the promise: the CREATING note, the data, CURRENT, the note gone.
func (a *Agent) create(sync func(dir string) error, build builder) (Current, error) {
	if err := intake.CheckNames("tenant id", string(a.tenant), "agent id", string(a.ID())); err != nil {
		return Current{}, err
	}
	c, err := a.firstGeneration()
	if err != nil {
		return Current{}, err
	}
	if err := a.prepare(c); err != nil {
		return Current{}, diskerr.Own("make agent", a.dir, err)
	}
	stamp, err := build(a.GenDir(c), c)
	if err != nil {
		// If this fails, the next process that makes the agent, or a sweep, removes the rest.
		_ = fsx.RemoveAll(a.o.FS, a.path(genName))
		return Current{}, err
	}
	if c.Clock = max(c.Clock, stamp); !c.valid() {
		return Current{}, a.beyondTime("make agent", c.Clock)
	}
	if err := a.publish(c, sync); err != nil {
		return Current{}, diskerr.Own("make agent", a.dir, err)
	}
	return c, nil
}

// RemoveUnmade removes what a process left that died while making the agent,
// and reports whether there was anything. Errors: busy while it is being made.
func (a *Agent) RemoveUnmade(ctx context.Context) (removed bool, err error) {
	if _, err := a.o.FS.Lstat(a.path(creatingName)); err != nil {
		return false, nil // no process was making it
	}
	err = a.exclusive(ctx, func() error {
		if _, _, err := a.durable(); amber.KindOf(err) != amber.KindNotFound {
			return nil
		}
		if any, err := a.there(genName); !any && err == nil {
			return nil
		}
		if err := fsx.RemoveAll(a.o.FS, a.path(genName)); err != nil {
			return diskerr.Own("remove what was not made", a.dir, err)
		}
		removed = true
		return nil
	})
	return removed, err
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
func (a *Agent) publish(c Current, sync func(dir string) error) error {
	if err := sync(a.GenDir(c)); err != nil {
		return err
	}
	if err := fsx.CreateNew(a.o.FS, a.path(currentName), 0o600, c.marshal()); err != nil {
		return err
	}
	// The agent exists now, durably. Failing to remove the note is no failure:
	// the first writer does it.
	_ = fsx.RemoveAll(a.o.FS, a.path(creatingName))
	return nil
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
	if !c.valid() || c.Clock.Time().UnixMilli() != now.UnixMilli() {
		return Current{}, amber.Errorf(amber.KindInvalid, "make agent", string(a.agent), "the system clock says %s, which is out of range", now.UTC().String()).
			WithHint("set the clock of this machine")
	}
	return c, nil
}

// beyondTime is the error about a clock that CURRENT cannot hold.
func (a *Agent) beyondTime(op string, clock amber.Stamp) error {
	return amber.Errorf(amber.KindInvalid, op, string(a.agent), "the clock %d is beyond all times a record can hold", uint64(clock))
}

// lostCurrent reports whether a folder without CURRENT holds data that may
// have been acknowledged: damage, never a fresh start. Locks, the spool and
// temporary files are no data of a generation. It looks in the opposite order
// of a creation, the files and then the note, so that one under way is not
// taken for damage; and for the note of a deletion before both, since that goes
// last.
func (a *Agent) lostCurrent() (bool, error) {
	if begun, err := a.deleting(); begun || err != nil {
		return false, err
	}
	files, err := a.anyFile(a.path(genName), 3)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !files {
		return false, err
	}
	creating, err := a.there(creatingName)
	return !creating && err == nil, err
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

// Tenants returns the tenants that have a folder, sorted. A name that is no
// tenant id is left out.
func (h *Home) Tenants() ([]amber.TenantID, error) {
	return ids(h, amber.ParseTenantID, tenantsName)
}

// Agents returns the agents of a tenant that have a folder, sorted. A name
// that is no agent id is left out.
func (h *Home) Agents(tenant amber.TenantID) ([]amber.AgentID, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return nil, err
	}
	return ids(h, amber.ParseAgentID, tenantsName, string(tenant), "agents")
}

// ids returns the folders of a folder of the home whose names are ids.
func ids[T ~string](h *Home, parse func(string) (T, error), path ...string) ([]T, error) {
	entries, err := h.o.FS.ReadDir(filepath.Join(append([]string{h.dir}, path...)...))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diskerr.Own("list "+path[len(path)-1], h.dir, err)
	}
	var list []T
	for _, e := range entries {
		if id, err := parse(e.Name()); err == nil && e.IsDir() {
			list = append(list, id)
		}
	}
	return list, nil
}
