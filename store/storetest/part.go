package storetest

import "github.com/amber-memory/amber"

// part names something a check needs of a store.
type part string

// The parts: those of [amber.Capabilities], what a backend says about itself,
// and two that capabilities do not tell.
const (
	longTerm    part = "long-term memory"
	everything  part = "questions to everything"
	memories    part = "memory reader"
	batches     part = "batch writer"
	edits       part = "editor"
	erasure     part = "eraser"
	relations   part = "relations"
	concepts    part = "concepts"
	compactions part = "compactions"
	stats       part = "stats"
	changes     part = "change log"
	turns       part = "turns"
	loops       part = "loops"
	sessions    part = "sessions"
	states      part = "session states"
	ingest      part = "ingester"
	notes       part = "notes"
	control     part = "control plane"
	controlLog  part = "control change log"
	documents   part = "documents"
	durable     part = "durability"
	shared      part = "sharing"
	logsAll     part = "log of notes and documents"
)

// parts tells which parts the open store has.
func (w *world) parts() map[part]bool {
	c := w.Capabilities()
	_, recallErr := w.LongTerm.Recall(w.ctx, amber.Query{})
	_, askErr := w.Everything.Ask(w.ctx, amber.Query{}, amber.LeaveOfOwner())
	_, headErr := w.ControlChanges.Head(w.ctx)
	return map[part]bool{
		longTerm:   amber.KindOf(recallErr) != amber.KindUnsupported,
		everything: amber.KindOf(askErr) != amber.KindUnsupported,
		memories:   c.Memories, batches: c.Batch, edits: c.Edit, erasure: c.Erase,
		relations: c.Relations, concepts: c.Concepts,
		compactions: c.Compactions, stats: c.Stats, changes: c.Changes,
		turns: c.Turns, loops: c.Loops, sessions: c.Sessions, states: c.States, ingest: c.Ingest,
		notes: c.Notes, control: c.Control, documents: c.Documents,
		controlLog: amber.KindOf(headErr) != amber.KindUnsupported,
		durable:    w.backend.Durable, shared: w.backend.Shared, logsAll: w.backend.LogsAll,
	}
}
