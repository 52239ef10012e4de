package sqlite

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// A row that does not hold what it must is said to be damaged, never passed on
// and never taken for absent.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{MaxAttempts: 1})
	id := must.Get(s.Write(ctx, amber.WriteRequest{Content: "a"}))(t).ID
	must.Get(s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`{"step": 1}`)}))(t)
	must.Do(t, s.PutEmbedding(ctx, amber.Embedding{MemoryID: id, Model: "m", Vector: []float32{1, 2}}))
	must.Get(s.RequestApproval(ctx, amber.ApprovalRequest{ID: "a", TaskID: "t", NodeID: "n", Summary: "run it?", Payload: []byte(`{"rm": "-rf"}`)}))(t)
	must.Get(s.AppendEvent(ctx, amber.TaskEvent{TaskID: "t", From: amber.TaskQueued}))(t)
	must.Get(s.AppendEvent(ctx, amber.TaskEvent{TaskID: "t", From: amber.TaskQueued}))(t)
	must.Get(s.SaveResult(ctx, amber.Result{TaskID: "t", NodeID: "n", Producer: "p", Status: amber.ResultOK}))(t)
	must.Do(t, s.Publish(ctx, amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n2"}))
	claim := must.Get(s.Claim(ctx, "c"))(t)

	for _, c := range []struct {
		name   string
		d      *database
		damage string
		read   func() error
	}{
		{
			"loop state", s.memory, `UPDATE loops SET state = '{"step": 2}'`,
			func() error { _, err := s.LoadLoop(ctx, "s"); return err },
		},
		{
			"cut vector", s.memory, `UPDATE embeddings SET vector = x'0000803f'`,
			func() error { return s.readVectors(ctx, id) },
		},
		{
			"vector no number", s.memory, `UPDATE embeddings SET dimension = 1, vector = x'0000c07f'`,
			func() error { return s.readVectors(ctx, id) },
		},
		{
			"vector of no dimension", s.memory, `UPDATE embeddings SET dimension = 0, vector = x''`,
			func() error { return s.readVectors(ctx, id) },
		},
		{
			"approval payload", s.control, `UPDATE approvals SET payload = '{"rm": "-r"}'`,
			func() error { _, err := s.Approval(ctx, "a"); return err },
		},
		{
			"decision about a damaged payload", s.control, `UPDATE approvals SET payload = '{}'`,
			func() error {
				_, err := s.DecideApproval(ctx, amber.ApprovalDecision{ID: "a", Outcome: amber.ApprovalApproved, Actor: "me"})
				return err
			},
		},
		{
			"compaction of a damaged event", s.control, `UPDATE events SET body = '[]' WHERE seq = 1`,
			func() error { _, err := s.CompactEvents(ctx, "t", 0); return err },
		},
		{
			"replay snapshot", s.control, `INSERT INTO replays (task_id, compacted, body) VALUES ('t', 0, '"')`,
			func() error { _, err := s.CompactEvents(ctx, "t", 9); return err },
		},
		{
			"result", s.control, `UPDATE results SET body = ''`,
			func() error { _, err := s.Result(ctx, "t", "n"); return err },
		},
		{
			"reasons", s.control, `UPDATE queue SET reasons = '{}'`,
			func() error { return s.Nack(ctx, amber.Nack{Lease: claim.Lease}) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			meddle(t, c.d, c.damage)
			must.Kind(t, "read", c.read(), amber.KindDamaged)
		})
	}
}

// A caller can still replace and remove a damaged loop.
func TestDamagedLoopIsReplaced(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	must.Get(s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`1`)}))(t)
	meddle(t, s.memory, `UPDATE loops SET state = '2'`)
	must.Get(s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`3`), IfRevision: 1}))(t)
	if got := must.Get(s.LoadLoop(ctx, "s"))(t); string(got.State) != "3" || got.Revision != 2 {
		t.Errorf("got %s, revision %d, want 3, revision 2", got.State, got.Revision)
	}
}
