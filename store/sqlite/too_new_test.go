package sqlite

import (
	"crypto/rand"
	"errors"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestNewerSchemaIsNotOpened(t *testing.T) {
	t.Parallel()
	a, _ := agentAt(t, int(sqlfile.MemorySchema.Version())+1)
	before := tree(t, a.Dir())
	for _, keep := range []bool{false, true} {
		_, err := openWith(t, a, madeUp(2), keep)
		tooNew(t, err, "open")
	}
	_, err := Open(t.Context(), a, Options{Clock: newHandClock().Now, Random: rand.Reader})
	tooNew(t, err, "open")
	for path, was := range before {
		must.Equal(t, path, fingerprint(t, path), was)
	}
}

func tooNew(t *testing.T, err error, what string) {
	t.Helper()
	must.Kind(t, what, err, amber.KindTooNew)
	if e, ok := errors.AsType[*amber.Error](err); !ok || e.Hint == "" {
		t.Errorf("%s: %v has no hint", what, err)
	}
}

// A process that has the store open when another one migrates it does not
// write into a schema it does not know.
func TestOpenStoreRefusesWritesAfterMigration(t *testing.T) {
	t.Parallel()
	a, _ := agentAt(t, 1)
	old := must.Get(openWith(t, a, madeUp(1), false))(t)
	save(t, old, amber.WriteRequest{Content: "while it is known"})
	newer := must.Get(openWith(t, agentIn(t, homeOf(a)), madeUp(4), false))(t)
	_, err := old.Write(t.Context(), amber.WriteRequest{Content: "into the unknown"})
	tooNew(t, err, "write")
	save(t, newer, amber.WriteRequest{Content: "by the newer one"})
	must.Equal(t, "memories", must.Get(newer.Stats(t.Context()))(t).Memories, 3)
}

// Every write looks at the version inside its transaction.
func TestEveryWriteChecksTheVersion(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "a"})
	other := save(t, s, amber.WriteRequest{Content: "b"})
	related := must.Get(s.Relate(ctx, amber.Relation{From: id, To: other, Type: "related"}))(t)
	must.Get(s.StartSession(ctx, amber.SessionStart{ID: "s"}))(t)
	must.Get(s.RequestApproval(ctx, amber.ApprovalRequest{ID: "a", TaskID: "t", NodeID: "n", Summary: "s", Payload: []byte(`{}`)}))(t)
	must.Do(t, s.Publish(ctx, amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n"}))
	lease := must.Get(s.Claim(ctx, "c"))(t).Lease
	memory, control := must.Get(s.Head(ctx))(t), must.Get(s.Parts().ControlChanges.Head(ctx))(t)
	for _, file := range []string{"memory.db", "control.db"} {
		outside(t, s.agent, file, func(p *sqlconn.Pool) { must.Get(p.DB.Exec("PRAGMA user_version = 99"))(t) })
	}
	title := "t"
	for name, write := range map[string]func() error{
		"write":     func() error { return only(s.Write(ctx, amber.WriteRequest{Content: "x"})) },
		"duplicate": func() error { return only(s.Write(ctx, amber.WriteRequest{Content: "a"})) },
		"batch":     func() error { return only(s.WriteBatch(ctx, []amber.WriteRequest{{Content: "x"}})) },
		"edit":      func() error { return only(s.Edit(ctx, amber.EditRequest{ID: id, Title: &title})) },
		"delete":    func() error { return s.Delete(ctx, id) },
		"erase":     func() error { return only(s.Erase(ctx, id)) },
		"relate":    func() error { return only(s.Relate(ctx, amber.Relation{From: other, To: id, Type: "r"})) },
		"unrelate":  func() error { return s.Unrelate(ctx, related.ID) },
		"concepts":  func() error { return s.SetConcepts(ctx, id, []string{"c"}) },
		"turn": func() error {
			return only(s.AppendTurn(ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "x"}))
		},
		"delete turns": func() error { return only(s.DeleteTurns(ctx, "s")) },
		"start":        func() error { return only(s.StartSession(ctx, amber.SessionStart{ID: "s2"})) },
		"end":          func() error { return only(s.EndSession(ctx, amber.SessionEnd{ID: "s"})) },
		"state":        func() error { return only(s.SaveState(ctx, "s", []byte(`1`), 0)) },
		"loop": func() error {
			return only(s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`1`)}))
		},
		"compaction": func() error { return only(s.AddCompaction(ctx, amber.Compaction{SessionID: "s", Summary: "x"})) },
		"ingest": func() error {
			return only(s.Ingest(ctx, amber.Ingestion{Journal: journal, Host: "h", Session: "s", Through: 1}))
		},
		"task":  func() error { return only(s.SaveTask(ctx, amber.Task{ID: "t", Goal: "g"}, 0)) },
		"event": func() error { return only(s.AppendEvent(ctx, amber.TaskEvent{TaskID: "t", From: amber.TaskQueued})) },
		"approval": func() error {
			return only(s.RequestApproval(ctx, amber.ApprovalRequest{ID: "b", TaskID: "t", NodeID: "n", Summary: "s", Payload: []byte(`{}`)}))
		},
		"decision": func() error {
			return only(s.DecideApproval(ctx, amber.ApprovalDecision{ID: "a", Outcome: amber.ApprovalApproved, Actor: "me"}))
		},
		"result": func() error {
			return only(s.SaveResult(ctx, amber.Result{TaskID: "t", NodeID: "m", Producer: "p", Status: amber.ResultOK}))
		},
		"publish":       func() error { return s.Publish(ctx, amber.Envelope{EntryID: "f", TaskID: "t", NodeID: "n"}) },
		"publish again": func() error { return s.Publish(ctx, amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n"}) },
		"claim":         func() error { return only(s.Claim(ctx, "c")) },
		"renew":         func() error { return only(s.Renew(ctx, lease)) },
		"ack":           func() error { return s.Ack(ctx, lease) },
		"nack":          func() error { return s.Nack(ctx, amber.Nack{Lease: lease, Reason: "r"}) },
		"sync index":    func() error { return s.RebuildIndex(ctx) },
	} {
		tooNew(t, write(), name)
	}
	must.Equal(t, "head of memory.db", must.Get(s.Head(ctx))(t), memory)
	must.Equal(t, "head of control.db", must.Get(s.Parts().ControlChanges.Head(ctx))(t), control)
	if m := must.Get(s.Get(ctx, id))(t); m.Revision != 1 || m.DuplicateCount != 0 {
		t.Errorf("a memory changed: %+v", m)
	}
}
