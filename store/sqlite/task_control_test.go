package sqlite

import (
	"testing"

	"github.com/amber-memory/amber"
)

// Amber does not look inside what frameworks keep with it: every byte comes
// back. Documents with a digest are compact, so that the digest can be checked
// by the reader.
func TestDocumentsKeepTheirBytes(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	const doc = "{ \"b\" : 1.0 ,\n\t\"a\": \"<&>\u2028\" }"
	const compact = "{\"b\":1.0,\"a\":\"<&>\u2028\"}"

	task := try(s.SaveTask(ctx, amber.Task{ID: "t", Goal: "g", Extra: []byte(doc)}, 0))(t)
	again := try(s.Task(ctx, "t"))(t)
	listed := try(s.ListTasks(ctx, amber.TaskQuery{}))(t).Items[0]
	approval := try(s.RequestApproval(ctx, amber.ApprovalRequest{TaskID: "t", NodeID: "n", Summary: "s", Payload: []byte(doc)}))(t)
	stored := try(s.Approval(ctx, approval.ID))(t)
	state := try(s.SaveState(ctx, "s", []byte(doc), 0))(t)
	loaded := try(s.LoadState(ctx, "s"))(t)
	try(s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(doc)}))(t)
	loop := try(s.LoadLoop(ctx, "s"))(t)
	for name, got := range map[string]string{
		"saved task": string(task.Extra), "task": string(again.Extra), "listed task": string(listed.Extra),
		"saved state": string(state.Document), "state": string(loaded.Document),
	} {
		if got != doc {
			t.Errorf("%s holds %q, want %q", name, got, doc)
		}
	}
	for name, got := range map[string]string{
		"requested approval": string(approval.Payload), "approval": string(stored.Payload), "loop": string(loop.State),
	} {
		if got != compact {
			t.Errorf("%s holds %q, want %q", name, got, compact)
		}
	}
}

// The caller may reuse the bytes it passed in.
func TestDocumentsAreCopied(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	doc := []byte(`[1]`)
	task := try(s.SaveTask(ctx, amber.Task{ID: "t", Goal: "g", Extra: doc}, 0))(t)
	approval := try(s.RequestApproval(ctx, amber.ApprovalRequest{TaskID: "t", NodeID: "n", Summary: "s", Payload: doc}))(t)
	state := try(s.SaveState(ctx, "s", doc, 0))(t)
	loop := try(s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: doc}))(t)
	doc[1] = '2'
	for name, got := range map[string]string{
		"task": string(task.Extra), "approval": string(approval.Payload), "state": string(state.Document), "loop": string(loop.State),
	} {
		if got != `[1]` {
			t.Errorf("the answer about a %s changed with the caller's bytes: %s", name, got)
		}
	}
}

// Compaction never reuses a sequence, also when nothing is kept.
func TestSequencesGoOnAfterCompaction(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	event := amber.TaskEvent{TaskID: "t", From: amber.TaskQueued}
	for want := int64(1); want <= 6; want++ {
		if got := try(s.AppendEvent(ctx, event))(t).Seq; got != want {
			t.Fatalf("sequence %d, want %d", got, want)
		}
		if want%2 == 0 {
			replay := try(s.CompactEvents(ctx, "t", int(want)%4/2))(t)
			if kept := try(s.ListEvents(ctx, "t"))(t); replay.CompactedEventCount+int64(len(kept)) != want {
				t.Fatalf("%d compacted and %d kept of %d events", replay.CompactedEventCount, len(kept), want)
			}
		}
	}
}

func TestFencedOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name                  string
		fence, issued, stored int64
		refused               bool
	}{
		{"no queue", 0, 0, 0, false},
		{"the last lease", 7, 7, 3, false},
		{"the last lease again", 7, 7, 7, false},
		{"an older lease", 6, 7, 0, true},
		{"no lease where there was one", 0, 7, 0, true},
		{"a lease of another node", 8, 7, 0, true},
		{"a newer result came from elsewhere", 7, 7, 9, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if why := fencedOff(c.fence, c.issued, c.stored); (why != "") != c.refused {
				t.Errorf("got %q, want refused %v", why, c.refused)
			}
		})
	}
}
