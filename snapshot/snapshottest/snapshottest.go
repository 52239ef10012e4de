package snapshottest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/promise"
)

// World is a place for agents and their snapshots, with none in it at first.
// Two worlds share nothing.
type World struct {
	// Clock is what everything in the world takes the time from. It is moved
	// forward only.
	Clock *Clock
	// Open opens the world, as another process would; each call opens the
	// same one. What it holds open is the business of whoever made the world.
	Open func(ctx context.Context) (Handle, error)
}

// Handle is an open world.
type Handle struct {
	Snapshots amber.Snapshotter
	// Checker is nil when there is none: what it promises is not asked then.
	Checker amber.RepositoryChecker
	// Agent returns a handle of an agent, whether it exists or not. The names
	// are good ones.
	Agent func(tenant amber.TenantID, agent amber.AgentID) Agent
}

// Agent is how the suite works on one agent. Safe for concurrent use. A
// restore may happen between any two calls: each works on the agent as it is
// by then.
type Agent interface {
	// Make makes the agent, with nothing in it.
	Make(ctx context.Context) error
	// Remember writes a memory. The suite never writes one content twice.
	Remember(ctx context.Context, m Memory) (amber.MemoryID, error)
	// Edit replaces a memory.
	Edit(ctx context.Context, id amber.MemoryID, m Memory) error
	// Forget deletes a memory.
	Forget(ctx context.Context, id amber.MemoryID) error
	// WriteNote writes a note; its name is a good one, without ".md".
	WriteNote(ctx context.Context, name, text string) error
	// DeleteNote deletes a note.
	DeleteNote(ctx context.Context, name string) error
	// PutState puts a JSON document under one of the keys Amber knows; "" clears the key.
	PutState(ctx context.Context, key, doc string) error
	// Model reads everything back. Errors: not_found for an agent that does
	// not exist, which it does not make.
	Model(ctx context.Context) (Model, error)
}

// Check is one promise.
type Check struct {
	Name string // "restore/twice"
	// Run asks a fresh world whether the promise holds: nil says yes. An error
	// with [ErrNotRun] in its chain says that the world lacks a part and was
	// not asked; any other says how the promise is broken.
	Run func(ctx context.Context, w World) error
}

// ErrNotRun is returned by a check that needs something the world does not
// have. It says nothing against the snapshotter.
var ErrNotRun = promise.ErrNotRun

// Checks returns every check.
func Checks() []Check {
	var all []Check
	for _, c := range slices.Concat(
		snapshotChecks(), restoreChecks(), partChecks(), forkChecks(), listChecks(), keepChecks(), pruneChecks(), pruneRuleChecks(),
		verifyChecks(), diffChecks(), requestChecks(), concurrentChecks(), historyChecks(),
	) {
		all = append(all, c.export())
	}
	return all
}

// Run runs every check as a parallel subtest, each in a fresh world.
func Run(t *testing.T, fresh func(t *testing.T) World) {
	t.Helper()
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			switch err := c.Run(t.Context(), fresh(t)); {
			case errors.Is(err, ErrNotRun):
				t.Skip(err)
			case err != nil:
				t.Error(err)
			}
		})
	}
}

// check is a promise as the files of this package write it down.
type check struct {
	name string
	run  func(w *world)
}

func (c check) export() Check {
	return Check{Name: c.name, Run: func(ctx context.Context, place World) error {
		if place.Clock == nil || place.Open == nil {
			return errors.New("the world has no clock or cannot be opened")
		}
		w := &world{ctx: ctx, place: place}
		if err := caught(w.reopen); err != nil {
			return fmt.Errorf("open world: %w", err)
		}
		return caught(func() { c.run(w) })
	}}
}
