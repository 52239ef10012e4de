// Package amber is durable memory for AI agents: the nouns and the contracts.
//
// It has no code that touches a disk. Package agent opens an agent of this
// machine with everything it has:
//
//	a, err := agent.Open(ctx, agent.Options{Home: dir, Clock: time.Now, Random: rand.Reader})
//	defer a.Close()
//	store := a.Store()
//
// [Store] is every contract in one value. Tests use package store/inmem.
//
// # The life of one memory
//
// A memory begins as a [WriteRequest]:
//
//	ack, err := store.LongTerm.Write(ctx, amber.WriteRequest{
//		Kind:       amber.ProjectFact,
//		Scope:      amber.ScopeProject,
//		Identities: amber.Identities{ProjectID: "acme/shop"},
//		Title:      "Database",
//		Content:    "We chose PostgreSQL for JSONB.",
//		Topic:      "database",
//	})
//
// When Write returns without an error the memory is on disk, and so is its
// entry in the change log. Written again, the same text is the same memory:
// ack.Deduplicated says so. Another text on the same topic is a new revision
// of it; the old one stays in its history.
//
// Its [Scope] says who sees it. Every scope but global has an identity, and a memory is visible only where that
// identity is present on both sides and equal. An identity that is missing matches nothing.
//
// It comes back as a [Hit]:
//
//	result, err := store.LongTerm.Recall(ctx, amber.Query{
//		Text:   "which database did we pick and why",
//		Filter: amber.Filter{Identities: amber.Identities{ProjectID: "acme/shop"}},
//	})
//
// It changes by an [EditRequest], which may say which revision it saw, and is hidden by
// Delete, which leaves a tombstone. [Eraser] removes its text for good. [ChangeLog]
// lists every one of these steps in the order they were committed.
//
// # The other layers
//
// [Turns] are what was said, [Sessions] group them, [SessionStates] and
// [Loops] keep what an agent was doing, [Notes] are documents under git. A
// [Policy] decides what is recalled and kept without being asked. Package agent
// puts the layers of one agent together.
//
// The control plane keeps what agents are to do: [Tasks] with a checked table
// of states, [TaskEvents] that replay, [Approvals] that freeze what they ask
// about, [Results] that are fenced, and a [Queue] that leases work.
//
// # Going back
//
// A snapshot freezes an agent at one instant; a restore brings it back in one step
// or not at all. Package wire has the contracts, package snapshot the engine.
//
// # Errors
//
// Every error of a contract is, or wraps, an [Error] with a [Kind]. The kind
// tells the caller what to do, and one table maps it to exit codes and HTTP
// statuses. Absent, unreachable, refused and damaged are four different answers.
//
// Clocks and random sources are given by the caller, so that tests decide them.
//
// # Stability
//
// The contracts stay unstable until the in-memory, SQLite, PostgreSQL and
// OpenViking backends all pass package storetest.
package amber
