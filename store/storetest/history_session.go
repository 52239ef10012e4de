package storetest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

func sessionOperations() []operation {
	return []operation{
		{name: "start session", weight: 5, needs: []part{sessions}, run: (*history).startSession},
		{name: "end session", weight: 2, needs: []part{sessions}, run: (*history).endSession},
		{name: "rename session", weight: 2, needs: []part{sessions}, run: (*history).renameSession},
		{name: "select session", weight: 2, needs: []part{sessions}, run: (*history).selectSession},
		{name: "delete session", weight: 2, needs: []part{sessions, turns, states, loops, compactions}, run: (*history).deleteSession},
		{name: "list sessions", weight: 2, needs: []part{sessions}, run: (*history).listSessions},
		{name: "active session", weight: 2, needs: []part{sessions}, run: (*history).activeSession},
		{name: "save state", weight: 4, needs: []part{states}, run: (*history).saveState},
		{name: "delete state", weight: 1, needs: []part{states}, run: (*history).deleteState},
		{name: "save loop", weight: 4, needs: []part{loops}, run: (*history).saveLoop},
		{name: "clear loop", weight: 2, needs: []part{loops}, run: (*history).clearLoop},
	}
}

func bindings() []string { return []string{amber.DefaultBinding, "chat"} }

func (h *history) someSession() amber.SessionID { return oneOf(h, h.sessions...) }

func (h *history) startSession() {
	s := amber.SessionStart{
		ID: h.someSession(), Name: oneOf(h, "", "Night shift", " two\nlines"), Binding: oneOf(h, bindings()...),
		Project: oneOf(h, "", "p1"), Directory: oneOf(h, "", "/src"), Parent: oneOf(h, "", h.sessions[0]),
	}
	h.note("%s", text(tree(s)))
	compare(h, "session", func(w *world) (amber.Session, error) { return w.Sessions.StartSession(w.ctx, s) })
}

func (h *history) endSession() {
	e := amber.SessionEnd{ID: h.someSession(), Reason: oneOf(h, "", amber.EndCrash), Summary: oneOf(h, "", "done")}
	h.note("%s", text(tree(e)))
	compare(h, "ended session", func(w *world) (amber.Session, error) { return w.Names.EndSession(w.ctx, e) })
}

func (h *history) renameSession() {
	id, name := h.someSession(), oneOf(h, "one", " two ", "")
	h.note("%s %q", id, name)
	compare(h, "renamed session", func(w *world) (amber.Session, error) { return w.Names.RenameSession(w.ctx, id, name) })
}

func (h *history) selectSession() {
	id := h.someSession()
	h.note("%s", id)
	compare(h, "selected session", func(w *world) (amber.Session, error) { return w.Active.SelectSession(w.ctx, id) })
}

func (h *history) deleteSession() {
	id := h.someSession()
	h.note("%s", id)
	do(h, func(w *world) error { return w.Sessions.DeleteSession(w.ctx, id) })
	compare(h, "turns of a deleted session", func(w *world) ([]amber.Turn, error) { return amber.LastTurns(w.ctx, w.Turns, id, 1000) })
}

func (h *history) listSessions() {
	q := amber.SessionQuery{Binding: oneOf(h, append(bindings(), "")...), Limit: oneOf(h, 0, 1, 2)}
	h.note("%s", text(tree(q)))
	compare(h, "sessions", func(w *world) (map[string]amber.Session, error) {
		all := pages(func(c amber.Cursor) (amber.Page[amber.Session], error) {
			q := q
			q.Cursor = c
			return w.Sessions.ListSessions(w.ctx, q)
		})
		hold(slices.IsSortedFunc(all, func(a, b amber.Session) int { return int(b.UpdatedAt.UnixMilli() - a.UpdatedAt.UnixMilli()) }),
			"the sessions of %s are not last updated first", w.backend.Name)
		return byID(all, func(s amber.Session) string { return string(s.ID) }), nil
	})
}

func (h *history) activeSession() {
	b := oneOf(h, bindings()...)
	compare(h, "active session", func(w *world) (amber.Session, error) { return w.Active.ActiveSession(w.ctx, b) })
}

func (h *history) document() json.RawMessage {
	if h.chance(0.08) {
		return json.RawMessage(`{`)
	}
	return json.RawMessage(oneOf(h, `{"step": 1}`, `{"step":1}`, `[]`))
}

func (h *history) saveState() {
	id, doc := h.someSession(), h.document()
	stored, _ := h.model.States.LoadState(h.model.ctx, id)
	version := stored.Version + oneOf[int64](h, 0, 0, 0, -1, 1)
	h.note("%s %s over %d", id, doc, version)
	compare(h, "saved state", func(w *world) (amber.SessionState, error) { return w.States.SaveState(w.ctx, id, doc, version) })
	compare(h, "state", func(w *world) (amber.SessionState, error) { return w.States.LoadState(w.ctx, id) })
}

func (h *history) deleteState() {
	id := h.someSession()
	h.note("%s", id)
	do(h, func(w *world) error { return w.States.DeleteState(w.ctx, id) })
}

func (h *history) saveLoop() {
	id := h.someSession()
	stored, _ := h.model.Loops.LoadLoop(h.model.ctx, id)
	l := amber.LoopSave{
		SessionID: id, RunID: oneOf(h, "run-1", "run-2"), State: h.document(),
		IfRunID: oneOf(h, "", stored.RunID, "run-1", "run-2"), IfRevision: stored.Revision + oneOf[int64](h, 0, 0, 0, 0, -1, 1),
	}
	h.note("%s of %s over %s %d", l.RunID, id, l.IfRunID, l.IfRevision)
	compare(h, "saved loop", func(w *world) (amber.PendingLoop, error) { return w.Loops.SaveLoop(w.ctx, l) })
	compare(h, "loop", func(w *world) (amber.PendingLoop, error) { return w.Loops.LoadLoop(w.ctx, id) })
}

func (h *history) clearLoop() {
	id, run := h.someSession(), oneOf(h, "", "run-1", "run-2")
	h.note("%s of %s", run, id)
	do(h, func(w *world) error { return w.Loops.ClearLoop(w.ctx, id, run) })
}

func turnOperations() []operation {
	return []operation{
		{name: "append turn", weight: 10, needs: []part{turns}, run: (*history).appendTurn},
		{name: "load turns", weight: 4, needs: []part{turns}, run: (*history).loadTurns},
		{name: "delete turns", weight: 1, needs: []part{turns}, run: (*history).deleteTurns},
		{name: "add compaction", weight: 3, needs: []part{compactions}, run: (*history).addCompaction},
	}
}

func (h *history) appendTurn() {
	t := amber.Turn{
		SessionID: h.someSession(), Role: oneOf(h, amber.RoleUser, amber.RoleAssistant, amber.RoleSystem, amber.RoleTool),
		Content: oneOf(h, "hello", "\x1b[1mbold\x1b[0m", "a\nb", " "), ProjectID: oneOf(h, "", "p1"),
	}
	if h.chance(0.5) {
		t.ID = amber.TurnID(fmt.Sprint("turn-", h.rng.IntN(12)))
	}
	if h.chance(0.2) {
		t.CreatedAt = amber.UnixMilli(1_700_000_000_000 + int64(h.rng.IntN(5)))
	}
	h.note("%s", text(tree(t)))
	got, ok := ask(h, func(w *world) (amber.Turn, error) { return w.Turns.AppendTurn(w.ctx, t) })
	if ok {
		h.bind(string(got[h.model].ID), string(got[h.subject].ID))
		same(h, got, "turn")
	}
}

func (h *history) loadTurns() {
	id, limit := h.someSession(), oneOf(h, -1, 0, 1, 3, 100)
	h.note("%d of %s", limit, id)
	compare(h, "turns", func(w *world) ([]amber.Turn, error) { return amber.LastTurns(w.ctx, w.Turns, id, limit) })
}

func (h *history) deleteTurns() {
	id := h.someSession()
	h.note("%s", id)
	compare(h, "number of turns deleted", func(w *world) (int, error) { return w.Turns.DeleteTurns(w.ctx, id) })
}

func (h *history) addCompaction() {
	c := amber.Compaction{SessionID: h.someSession(), Summary: oneOf(h, "so far", "further", ""), Turns: h.rng.IntN(5) - h.rng.IntN(2)}
	if h.chance(0.5) {
		c.ID = fmt.Sprint("compaction-", h.rng.IntN(5))
	}
	h.note("%s", text(tree(c)))
	got, ok := ask(h, func(w *world) (amber.Compaction, error) { return w.Compactions.AddCompaction(w.ctx, c) })
	if ok {
		h.bind(got[h.model].ID, got[h.subject].ID)
		same(h, got, "compaction")
	}
}
