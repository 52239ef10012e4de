package inmem_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/amber-memory/amber"
)

func TestSaveResultFences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	save := func(name string, fence int64, want amber.Kind) {
		t.Helper()
		_, err := w.SaveResult(ctx, amber.Result{TaskID: "t", NodeID: "n", Producer: "p", Status: amber.ResultOK, Fence: fence})
		if got := amber.KindOf(err); got != want {
			t.Errorf("%s: %v, want kind %q", name, err, want)
		}
	}
	save("no fence where none was issued", 0, "")
	save("a fence where none was issued", 1, amber.KindConflict)
	w.publish(t, "e")
	first := w.claim(t, "c").Lease.Fence
	save("no fence where one was issued", 0, amber.KindConflict)
	save("the fence issued", first, "")
	save("the fence issued, again", first, "")
	w.clock.advance(time.Minute)
	second := w.claim(t, "c").Lease.Fence
	save("an old fence", first, amber.KindConflict)
	save("a fence never issued", second+1, amber.KindConflict)
	save("the newest fence", second, "")
	wantEqual(t, "stored fence", ok[amber.Result](t)(w.Result(ctx, "t", "n")).Fence, second)

	_, err := w.SaveResult(ctx, amber.Result{TaskID: "t", NodeID: "another", Producer: "p", Status: amber.ResultOK, Fence: second})
	wantKind(t, err, amber.KindConflict)
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	request := amber.ApprovalRequest{ID: "z", TaskID: "t", NodeID: "n", Summary: "may I", Payload: json.RawMessage(`{"a":1}`)}
	first := ok[amber.Approval](t)(w.RequestApproval(ctx, request))
	w.tick()
	wantEqual(t, "the same request", ok[amber.Approval](t)(w.RequestApproval(ctx, request)), first)
	for name, change := range map[string]func(*amber.ApprovalRequest){
		"payload": func(r *amber.ApprovalRequest) { r.Payload = json.RawMessage(`{"a":2}`) },
		"task":    func(r *amber.ApprovalRequest) { r.TaskID = "x" },
		"node":    func(r *amber.ApprovalRequest) { r.NodeID = "x" },
		"summary": func(r *amber.ApprovalRequest) { r.Summary = "x" },
	} {
		r := request
		change(&r)
		if _, err := w.RequestApproval(ctx, r); amber.KindOf(err) != amber.KindConflict {
			t.Errorf("request with another %s: %v, want a conflict", name, err)
		}
	}
	request.ID, request.TaskID = "a", "t2"
	second := ok[amber.Approval](t)(w.RequestApproval(ctx, request))
	wantEqual(t, "pending, oldest first", ok[[]amber.Approval](t)(w.ListApprovals(ctx, "")), []amber.Approval{first, second})

	decision := amber.ApprovalDecision{ID: "z", Outcome: amber.ApprovalApproved, Actor: "ada", Digest: second.Digest + "0"}
	_, err := w.DecideApproval(ctx, decision)
	wantKind(t, err, amber.KindConflict)
	decision.Digest = first.Digest
	decided := ok[amber.Approval](t)(w.DecideApproval(ctx, decision))
	wantEqual(t, "decision time", decided.DecidedAt, w.now())
	_, err = w.DecideApproval(ctx, decision)
	wantKind(t, err, amber.KindConflict)
	wantEqual(t, "pending", ok[[]amber.Approval](t)(w.ListApprovals(ctx, "")), []amber.Approval{second})
	wantEqual(t, "of the task", ok[[]amber.Approval](t)(w.ListApprovals(ctx, "t")), []amber.Approval{decided})
}

func TestCompactEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	_, err := w.CompactEvents(ctx, "t", 0)
	wantKind(t, err, amber.KindNotFound)
	states := []amber.TaskState{amber.TaskQueued, amber.TaskPlanning, amber.TaskExecuting, amber.TaskSucceeded}
	var events []amber.TaskEvent
	for i := range 3 {
		events = append(events, ok[amber.TaskEvent](t)(w.AppendEvent(ctx, amber.TaskEvent{TaskID: "t", From: states[i], To: states[i+1]})))
	}
	log := w.Parts().ControlChanges
	head := ok[amber.Position](t)(log.Head(ctx))
	for _, keep := range []int{4, 3, 1, 1, 0} {
		got := ok[amber.ReplaySnapshot](t)(w.CompactEvents(ctx, "t", keep))
		folded := max(0, 3-keep)
		wantEqual(t, "snapshot", got, amber.EmptyReplay("t").FoldAll(events[:folded]))
		wantEqual(t, "events", ok[[]amber.TaskEvent](t)(w.ListEvents(ctx, "t")), events[folded:])
	}
	wantEqual(t, "entries", w.entries(t, log, head), []string{"update control event/t/2", "update control event/t/3"})
	_, err = w.CompactEvents(ctx, "t", -1)
	wantKind(t, err, amber.KindInvalid)
	wantEqual(t, "sequence after compaction", ok[amber.TaskEvent](t)(w.AppendEvent(ctx, amber.TaskEvent{TaskID: "t", From: amber.TaskSucceeded})).Seq, int64(4))
}

func TestTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	task := amber.Task{ID: "t", Goal: "g", SessionID: "s", Extra: json.RawMessage(`{"k": 1}`)}
	first := ok[amber.Task](t)(w.SaveTask(ctx, task, 0))
	_, err := w.SaveTask(ctx, task, 0)
	wantKind(t, err, amber.KindConflict)
	next := first
	next.State = amber.TaskSucceeded
	_, err = w.SaveTask(ctx, next, 1)
	wantKind(t, err, amber.KindInvalid)
	w.tick()
	next.State = amber.TaskExecuting
	second := ok[amber.Task](t)(w.SaveTask(ctx, next, 1))
	if second.Version != 2 || second.CreatedAt != first.CreatedAt || second.UpdatedAt != w.now() {
		t.Errorf("second version %+v", second)
	}
	report := ok[amber.ReplayReport](t)(w.Replay(ctx, "t"))
	wantEqual(t, "verdict without events", report.ConsistencyStatus, amber.ReplaySnapshotMismatch)
	_, err = w.Replay(ctx, "unknown")
	wantKind(t, err, amber.KindNotFound)

	other := ok[amber.Task](t)(w.SaveTask(ctx, amber.Task{ID: "a", Goal: "g"}, 0))
	for _, tc := range []struct {
		name string
		q    amber.TaskQuery
		want []amber.Task
	}{
		{"all", amber.TaskQuery{}, []amber.Task{other, second}},
		{"by state", amber.TaskQuery{State: amber.TaskExecuting}, []amber.Task{second}},
		{"by session", amber.TaskQuery{SessionID: "s"}, []amber.Task{second}},
		{"none", amber.TaskQuery{State: amber.TaskFailed}, []amber.Task{}},
	} {
		wantEqual(t, tc.name, ok[amber.Page[amber.Task]](t)(w.ListTasks(ctx, tc.q)).Items, tc.want)
	}
	_, err = w.ListTasks(ctx, amber.TaskQuery{State: "dreaming"})
	wantKind(t, err, amber.KindInvalid)
}

func TestControlChangesAreApart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ok[amber.Task](t)(w.SaveTask(ctx, amber.Task{ID: "t", Goal: "g"}, 0))
	ok[amber.TaskEvent](t)(w.AppendEvent(ctx, amber.TaskEvent{TaskID: "t", From: amber.TaskQueued}))
	ok[amber.Approval](t)(w.RequestApproval(ctx, amber.ApprovalRequest{ID: "a", TaskID: "t", NodeID: "n", Summary: "s", Payload: json.RawMessage(`1`)}))
	ok[amber.Result](t)(w.SaveResult(ctx, amber.Result{TaskID: "t", NodeID: "n", Producer: "p", Status: amber.ResultOK}))
	w.publish(t, "e", "e")
	l := w.claim(t, "c").Lease
	ok[amber.Lease](t)(w.Renew(ctx, l))
	ack(t, w, l)
	ack(t, w, l)
	wantEqual(t, "control", w.entries(t, w.Parts().ControlChanges, ""), []string{
		"insert control task/t", "insert control event/t/1", "insert control approval/a", "insert control result/t/n",
		"insert control queue/e", "update control queue/e", "update control queue/e", "update control queue/e",
	})
	wantEqual(t, "memory", w.entries(t, w, ""), []string{})
}
