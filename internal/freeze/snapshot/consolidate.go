package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// Insistence says what happens when a snapshot that should come first cannot
// be taken.
type Insistence string

// The degrees.
const (
	Require Insistence = "require" // what follows must not happen
	Try     Insistence = "try"     // what follows happens, and Warn is told
	Off     Insistence = "off"     // nothing is tried
)

var _ wire.Consolidator = (*Engine)(nil)

// BeforeConsolidation freezes an agent before a run rewrites its memory, and
// returns the snapshot, "" when there is none. It is for runs that need no mark,
// because they are one transaction; others are begun with
// [Engine.BeginConsolidation]. An error means that the run must not begin.
// Errors: those of Snapshot, where Options.BeforeConsolidation is [Require].
func (e *Engine) BeforeConsolidation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, run string) (amber.SnapshotID, error) {
	id, warning, err := e.beforeConsolidation(ctx, tenant, agent, run)
	if warning != "" && e.o.Warn != nil {
		e.o.Warn(fmt.Sprintf("agent %s is consolidated without a snapshot: %s", agent, warning))
	}
	return id, err
}

// beforeConsolidation also tells why there is no snapshot that was tried.
func (e *Engine) beforeConsolidation(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, run string) (id amber.SnapshotID, warning string, err error) {
	if e.o.BeforeConsolidation == Off {
		return "", "", nil
	}
	meta, err := e.Snapshot(ctx, wire.SnapshotRequest{Tenant: tenant, Agent: agent, Label: wire.LabelBeforeConsolidation + run})
	if err != nil && e.o.BeforeConsolidation == Try && ctx.Err() == nil {
		return "", err.Error(), nil
	}
	return meta.ID, "", err
}

// ConsolidationMark is the file in the folder of state that says which
// consolidation is open. It belongs to the generation: a restored snapshot that
// was taken meanwhile holds half a consolidation, and one from before holds
// none.
const (
	ConsolidationMark    = "_consolidation.json" // no name of a document, so no program writes it by that door
	maxConsolidationMark = 64 << 10
)

// BeginConsolidation implements [wire.Consolidator]. The snapshot comes before
// the mark, so that restoring it leaves nothing open.
func (e *Engine) BeginConsolidation(ctx context.Context, r wire.ConsolidationBegin) (c wire.Consolidation, err error) {
	if r, err = r.Normalize(); err != nil {
		return c, err
	}
	agent, err := e.o.Home.Agent(r.Tenant, r.Agent)
	if err != nil {
		return c, err
	}
	current, err := agent.Current()
	if err != nil {
		return c, err
	}
	if _, err := e.mayBegin(agent, current, r.Abandon); err != nil {
		return c, err
	}
	c = wire.Consolidation{Run: r.Run, BeganAt: e.now()}
	if c.ID, err = amber.NewUUID(e.o.Clock(), e.o.Random); err != nil {
		return c, err
	}
	run := c.Run
	if run == "" {
		run = c.ID
	}
	if c.Snapshot, c.Warning, err = e.beforeConsolidation(ctx, r.Tenant, r.Agent, run); err != nil {
		return wire.Consolidation{}, err
	}
	err = agent.Write(ctx, "state", func(current home.Current) error {
		// Another process may have begun a consolidation while the snapshot was taken.
		if c.Unfinished, err = e.mayBegin(agent, current, r.Abandon); err != nil {
			return err
		}
		return writeMark(e.o.FS, agent, current, c)
	})
	if err != nil {
		return wire.Consolidation{}, fail("begin consolidation", string(r.Agent), err)
	}
	return c, nil
}

// mayBegin returns the consolidation that is given up, nil for none. The error
// is of kind conflict while another one is open, and says since when.
func (e *Engine) mayBegin(agent *home.Agent, c home.Current, abandon string) (*wire.Consolidation, error) {
	const op = "begin consolidation"
	open, err := readMark(e.o.FS, agent, c)
	switch {
	case amber.KindOf(err) == amber.KindNotFound && abandon != "":
		return nil, amber.Errorf(amber.KindNotFound, op, abandon, "no consolidation is open")
	case amber.KindOf(err) == amber.KindNotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case open.ID != abandon:
		return nil, amber.Errorf(amber.KindConflict, op, open.ID, "a consolidation began at %s and has not ended", open.BeganAt).
			WithHint("amber consolidate begin --abandon " + open.ID + ", if the program that began it is gone")
	}
	open.Outcome, open.EndedAt, open.Unfinished = wire.ConsolidationAbandoned, e.now(), nil
	return &open, nil
}

// EndConsolidation implements [wire.Consolidator].
func (e *Engine) EndConsolidation(ctx context.Context, r wire.ConsolidationEnd) (c wire.Consolidation, err error) {
	if r, err = r.Normalize(); err != nil {
		return c, err
	}
	agent, err := e.o.Home.Agent(r.Tenant, r.Agent)
	if err != nil {
		return c, err
	}
	err = agent.Write(ctx, "state", func(current home.Current) error {
		if c, err = readMark(e.o.FS, agent, current); err != nil {
			return err
		}
		if c.ID != r.ID {
			return amber.Errorf(amber.KindNotFound, "end consolidation", r.ID, "this consolidation is not open; %s is", c.ID)
		}
		path := markPath(agent, current)
		if err := e.o.FS.Remove(path); err != nil {
			return err
		}
		return e.o.FS.SyncDir(filepath.Dir(path))
	})
	if err != nil {
		return wire.Consolidation{}, fail("end consolidation", r.ID, err)
	}
	c.EndedAt, c.Outcome = e.now(), r.Outcome
	return c, nil
}

// OpenConsolidation implements [wire.Consolidator].
func (e *Engine) OpenConsolidation(_ context.Context, tenant amber.TenantID, id amber.AgentID) (wire.Consolidation, error) {
	agent, err := e.o.Home.Agent(tenant, id)
	if err != nil {
		return wire.Consolidation{}, err
	}
	current, err := agent.Current()
	if err != nil {
		return wire.Consolidation{}, err
	}
	return readMark(e.o.FS, agent, current)
}

// ConsolidationOf returns the open consolidation of an agent, for callers without
// an engine. Errors: those of [Engine.OpenConsolidation].
func ConsolidationOf(fsys fsx.FS, agent *home.Agent, current home.Current) (wire.Consolidation, error) {
	return readMark(fsys, agent, current)
}

func markPath(agent *home.Agent, c home.Current) string {
	return filepath.Join(places(agent.GenDir(c)).State, ConsolidationMark)
}

// readMark returns the consolidation that is open. Errors: not_found; damaged.
func readMark(disk fsx.FS, agent *home.Agent, current home.Current) (c wire.Consolidation, err error) {
	const op = "read consolidation"
	path := markPath(agent, current)
	b, err := fsx.ReadFile(disk, path, maxConsolidationMark)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, amber.Errorf(amber.KindNotFound, op, string(agent.ID()), "no consolidation is open")
	case err != nil:
		return c, fail(op, path, err)
	}
	if json.Unmarshal(b, &c) != nil || amber.CheckID("consolidation", c.ID) != nil {
		return wire.Consolidation{}, amber.Errorf(amber.KindDamaged, op, path, "the file is not a consolidation").WithHint("read the file, then remove it")
	}
	return c, nil
}

func writeMark(disk fsx.FS, agent *home.Agent, current home.Current, c wire.Consolidation) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return replaceIn(disk, markPath(agent, current), append(b, '\n'))
}
