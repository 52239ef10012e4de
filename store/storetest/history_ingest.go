package storetest

import (
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

func ingestOperations() []operation {
	return []operation{
		{name: "ingest", weight: 8, needs: []part{ingest, sessions, turns, longTerm, memories, compactions, changes}, run: (*history).ingest},
		{name: "open journals", weight: 2, needs: []part{ingest}, run: (*history).openJournals},
		{name: "list activity", weight: 2, needs: []part{ingest}, run: (*history).listActivity},
	}
}

// journals names the journals of all sessions.
func (h *history) journals() (names []string) {
	for _, id := range h.sessions {
		names = append(names, journalOf(id))
	}
	return names
}

// ingest drains a few steps, most often from where the cursor is.
func (h *history) ingest() {
	id := h.someSession()
	stored := must(h.model.Ingest.JournalCursor(h.model.ctx, journalOf(id)))
	in := ingestion(id, stored.Seq+oneOf[int64](h, 0, 0, 0, 0, 0, 0, -1, 1), stored.Seq+int64(h.rng.IntN(3)))
	for range h.rng.IntN(4) {
		in.Steps = append(in.Steps, h.ingestStep(id))
	}
	if h.chance(0.5) {
		in.LastAt = h.now()
	}
	if h.chance(0.3) {
		in.Process = amber.HostProcess{PID: 1 + h.rng.IntN(3), Boot: oneOf(h, "", "b")}
	}
	in.Past = h.chance(0.2)
	h.note("%s", text(tree(in)))
	got, ok := ask(h, func(w *world) (amber.IngestResult, error) { return w.Ingest.Ingest(w.ctx, in) })
	if ok {
		same(h, got, "answer to an ingestion")
		h.bindLogged()
		h.passStamps()
	}
	compare(h, "cursor", func(w *world) (amber.JournalCursor, error) { return w.Ingest.JournalCursor(w.ctx, in.Journal) })
	compare(h, "session", func(w *world) (amber.Session, error) { return w.Sessions.Session(w.ctx, id) })
	compare(h, "activity", func(w *world) ([]amber.Activity, error) { return w.Activities.ListActivity(w.ctx, id, "") })
}

// ingestStep returns a step, most often a valid one.
func (h *history) ingestStep(id amber.SessionID) amber.IngestStep {
	s := amber.IngestStep{
		Event: h.event(), Reopen: h.chance(0.3),
		Start: amber.SessionStart{ID: id, Binding: oneOf(h, bindings()...), Project: oneOf(h, "", "p1"), Directory: oneOf(h, "", "/src")},
	}
	if h.chance(0.8) {
		s.At = h.now().Add(-time.Duration(h.rng.IntN(100)) * grid)
	}
	if h.chance(0.4) {
		t := amber.Turn{ID: amber.TurnID(fmt.Sprint(id, " turn-", h.rng.IntN(8))), SessionID: id, Role: amber.RoleUser, Content: oneOf(h, "hello", "\x1b[1m"), CreatedAt: s.At}
		if h.chance(0.1) {
			t.ID = amber.TurnID(fmt.Sprint("turn-", h.rng.IntN(12))) // perhaps of another session
		}
		s.Turns = append(s.Turns, t)
	}
	for range h.rng.IntN(3) {
		s.Activity = append(s.Activity, h.activity(id))
	}
	if h.chance(0.25) {
		r := h.request()
		s.Memories = append(s.Memories, r)
		if r.IdempotencyKey != "" {
			h.keyed = append(h.keyed, r)
		}
	}
	if h.chance(0.15) {
		s.Compaction = &amber.Compaction{ID: fmt.Sprint(id, " compaction-", h.rng.IntN(4)), SessionID: id, Summary: "so far", Turns: h.rng.IntN(3)}
	}
	if h.chance(0.15) {
		s.End = &amber.SessionEnd{ID: id, Reason: oneOf(h, "", amber.EndCrash), Summary: oneOf(h, "", "done")}
	}
	return s
}

// event returns one of few events, so that some come again.
func (h *history) event() amber.EventRef {
	if h.chance(0.2) {
		return amber.EventRef{}
	}
	e := native(fmt.Sprint("history ", h.rng.IntN(8)))
	if h.chance(0.6) {
		e = amber.EventRef{ID: e.ID}
	}
	if h.chance(0.9) {
		e.At = h.now().Add(time.Duration(h.rng.IntN(9)-4) * time.Second)
	}
	return e
}

func (h *history) activity(id amber.SessionID) amber.Activity {
	a := amber.Activity{
		SessionID: id, Kind: oneOf(h, amber.ActivityTool, amber.ActivityFile), Name: oneOf(h, "a", "A", "b c"),
		Detail: oneOf(h, "", "d1", "d2"), Status: oneOf(h, "", "modified"), Count: int64(h.rng.IntN(3)), Failed: int64(h.rng.IntN(2)),
	}
	if h.chance(0.3) {
		a.FirstAt, a.LastAt = h.now().Add(-grid), h.now()
	}
	return a
}

// bindLogged binds the ids of memories that the change logs say are new since
// they were last compared: an ingestion does not answer with them.
func (h *history) bindLogged() {
	gained := pair[[]amber.Change]{}
	for _, w := range []*world{h.model, h.subject} {
		gained[w] = entries(w.ctx, w.Changes, h.logs[w].memory)
	}
	isNew := func(c amber.Change) bool { return c.Op == amber.OpInsert && c.Scope == amber.ChangeMemory }
	for i := range min(len(gained[h.model]), len(gained[h.subject])) {
		m, s := gained[h.model][i], gained[h.subject][i]
		if isNew(m) && isNew(s) {
			h.bind(m.Key, s.Key)
			h.know(pair[amber.MemoryID]{h.model: amber.MemoryID(m.Key), h.subject: amber.MemoryID(s.Key)})
		}
	}
}

func (h *history) openJournals() {
	compare(h, "open journals", func(w *world) ([]amber.JournalCursor, error) { return w.Ingest.OpenJournals(w.ctx) })
}

func (h *history) listActivity() {
	id, kind := h.someSession(), oneOf(h, "", amber.ActivityTool, amber.ActivityFile, amber.ActivityGap, "nap")
	h.note("%s %s", id, kind)
	compare(h, "activity", func(w *world) ([]amber.Activity, error) { return w.Activities.ListActivity(w.ctx, id, kind) })
	name := oneOf(h, "a", "A", "b c", "d")
	compare(h, "activity of one name", func(w *world) ([]amber.Activity, error) { return w.Activities.ActivityNamed(w.ctx, kind, name) })
}
