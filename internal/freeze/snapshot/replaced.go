package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// A generation that was restored says in its folder which one it has taken the
// place of, and in which snapshot the last state of that one is:
//
//	amber-replaced 1
//	generation 3
//	snapshot 0193c5a8-…
//	crc32c 1a2b3c4d
//
// The file becomes live with the generation, in the same step. When a restore
// died before it removed the old generation, the file tells a later one whether
// it may be removed. An old generation that no file names stays.
const (
	replacedName = "REPLACED"
	replacedForm = "amber-replaced 1\ngeneration %d\nsnapshot %s\n"
	maxReplaced  = 4096
)

// replaced is a generation that is not live any more.
type replaced struct {
	generation int64
	safety     amber.SnapshotID // holds its last state
}

func (r replaced) marshal() []byte { return withChecksum(replacedForm, r.generation, r.safety) }

// parseReplaced reads what marshal writes, and nothing else.
func parseReplaced(b []byte) (r replaced, ok bool) {
	_, err := fmt.Sscanf(string(b), replacedForm, &r.generation, &r.safety)
	return r, err == nil && r.generation > 0 && bytes.Equal(b, r.marshal())
}

// vouch writes into a generation that is being built which one it replaces.
func vouch(disk fsx.FS, dir string, r replaced) error {
	path := filepath.Join(dir, replacedName)
	return fail("note replaced generation", path, fsx.BuildOf(disk, path, 0o600, r.marshal()))
}

// complete reports whether nothing that has content was left out, and nothing
// was damaged already. Links and devices have no content.
func (c *capture) complete() bool {
	for _, d := range c.inner.Databases {
		if d.Damage != "" {
			return false // what is left of it may be worth more than its pages
		}
	}
	for _, s := range c.inner.Skipped {
		if s.Reason != wire.SkipNotRegular {
			return false
		}
	}
	return c.inner.SkippedMore == 0
}

// removeReplaced removes the generation that the live one has replaced, if it is
// still there and the snapshot that holds its last state is whole. It returns
// the number, 0 when there was nothing to remove. The caller is inside Operate.
func (rep *repository) removeReplaced(ctx context.Context, o operation, agent *home.Agent) (int64, error) {
	c, err := agent.Current()
	if err != nil {
		return 0, err
	}
	b, err := fsx.ReadFile(rep.e.o.FS, filepath.Join(agent.GenDir(c), replacedName), maxReplaced)
	if err != nil {
		return 0, nil // no note vouches for a snapshot
	}
	r, ok := parseReplaced(b)
	if !ok || r.generation >= c.Generation || !there(rep.e.o.FS, agent, r.generation) {
		return 0, nil
	}
	ref := wire.SnapshotRef{Tenant: agent.Tenant(), Agent: agent.ID(), ID: r.safety}
	if err := rep.readAll(ctx, ref); err != nil {
		return 0, nil // it stays
	}
	if err := o.remove(ctx, agent, r.generation); err != nil {
		return 0, err
	}
	return r.generation, nil
}

// readAll reads every byte of a snapshot and compares it with its id.
func (rep *repository) readAll(ctx context.Context, ref wire.SnapshotRef) error {
	_, inner, err := rep.find(ctx, ref)
	if err != nil {
		return err
	}
	var ids []repo.ID
	err = rep.NeededBy(ctx, inner, func(id repo.ID, _ repo.Kind) error {
		ids = append(ids, id)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(ids, repo.ID.Compare)
	return rep.Read(ctx, slices.Compact(ids), func(repo.Blob) error { return nil })
}

// there reports whether a generation has a folder.
func there(disk fsx.FS, agent *home.Agent, n int64) bool {
	_, err := disk.Lstat(agent.GenDir(home.Current{Generation: n}))
	return err == nil
}

// sweepWait is how long garbage collection waits for an operation on an agent
// before it leaves that agent alone. It holds the repository meanwhile, which
// the operation may want.
const sweepWait = 20 * time.Millisecond

// sweepReplaced does so for an agent that no operation runs on.
func (rep *repository) sweepReplaced(ctx context.Context, agent *home.Agent) (n int64, err error) {
	if all, err := agent.Generations(); err != nil || len(all) < 2 {
		return 0, err
	}
	began := false
	wait, cancel := context.WithTimeout(ctx, sweepWait)
	defer cancel()
	err = rep.e.operate(wait, agent, func(_ context.Context, o operation) (err error) {
		began = true
		n, err = rep.removeReplaced(ctx, o, agent)
		return err
	})
	if !began && ctx.Err() == nil {
		return 0, nil // in use
	}
	return n, err
}
