package inmem_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
)

// start starts a session.
func (w world) start(t *testing.T, s amber.SessionStart) amber.Session {
	t.Helper()
	return ok[amber.Session](t)(w.StartSession(t.Context(), s))
}

// active returns the id of the active session of a binding, "" for none.
func (w world) active(t *testing.T, binding string) amber.SessionID {
	t.Helper()
	s, err := w.ActiveSession(t.Context(), binding)
	if err != nil {
		wantKind(t, err, amber.KindNotFound)
	}
	return s.ID
}

func TestStartSessionAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.start(t, amber.SessionStart{ID: "a", Name: "first"})
	w.start(t, amber.SessionStart{ID: "b"})
	w.tick()
	head := w.head(t)
	wantEqual(t, "a session that runs", w.start(t, amber.SessionStart{ID: "a", Name: "second"}), first)
	wantEqual(t, "active session", w.active(t, "cli"), "a")
	wantEqual(t, "entries of becoming active", w.entries(t, w, head), []string{"update session a"})
	head = w.head(t)
	w.start(t, amber.SessionStart{ID: "a"})
	wantEqual(t, "entries of a start that changes nothing", w.entries(t, w, head), []string{})

	ok[amber.Session](t)(w.EndSession(t.Context(), amber.SessionEnd{ID: "a", Summary: "so far"}))
	wantEqual(t, "active session after the end", w.active(t, "cli"), "")
	w.tick()
	want := first
	want.UpdatedAt, want.Summary = w.now(), "so far"
	wantEqual(t, "a session that had ended", w.start(t, amber.SessionStart{ID: "a"}), want)

	_, err := w.StartSession(t.Context(), amber.SessionStart{ID: "a", Binding: "chat"})
	wantKind(t, err, amber.KindConflict)
}

func TestSelectSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.start(t, amber.SessionStart{ID: "a"})
	w.start(t, amber.SessionStart{ID: "b"})
	ended := ok[amber.Session](t)(w.EndSession(ctx, amber.SessionEnd{ID: "a"}))
	wantEqual(t, "active session after ending another", w.active(t, "cli"), "b")
	w.tick()
	selected := ok[amber.Session](t)(w.SelectSession(ctx, "a"))
	want := ended
	want.UpdatedAt = w.now()
	wantEqual(t, "selected session stays ended", selected, want)
	wantEqual(t, "active session", w.active(t, "cli"), "a")
	again := ok[amber.Session](t)(w.EndSession(ctx, amber.SessionEnd{ID: "a", Reason: amber.EndCrash}))
	wantEqual(t, "session ended twice", again, want)
	wantEqual(t, "active session after the second end", w.active(t, "cli"), "")
}

func TestListSessionsLastUpdatedFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 4 {
		w.start(t, amber.SessionStart{ID: amber.SessionID(fmt.Sprint("s", i)), Binding: []string{"x", "y"}[i%2]})
		w.tick()
	}
	ok[amber.Session](t)(w.RenameSession(t.Context(), "s0", "renamed"))
	for binding, want := range map[string][]amber.SessionID{"": {"s0", "s3", "s2", "s1"}, "x": {"s0", "s2"}} {
		got := []amber.SessionID{}
		for cursor := amber.Cursor(""); ; {
			page := ok[amber.Page[amber.Session]](t)(w.ListSessions(t.Context(), amber.SessionQuery{Binding: binding, Limit: 1, Cursor: cursor}))
			for _, s := range page.Items {
				got = append(got, s.ID)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		wantEqual(t, "sessions of binding "+binding, got, want)
	}
}

func TestDeleteSessionLogsEachLayerOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	for _, id := range []amber.SessionID{"full", "other"} {
		w.start(t, amber.SessionStart{ID: id})
		for i := range 2 {
			ok[amber.Turn](t)(w.AppendTurn(ctx, amber.Turn{SessionID: id, Role: amber.RoleUser, Content: "hi"}))
			ok[amber.Compaction](t)(w.AddCompaction(ctx, amber.Compaction{SessionID: id, Summary: fmt.Sprint(i)}))
		}
		ok[amber.SessionState](t)(w.SaveState(ctx, id, []byte(`{}`), 0))
		ok[amber.PendingLoop](t)(w.SaveLoop(ctx, amber.LoopSave{SessionID: id, RunID: "r", State: []byte(`{}`)}))
	}
	w.start(t, amber.SessionStart{ID: "empty"})
	head := w.head(t)
	for _, id := range []amber.SessionID{"full", "empty"} {
		if err := w.DeleteSession(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	wantEqual(t, "entries", w.entries(t, w, head), []string{
		"delete session full", "delete turn full", "delete state full", "delete loop full", "delete compaction full",
		"delete session empty",
	})
	wantEqual(t, "active session", w.active(t, "cli"), "")
	stats := ok[amber.Stats](t)(w.Stats(ctx))
	if stats.Sessions != 1 || stats.Turns != 2 || stats.Loops != 1 || stats.Compactions != 2 {
		t.Errorf("stats %+v, want what the other session has", stats)
	}
	wantKind(t, w.DeleteSession(ctx, "full"), amber.KindNotFound)
}

func TestTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	turn := amber.Turn{ID: "t", SessionID: "s", Role: amber.RoleUser, Content: "first"}
	first := ok[amber.Turn](t)(w.AppendTurn(ctx, turn))
	wantEqual(t, "time", first.CreatedAt, w.now())
	w.tick()
	turn.Content = "other"
	wantEqual(t, "answer to a known id", ok[amber.Turn](t)(w.AppendTurn(ctx, turn)), first)
	turn.SessionID = "s2"
	_, err := w.AppendTurn(ctx, turn)
	wantKind(t, err, amber.KindConflict)

	old := ok[amber.Turn](t)(w.AppendTurn(ctx, amber.Turn{SessionID: "s", Role: amber.RoleTool, Content: "old", CreatedAt: amber.UnixMilli(1)}))
	for limit, want := range map[int][]amber.Turn{0: {}, 1: {old}, 5: {first, old}} {
		wantEqual(t, fmt.Sprintf("the last %d", limit), ok[[]amber.Turn](t)(w.LoadTurns(ctx, "s", limit)), want)
	}
	_, err = w.LoadTurns(ctx, "s", -1)
	wantKind(t, err, amber.KindInvalid)

	head := w.head(t)
	wantEqual(t, "turns deleted", ok[int](t)(w.DeleteTurns(ctx, "s")), 2)
	wantEqual(t, "turns deleted again", ok[int](t)(w.DeleteTurns(ctx, "s")), 0)
	wantEqual(t, "entries", w.entries(t, w, head), []string{"delete turn s"})
}

func TestCompactions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	first := ok[amber.Compaction](t)(w.AddCompaction(ctx, amber.Compaction{ID: "c", SessionID: "s", Summary: "one"}))
	wantEqual(t, "answer to a known id", ok[amber.Compaction](t)(w.AddCompaction(ctx, amber.Compaction{ID: "c", SessionID: "s", Summary: "two"})), first)
	_, err := w.AddCompaction(ctx, amber.Compaction{ID: "c", SessionID: "s2", Summary: "one"})
	wantKind(t, err, amber.KindConflict)
	wantEqual(t, "compactions", ok[[]amber.Compaction](t)(w.Compactions(ctx, "s")), []amber.Compaction{first})
	wantEqual(t, "compactions of another", ok[[]amber.Compaction](t)(w.Compactions(ctx, "s2")), []amber.Compaction{})
}

func TestStatesAndLoopsCompareBeforeTheySave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	for version := range int64(2) {
		_, err := w.SaveState(ctx, "s", []byte(`{}`), version+1)
		wantKind(t, err, amber.KindConflict)
		wantEqual(t, "version", ok[amber.SessionState](t)(w.SaveState(ctx, "s", []byte(`{}`), version)).Version, version+1)
	}
	saves := []struct {
		name string
		save amber.LoopSave
		kind amber.Kind
	}{
		{"over nothing, expecting one", amber.LoopSave{RunID: "r", IfRevision: 1}, amber.KindConflict},
		{"over nothing, whatever the run", amber.LoopSave{RunID: "r", IfRunID: "x"}, ""},
		{"expecting nothing", amber.LoopSave{RunID: "r"}, amber.KindConflict},
		{"of another run", amber.LoopSave{RunID: "r2", IfRevision: 1}, amber.KindConflict},
		{"of the same run", amber.LoopSave{RunID: "r", IfRevision: 1}, ""},
		{"that takes over", amber.LoopSave{RunID: "r2", IfRunID: "r", IfRevision: 2}, ""},
	}
	for _, tc := range saves {
		tc.save.SessionID, tc.save.State = "s", []byte(`{"a":1}`)
		w.tick()
		_, err := w.SaveLoop(ctx, tc.save)
		if got := amber.KindOf(err); got != tc.kind {
			t.Errorf("save %s: %v, want kind %q", tc.name, err, tc.kind)
		}
	}
	wantEqual(t, "loop", ok[amber.PendingLoop](t)(w.LoadLoop(ctx, "s")), amber.PendingLoop{
		SessionID: "s", RunID: "r2", State: []byte(`{"a":1}`), Revision: 3, Digest: amber.ContentDigest(`{"a":1}`), CreatedAt: w.now(),
	})
	wantKind(t, w.ClearLoop(ctx, "s", "r"), amber.KindConflict)
	for range 2 {
		if err := w.ClearLoop(ctx, "s", "r2"); err != nil {
			t.Errorf("clear the loop of the run: %v", err)
		}
	}
	_, err := w.LoadLoop(ctx, "s")
	wantKind(t, err, amber.KindNotFound)
}
