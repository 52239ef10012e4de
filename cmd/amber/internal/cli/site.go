package cli

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/wire"
)

// site is where an agent lives: it does what a store alone cannot.
type site interface {
	// Erase removes the text of a memory wherever it can, and names the
	// copies that remain.
	amber.Eraser
	// Settle brings what the journal holds into the store, and names what it
	// could not bring in.
	Settle(ctx context.Context) []string
	// Context makes a block of memory. Errors: invalid for a size out of bounds; those of recall.
	Context(ctx context.Context, r wire.ContextRequest) (wire.ContextBlock, error)
	// BringBack makes a memory say what it said in a snapshot, or reports what that would change. Errors:
	// refused for what was erased.
	BringBack(ctx context.Context, ref wire.SnapshotRef, then amber.Memory, dryRun bool) (wire.MemoryRestore, error)
	// Agents tells which agents of the tenant are there, also those that
	// cannot be opened.
	Agents() (map[amber.AgentID]bool, error)
}

// Site is where the agent of s lives.
func (a *App) Site(s *Opened) site {
	if s.Remote != nil {
		return there{s}
	}
	return here{s.Local}
}

// here is a home of this machine.
type here struct{ *agent.Agent }

var _ site = here{}

func (h here) BringBack(ctx context.Context, ref wire.SnapshotRef, then amber.Memory, dryRun bool) (wire.MemoryRestore, error) {
	return h.Agent.BringBack(ctx, ref.ID, then, dryRun)
}

func (h here) Agents() (map[amber.AgentID]bool, error) {
	ids, err := h.Home().Agents(h.Tenant())
	if err != nil {
		return nil, err
	}
	known := map[amber.AgentID]bool{}
	for _, id := range ids {
		folder, err := h.Home().Agent(h.Tenant(), id)
		if err == nil {
			_, err = folder.Current()
		}
		known[id] = amber.KindOf(err) != amber.KindNotFound
	}
	return known, nil
}

// there is an agent of a server.
type there struct{ *Opened }

var _ site = there{}

func (t there) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	if t.Spool != nil {
		return t.Spool.Erase(ctx, id)
	}
	return t.Store.Eraser.Erase(ctx, id)
}

// Settle brings in what hooks of this machine keep for the server, which brings in what its own
// keep.
func (t there) Settle(ctx context.Context) []string {
	if t.Spool != nil {
		return t.Spool.Settle(ctx)
	}
	return nil
}

func (t there) Context(ctx context.Context, r wire.ContextRequest) (wire.ContextBlock, error) {
	if t.Spool != nil {
		return t.Spool.Context(ctx, r)
	}
	return t.Remote.Agent.Context(ctx, r)
}

func (t there) BringBack(ctx context.Context, ref wire.SnapshotRef, then amber.Memory, dryRun bool) (wire.MemoryRestore, error) {
	return t.Remote.Agent.Snapshots().RestoreMemory(ctx, wire.MemoryRestoreRequest{SnapshotRef: ref, Memory: then.ID, DryRun: dryRun})
}

// Agents takes the agent for one that is there, and whatever is made of it for
// new: a restore to another agent never replaces one.
func (t there) Agents() (map[amber.AgentID]bool, error) {
	return map[amber.AgentID]bool{t.AgentID(): true}, nil
}
