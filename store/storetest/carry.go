package storetest

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// Populate fills every part that a store has with something of each kind. The clock is the one
// that the store sees.
func Populate(ctx context.Context, s amber.Store, clock *Clock) error {
	w := &world{Store: s, ctx: ctx, clock: clock}
	return caught(w.populate)
}

// Dump reads everything a store holds through its contracts, as far as [Populate] and a [History] with the
// default options have put it there. It is for stores that are copies of each other: ids, stamps and
// positions are part of it.
func Dump(ctx context.Context, s amber.Store) (dumped map[string]any, err error) {
	n := populated()
	for i := range 3 {
		n.sessions = append(n.sessions, amber.SessionID(fmt.Sprint("session-", i)))
		n.tasks = append(n.tasks, fmt.Sprint("task-", i))
		n.journals = append(n.journals, journalOf(n.sessions[len(n.sessions)-1]))
	}
	w := &world{Store: s, ctx: ctx}
	err = caught(func() { dumped = dump(ctx, s, w.parts(), n) })
	return dumped, err
}

// Differences says how two dumps differ, "" when they do not.
func Differences(got, want map[string]any) string { return diff(tree(got), tree(want)) }
