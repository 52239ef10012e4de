package storetest

import (
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber"
)

func stateChecks() []check {
	needs := []part{states}
	return []check{
		{name: "state/save-compares-versions", needs: needs, run: stateCompares},
		{name: "state/bytes-are-kept", needs: needs, run: stateBytes},
		{name: "state/delete", needs: needs, run: stateDeleted},
		{name: "state/refuses-invalid", needs: needs, run: stateRefusesInvalid},
	}
}

func loopChecks() []check {
	needs := []part{loops}
	return []check{
		{name: "loop/save-compares-run-and-revision", needs: needs, run: loopCompares},
		{name: "loop/another-run-takes-over", needs: needs, run: loopTakeover},
		{name: "loop/state-is-kept-with-its-digest", needs: needs, run: loopState},
		{name: "loop/clear", needs: needs, run: loopCleared},
		{name: "loop/refuses-invalid", needs: needs, run: loopRefusesInvalid},
	}
}

func stateCompares(w *world) {
	refused(only(w.States.LoadState(w.ctx, "s")), amber.KindNotFound, "load a state that is not there")
	refused(only(w.States.SaveState(w.ctx, "s", []byte(`{}`), 1)), amber.KindConflict, "save over a version that is not there")
	for v := range int64(3) {
		w.tick()
		s := must(w.States.SaveState(w.ctx, "s", []byte(`{"n":1}`), v))
		equal([]any{s.SessionID, s.Version, s.UpdatedAt}, []any{"s", v + 1, w.now()}, "saved state")
		equal(must(w.States.LoadState(w.ctx, "s")), s, "state read back")
		for _, wrong := range []int64{0, v, v + 2} {
			if wrong != v+1 {
				_, err := w.States.SaveState(w.ctx, "s", []byte(`{"n":2}`), wrong)
				refused(err, amber.KindConflict, "save over version %d where it is %d", wrong, v+1)
			}
		}
		equal(must(w.States.LoadState(w.ctx, "s")), s, "state after refused saves")
	}
	equal(must(w.States.SaveState(w.ctx, "other", []byte(`{}`), 0)).Version, 1, "version of another session")
}

func stateBytes(w *world) {
	for i, doc := range []string{`{"b": 1,  "a":[ 1.0, 1e2 ], "big": 12345678901234567890, "b": 2}`, "[]", "null", "{\t\"a\\u2028\": \"<>&\u2028é\" }\n", " 1 "} {
		must(w.States.SaveState(w.ctx, "s", json.RawMessage(doc), int64(i)))
		hold(string(must(w.States.LoadState(w.ctx, "s")).Document) == doc, "document %s came back changed", doc)
	}
}

func stateDeleted(w *world) {
	must(w.States.SaveState(w.ctx, "s", []byte(`{}`), 0))
	must0(w.States.DeleteState(w.ctx, "s"))
	must0(w.States.DeleteState(w.ctx, "s"))
	must0(w.States.DeleteState(w.ctx, "unknown"))
	refused(only(w.States.LoadState(w.ctx, "s")), amber.KindNotFound, "load a deleted state")
	refused(only(w.States.SaveState(w.ctx, "s", []byte(`{}`), 1)), amber.KindConflict, "save over the version of a deleted state")
	must(w.States.SaveState(w.ctx, "s", []byte(`{}`), 0))
}

// badDocuments are documents no store takes, by what is wrong.
func badDocuments() map[string]json.RawMessage {
	return map[string]json.RawMessage{
		"nothing":     nil,
		"no JSON":     []byte(`{"a":`),
		"two values":  []byte(`1 2`),
		"no UTF-8":    []byte("\"a\xff\""),
		"raw NUL":     []byte("\"a\x00\""),
		"a huge text": []byte(`"` + strings.Repeat("x", amber.MaxStateBytes) + `"`),
	}
}

func stateRefusesInvalid(w *world) {
	for name, doc := range badDocuments() {
		refused(only(w.States.SaveState(w.ctx, "s", doc, 0)), amber.KindInvalid, "save a document with %s", name)
	}
	refused(only(w.States.SaveState(w.ctx, "", []byte(`{}`), 0)), amber.KindInvalid, "save the state of no session")
	refused(only(w.States.LoadState(w.ctx, "s")), amber.KindNotFound, "load what refused saves stored")
}

// saveLoop stores the loop of a run over its revision.
func (w *world) saveLoop(session amber.SessionID, run, state string, ifRevision int64) amber.PendingLoop {
	return must(w.Loops.SaveLoop(w.ctx, amber.LoopSave{SessionID: session, RunID: run, State: []byte(state), IfRevision: ifRevision}))
}

func loopCompares(w *world) {
	refused(only(w.Loops.LoadLoop(w.ctx, "s")), amber.KindNotFound, "load a loop that is not there")
	_, err := w.Loops.SaveLoop(w.ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`{}`), IfRevision: 1})
	refused(err, amber.KindConflict, "save over a loop that is not there")
	first := must(w.Loops.SaveLoop(w.ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`{"n":1}`), IfRunID: "any"}))
	equal(first.Revision, 1, "first revision")
	second := w.saveLoop("s", "r", `{"n":2}`, 1)
	equal(second.Revision, 2, "second revision")
	for name, l := range map[string]amber.LoopSave{
		"nothing":            {IfRevision: 0},
		"an old revision":    {IfRevision: 1},
		"a later revision":   {IfRevision: 3},
		"another run":        {IfRunID: "r2", IfRevision: 2},
		"another run by own": {RunID: "r2", IfRevision: 2},
	} {
		l.SessionID, l.State = "s", []byte(`{"n":3}`)
		if l.RunID == "" {
			l.RunID = "r"
		}
		refused(only(w.Loops.SaveLoop(w.ctx, l)), amber.KindConflict, "save a loop that expects %s", name)
	}
	equal(must(w.Loops.LoadLoop(w.ctx, "s")), second, "loop after refused saves")
}

func loopTakeover(w *world) {
	w.saveLoop("s", "old", `1`, 0)
	l := must(w.Loops.SaveLoop(w.ctx, amber.LoopSave{SessionID: "s", RunID: "new", State: []byte(`2`), IfRunID: "old", IfRevision: 1}))
	equal(l.RunID, "new", "run after a takeover")
	_, err := w.Loops.SaveLoop(w.ctx, amber.LoopSave{SessionID: "s", RunID: "old", State: []byte(`3`), IfRevision: 1})
	refused(err, amber.KindConflict, "save of the run that was replaced")
	w.saveLoop("s", "new", `4`, l.Revision)
}

func loopState(w *world) {
	const state = `{"b":1,"a":12345678901234567890,"t":"é<&>"}`
	w.tick()
	l := w.saveLoop("s", "r", `{"b": 1,  "a": 12345678901234567890, "t": "é<&>"}`, 0)
	equal([]any{l.SessionID, l.RunID, l.Revision, l.CreatedAt, l.Parked}, []any{"s", "r", 1, w.now(), false}, "saved loop")
	for _, got := range []amber.PendingLoop{l, must(w.Loops.LoadLoop(w.ctx, "s"))} {
		hold(string(got.State) == state, "state %s came back as %s", state, got.State)
		equal(got.Digest, amber.ContentDigest(state), "digest of the state")
	}
}

func loopCleared(w *world) {
	must0(w.Loops.ClearLoop(w.ctx, "s", ""))
	must0(w.Loops.ClearLoop(w.ctx, "s", "r"))
	w.saveLoop("s", "r", `{}`, 0)
	w.saveLoop("other", "r", `{}`, 0)
	refused(w.Loops.ClearLoop(w.ctx, "s", "r2"), amber.KindConflict, "clear another run's loop")
	equal(must(w.Loops.LoadLoop(w.ctx, "s")).RunID, "r", "run after a refused clear")
	must0(w.Loops.ClearLoop(w.ctx, "s", "r"))
	refused(only(w.Loops.LoadLoop(w.ctx, "s")), amber.KindNotFound, "load a cleared loop")
	w.saveLoop("s", "r2", `{}`, 0)
	must0(w.Loops.ClearLoop(w.ctx, "s", ""))
	refused(only(w.Loops.LoadLoop(w.ctx, "s")), amber.KindNotFound, "load a loop cleared without a run")
	equal(must(w.Loops.LoadLoop(w.ctx, "other")).RunID, "r", "loop of another session")
}

func loopRefusesInvalid(w *world) {
	for name, doc := range badDocuments() {
		_, err := w.Loops.SaveLoop(w.ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: doc})
		refused(err, amber.KindInvalid, "save a loop with %s", name)
	}
	for name, l := range map[string]amber.LoopSave{
		"no session": {RunID: "r", State: []byte(`{}`)},
		"no run":     {SessionID: "s", State: []byte(`{}`)},
	} {
		refused(only(w.Loops.SaveLoop(w.ctx, l)), amber.KindInvalid, "save a loop with %s", name)
	}
	refused(only(w.Loops.LoadLoop(w.ctx, "s")), amber.KindNotFound, "load what refused saves stored")
}
