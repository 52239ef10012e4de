package home

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Become makes the folder a copy of a generation whose data lies elsewhere, in a database for
// example. The copy may be lost at any time. Fill puts the data into the folder of the generation;
// same reports that the folder holds what an earlier call has put there for the same generation,
// otherwise it is empty. Then CURRENT names the generation, and nothing of other generations is
// left. The caller is inside [Agent.Operate], for which the folder has to be there; see
// [Agent.MakeFolder]. If a call is cut off, the next call begins anew. Errors: those of fill;
// invalid; busy; those of the disk.
func (a *Agent) Become(ctx context.Context, c Current, fill func(dir string, same bool) error) error {
	if !c.valid() {
		return amber.Errorf(amber.KindInvalid, "follow generation", string(a.agent), "the generation %d is not one that CURRENT can name", c.Generation)
	}
	return a.exclusive(ctx, func() error {
		now, err := a.readCurrent()
		same := err == nil && now == c
		if same {
			_, err = a.settleRestore() // one that was cut off on its way
			same = err == nil
		}
		if !same {
			if err := a.forget(); err != nil {
				return diskerr.Own("follow generation", a.dir, err)
			}
		}
		if err := fsx.MkdirAll(a.o.FS, a.GenDir(c), 0o700); err != nil {
			return diskerr.Own("follow generation", a.dir, err)
		}
		if err := fill(a.GenDir(c), same); err != nil || same {
			return err
		}
		if err := fsx.Replace(a.o.FS, a.path(currentName), 0o600, c.marshal()); err != nil {
			return diskerr.Own("follow generation", a.dir, err)
		}
		return nil
	})
}

// MakeFolder makes the folder of the agent, with nothing in it, if it is missing.
func (a *Agent) MakeFolder() error {
	if err := fsx.MkdirAll(a.o.FS, a.dir, 0o700); err != nil {
		return diskerr.Own("make folder", a.dir, err)
	}
	return nil
}

// Forget removes everything that [Agent.Become] has made. The caller is inside [Agent.Operate]. Errors: busy; those of the disk.
func (a *Agent) Forget(ctx context.Context) error {
	return a.exclusive(ctx, func() error {
		if err := a.forget(); err != nil {
			return diskerr.Own("forget copy", a.dir, err)
		}
		return nil
	})
}

// forget removes every generation, and CURRENT first. The caller is exclusive.
func (a *Agent) forget() error {
	for _, name := range []string{currentName, restoringName, creatingName, deletingName, genName} {
		if err := fsx.RemoveAll(a.o.FS, a.path(name)); err != nil {
			return err
		}
	}
	a.known.Store(nil)
	return nil
}
