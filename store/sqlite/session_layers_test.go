package sqlite

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
)

// entriesOf returns what f adds to a change log, without position and time.
func entriesOf(t *testing.T, log amber.ChangeLog, f func()) []amber.Change {
	t.Helper()
	head := try(log.Head(t.Context()))(t)
	f()
	got := try(log.Changes(t.Context(), head, 1000))(t)
	for i := range got {
		got[i].Position, got[i].At = "", amber.Time{}
	}
	return got
}

func TestDeletedSessionLogsEachLayer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	try(s.StartSession(ctx, amber.SessionStart{ID: "s"}))(t)
	for _, id := range []amber.TurnID{"t1", "t2"} {
		try(s.AppendTurn(ctx, amber.Turn{ID: id, SessionID: "s", Role: amber.RoleUser, Content: "hello"}))(t)
	}
	try(s.SaveState(ctx, "s", []byte(`{}`), 0))(t)
	try(s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`[]`)}))(t)
	try(s.AddCompaction(ctx, amber.Compaction{SessionID: "s", Summary: "short"}))(t)

	got := entriesOf(t, s, func() { do(t, s.DeleteSession(ctx, "s")) })
	want := []amber.Change{
		{Op: amber.OpDelete, Scope: amber.ChangeSession, Key: "s"},
		{Op: amber.OpDelete, Scope: amber.ChangeTurn, Key: "s"},
		{Op: amber.OpDelete, Scope: amber.ChangeState, Key: "s", OldDigest: amber.ContentDigest(`{}`)},
		{Op: amber.OpDelete, Scope: amber.ChangeLoop, Key: "s", OldDigest: amber.ContentDigest(`[]`)},
		{Op: amber.OpDelete, Scope: amber.ChangeCompaction, Key: "s"},
	}
	if d := cmp.Diff(want, got, cmp.AllowUnexported(amber.Time{})); d != "" {
		t.Errorf("entries (-want +got):\n%s", d)
	}
	_, err := s.ActiveSession(ctx, amber.DefaultBinding)
	wantKind(t, err, amber.KindNotFound, "active session after it was deleted")
}

func TestStartingAgain(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	first := try(s.StartSession(ctx, amber.SessionStart{ID: "a"}))(t)
	update := []amber.Change{{Op: amber.OpUpdate, Scope: amber.ChangeSession, Key: "a"}}
	start := func() amber.Session { return try(s.StartSession(ctx, amber.SessionStart{ID: "a"}))(t) }

	for _, c := range []struct {
		name    string
		before  func()
		want    []amber.Change
		touched bool // updated_at moves
	}{
		{"it is active", func() {}, nil, false},
		{"another is active", func() { try(s.StartSession(ctx, amber.SessionStart{ID: "b"}))(t) }, update, false},
		{"it has ended", func() { try(s.EndSession(ctx, amber.SessionEnd{ID: "a", Summary: "done"}))(t) }, update, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.before()
			before := try(s.Session(ctx, "a"))(t)
			clock.move(time.Second)
			var again amber.Session
			got := entriesOf(t, s, func() { again = start() })
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(amber.Time{})); len(c.want)+len(got) > 0 && d != "" {
				t.Errorf("entries (-want +got):\n%s", d)
			}
			if touched := again.UpdatedAt != before.UpdatedAt; touched != c.touched {
				t.Errorf("updated at %s, was %s", again.UpdatedAt, before.UpdatedAt)
			}
			if !again.EndedAt.IsZero() || again.EndReason != "" || again.CreatedAt != first.CreatedAt {
				t.Errorf("started again it is %+v", again)
			}
			if active := try(s.ActiveSession(ctx, "cli"))(t); active != again {
				t.Errorf("active is %+v, want %+v", active, again)
			}
		})
	}
}

func TestEndingASelectedSessionThatHadEnded(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	try(s.StartSession(ctx, amber.SessionStart{ID: "a"}))(t)
	try(s.EndSession(ctx, amber.SessionEnd{ID: "a"}))(t)
	try(s.SelectSession(ctx, "a"))(t)
	if got := entriesOf(t, s, func() { try(s.EndSession(ctx, amber.SessionEnd{ID: "a"}))(t) }); len(got) != 1 {
		t.Errorf("ending it again logs %v, want that it is no longer active", got)
	}
	_, err := s.ActiveSession(ctx, amber.DefaultBinding)
	wantKind(t, err, amber.KindNotFound, "active session after it was ended again")
}

func TestTurnOfAnotherSession(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	turn := amber.Turn{ID: "t", SessionID: "a", Role: amber.RoleTool, Content: "x"}
	try(s.AppendTurn(ctx, turn))(t)
	turn.SessionID = "b"
	got := entriesOf(t, s, func() {
		_, err := s.AppendTurn(ctx, turn)
		wantKind(t, err, amber.KindConflict, "append")
	})
	if len(got) != 0 || len(try(s.LoadTurns(ctx, "b", 9))(t)) != 0 {
		t.Errorf("a refused turn left %v", got)
	}
}
