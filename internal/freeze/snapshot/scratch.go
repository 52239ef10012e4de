package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire"
)

// A scratch folder holds files that are built to be checked and then removed.
// Its lock is held as long as it is used, so that a sweep can tell a running
// operation from one that died.
const lockSuffix = ".lock"

func (e *Engine) scratchDir() string { return filepath.Join(e.o.Home.CacheDir(), "scratch") }

// scratch makes a folder and returns what removes it.
func (e *Engine) scratch(purpose string) (dir string, done func() error, err error) {
	id, err := amber.NewUUID(e.o.Clock(), e.o.Random)
	if err != nil {
		return "", nil, err
	}
	root := e.scratchDir()
	dir = filepath.Join(root, purpose+"-"+id)
	if err := fsx.MkdirAll(e.o.FS, root, 0o700); err != nil {
		return "", nil, fail("make scratch folder", root, err)
	}
	lock, err := fsx.TryLock(dir+lockSuffix, fsx.Exclusive)
	if err != nil {
		return "", nil, fail("make scratch folder", dir, err)
	}
	if err := e.o.FS.Mkdir(dir, 0o700); err != nil {
		return "", nil, errors.Join(fail("make scratch folder", dir, err), lock.Unlock())
	}
	return dir, func() error {
		err := fsx.RemoveAll(e.o.FS, dir)
		if err == nil {
			err = fsx.RemoveAll(e.o.FS, dir+lockSuffix)
		}
		return errors.Join(fail("remove scratch folder", dir, err), lock.Unlock())
	}, nil
}

// sweep removes what dead operations have left: generations that never became live, and generations
// that were replaced. It never touches the files of a running operation. It returns what it
// removed. A failure of one agent does not prevent the sweep of the others.
func (rep *repository) sweep(ctx context.Context, r wire.GCRequest) ([]string, error) {
	removed := []string{}
	if r.DryRun && !r.OldGenerations {
		return removed, nil // settling is no guess: it says what it did
	}
	agents, err := rep.e.o.Home.Agents(rep.tenant)
	if err != nil {
		return removed, err
	}
	var errs []error
	if !r.DryRun {
		swept, err := rep.e.place.Sweep(ctx, rep.tenant)
		removed, errs = append(removed, swept...), append(errs, err)
	}
	for _, id := range agents {
		if !r.DryRun {
			swept, err := rep.sweepAgent(ctx, id)
			removed = append(removed, swept...)
			if err != nil {
				errs = append(errs, fail("sweep agent", string(id), err))
				continue
			}
		}
		if r.OldGenerations {
			kept, err := rep.e.discard(ctx, rep.tenant, id, r.DryRun)
			removed = append(removed, kept...)
			if err != nil {
				errs = append(errs, fail("discard generations", string(id), err))
			}
		}
	}
	return removed, errors.Join(errs...)
}

// sweepAgent settles an agent and removes the generation that a restore has
// replaced.
func (rep *repository) sweepAgent(ctx context.Context, id amber.AgentID) (removed []string, err error) {
	agent, err := rep.e.place.Folder(rep.tenant, id)
	if err != nil {
		return nil, err
	}
	unmade, err := agent.RemoveUnmade(ctx)
	if err != nil && amber.KindOf(err) != amber.KindBusy {
		return nil, err
	}
	if unmade {
		removed = append(removed, fmt.Sprintf("agent %s, never made", id))
	}
	report, err := agent.Settle(ctx)
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return removed, err
	}
	if report.Undone {
		removed = append(removed, fmt.Sprintf("generation %d of agent %s, never live", report.Generation, id))
	}
	n, err := rep.sweepReplaced(ctx, agent)
	if n > 0 {
		report.Removed = append(report.Removed, n)
	}
	for _, n := range report.Removed {
		removed = append(removed, fmt.Sprintf("generation %d of agent %s", n, id))
	}
	return removed, err
}

// discard removes every generation of an agent that is not live any more, also
// those that no snapshot holds.
func (e *Engine) discard(ctx context.Context, tenant amber.TenantID, id amber.AgentID, dryRun bool) (removed []string, err error) {
	agent, err := e.place.Folder(tenant, id)
	if err != nil {
		return nil, err
	}
	err = e.operate(ctx, agent, func(ctx context.Context, o operation) error {
		old, err := e.place.Old(ctx, agent)
		for _, n := range old {
			if err == nil && !dryRun {
				err = o.remove(ctx, agent, n)
			}
			if err != nil {
				return err
			}
			removed = append(removed, fmt.Sprintf("generation %d of agent %s, which no snapshot holds", n, id))
		}
		return err
	})
	if amber.KindOf(err) == amber.KindNotFound {
		err = nil
	}
	return removed, err
}

func (e *Engine) sweepScratch(dryRun bool) ([]string, error) {
	removed := []string{}
	entries, err := e.o.FS.ReadDir(e.scratchDir())
	if errors.Is(err, fs.ErrNotExist) {
		return removed, nil
	}
	if err != nil {
		return removed, fail("sweep scratch folders", e.scratchDir(), err)
	}
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), lockSuffix)
		path := filepath.Join(e.scratchDir(), name)
		lock, err := fsx.TryLock(path+lockSuffix, fsx.Exclusive)
		if err != nil {
			continue // in use
		}
		if !dryRun {
			err = errors.Join(fsx.RemoveAll(e.o.FS, path), fsx.RemoveAll(e.o.FS, path+lockSuffix))
		}
		if err := errors.Join(err, lock.Unlock()); err != nil {
			return removed, fail("sweep scratch folders", path, err)
		}
		if entry.IsDir() {
			removed = append(removed, path)
		}
	}
	return removed, nil
}
