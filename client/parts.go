package client

import (
	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// parts are the contracts that the server's backend can do; the others stay
// nil. Where memory is switched off the server is still asked: it finds
// nothing, and says why it refuses.
func (a *Agent) parts(can amber.Capabilities) amber.Parts {
	if switchedOff := (amber.Capabilities{Control: can.Control, Documents: can.Documents}); can == switchedOff {
		control, documents := can.Control, can.Documents
		can = every()
		can.Control, can.Documents = control, documents
	}
	l, b, s, st, t, n, c, q := longTerm{a}, beside{a}, sessions{a}, states{a}, turns{a}, notes{a}, control{a}, queue{a}
	p := amber.Parts{
		LongTerm: l, Semantic: can.Semantic, Memories: l, Batch: l, Editor: l, Eraser: l, Relations: b, Concepts: b, Stats: stats{a},
		Sessions: s, Names: s, Active: s, States: st, Loops: st, Turns: t, Compactions: t, Activities: t, Ingest: ingester{a},
		Notes: n, NoteLog: n, Documents: documents{a}, Tasks: c, Events: c, Approvals: c, Results: c, Queue: q, QueueKeeper: q,
		Changes: changeLog{a, op.ChangeList, op.ChangeHead}, ControlChanges: changeLog{a, op.ControlChangeList, op.ControlChangeHead},
	}
	keep(can.Memories, &p.Memories)
	keep(can.Batch, &p.Batch)
	keep(can.Edit, &p.Editor)
	keep(can.Erase, &p.Eraser)
	keep(can.Relations, &p.Relations)
	keep(can.Concepts, &p.Concepts)
	keep(can.Stats, &p.Stats)
	keep(can.Sessions, &p.Sessions)
	keep(can.Sessions, &p.Names)
	keep(can.Sessions, &p.Active)
	keep(can.States, &p.States)
	keep(can.Loops, &p.Loops)
	keep(can.Turns, &p.Turns)
	keep(can.Compactions, &p.Compactions)
	keep(can.Ingest, &p.Ingest)
	keep(can.Ingest, &p.Activities)
	keep(can.Notes, &p.Notes)
	keep(can.Notes, &p.NoteLog)
	keep(can.Documents, &p.Documents)
	keep(can.Changes, &p.Changes)
	keep(can.Control, &p.Tasks)
	keep(can.Control, &p.Events)
	keep(can.Control, &p.Approvals)
	keep(can.Control, &p.Results)
	keep(can.Control, &p.Queue)
	keep(can.Control, &p.QueueKeeper)
	keep(can.Control, &p.ControlChanges)
	return p
}

// keep keeps a contract that the server's backend can do, and takes any other away.
func keep[T any](can bool, part *T) {
	if !can {
		*part = *new(T)
	}
}

// every is what a server can do at most.
func every() amber.Capabilities {
	return amber.Capabilities{
		Memories: true, Batch: true, Edit: true, Erase: true, Relations: true, Concepts: true, Compactions: true,
		Stats: true, Changes: true, Turns: true, Loops: true, Sessions: true, States: true, Notes: true, Ingest: true, Control: true, Documents: true,
	}
}
