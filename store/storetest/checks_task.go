package storetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

func taskChecks() []check {
	needs := []part{control}
	return []check{
		{name: "task/save-keeps-every-field", needs: needs, run: taskKept},
		{name: "task/save-compares-versions", needs: needs, run: taskCompares},
		{name: "task/new-is-queued", needs: needs, run: taskNewQueued},
		{name: "task/transitions", needs: needs, run: taskTransitions},
		{name: "task/list-newest-first", needs: needs, run: tasksListed},
		{name: "task/list-filters", needs: needs, run: taskFilters},
		{name: "task/refuses-invalid", needs: needs, run: taskRefusesInvalid},
	}
}

// saveTask stores a task over a version.
func (w *world) saveTask(t amber.Task, ifVersion int64) amber.Task {
	return must(w.Tasks.SaveTask(w.ctx, t, ifVersion))
}

// task stores a new task.
func (w *world) task(id string) amber.Task {
	return w.saveTask(amber.Task{ID: id, Goal: "do " + id, State: amber.TaskQueued}, 0)
}

// pathTo returns the states a new task passes on its way to each state, by
// that state, found in the table itself.
func pathTo() map[amber.TaskState][]amber.TaskState {
	paths := map[amber.TaskState][]amber.TaskState{amber.TaskQueued: {}}
	queue := []amber.TaskState{amber.TaskQueued}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		for _, to := range amber.TaskStates() {
			if _, seen := paths[to]; !seen && from.CanBecome(to) {
				paths[to] = append(append([]amber.TaskState{}, paths[from]...), to)
				queue = append(queue, to)
			}
		}
	}
	return paths
}

// taskIn stores a task and leads it to a state.
func (w *world) taskIn(id string, state amber.TaskState, paths map[amber.TaskState][]amber.TaskState) amber.Task {
	t := w.task(id)
	for _, s := range paths[state] {
		t.State = s
		t = w.saveTask(t, t.Version)
	}
	return t
}

func taskKept(w *world) {
	t := amber.Task{
		ID: "t", RequestID: "r", SessionID: "s", Goal: "win\nit", State: amber.TaskQueued, Attempts: 2, CompletedNodes: []string{"b", "a"},
		NextNodeIndex: 3, PendingApprovalID: "ap", LastResult: "fine\x1b", Extra: json.RawMessage(`{"z": 1.0,  "a": 12345678901234567890, "t": "<&>"}`),
		Version: 77, CreatedAt: amber.UnixMilli(5), UpdatedAt: amber.UnixMilli(6),
	}
	got := w.saveTask(t, 0)
	t.Version, t.CreatedAt, t.UpdatedAt = 1, w.now(), w.now()
	equal(got, t, "saved task")
	read := must(w.Tasks.Task(w.ctx, "t"))
	equal(read, t, "task read back")
	hold(string(read.Extra) == string(t.Extra), "extra %s came back as %s", t.Extra, read.Extra)
	w.tick()
	next := w.saveTask(amber.Task{ID: "t", Goal: "other", State: amber.TaskPlanning}, 1)
	equal(next, amber.Task{ID: "t", Goal: "other", State: amber.TaskPlanning, Version: 2, CreatedAt: t.CreatedAt, UpdatedAt: w.now()}, "task saved over")
}

func taskCompares(w *world) {
	refused(only(w.Tasks.Task(w.ctx, "t")), amber.KindNotFound, "read an unknown task")
	refused(only(w.Tasks.SaveTask(w.ctx, amber.Task{ID: "t", Goal: "g"}, 1)), amber.KindConflict, "save over a task that is not there")
	t := w.task("t")
	for v := int64(1); v < 4; v++ {
		for _, wrong := range []int64{0, v - 1, v + 1, -1} {
			if wrong != v {
				refused(only(w.Tasks.SaveTask(w.ctx, t, wrong)), amber.KindConflict, "save over version %d where it is %d", wrong, v)
			}
		}
		t.Attempts++
		t = w.saveTask(t, v)
		equal(t.Version, v+1, "version")
	}
	equal(must(w.Tasks.Task(w.ctx, "t")), t, "task read back")
}

func taskNewQueued(w *world) {
	for _, s := range amber.TaskStates() {
		if s == amber.TaskQueued {
			continue
		}
		refused(only(w.Tasks.SaveTask(w.ctx, amber.Task{ID: "t", Goal: "g", State: s}, 0)), amber.KindInvalid, "new task that is %s", s)
	}
	equal(w.saveTask(amber.Task{ID: "t", Goal: "g"}, 0).State, amber.TaskQueued, "state of a task without one")
}

func taskTransitions(w *world) {
	paths := pathTo()
	for _, from := range amber.TaskStates() {
		stays := w.taskIn("stays "+string(from), from, paths)
		for _, to := range amber.TaskStates() {
			if from == to || from.CanBecome(to) {
				t := w.taskIn(fmt.Sprint(from, " to ", to), from, paths)
				t.State = to
				equal(w.saveTask(t, t.Version).State, to, "state after %s became %s", from, to)
				continue
			}
			t := stays
			t.State = to
			refused(only(w.Tasks.SaveTask(w.ctx, t, t.Version)), amber.KindInvalid, "%s becomes %s", from, to)
		}
		equal(must(w.Tasks.Task(w.ctx, stays.ID)), stays, "task after refused transitions from %s", from)
	}
}

// taskIDs lists the ids of every page.
func (w *world) taskIDs(q amber.TaskQuery) []string {
	var out []string
	for _, t := range pages(func(c amber.Cursor) (amber.Page[amber.Task], error) {
		q.Cursor = c
		return w.Tasks.ListTasks(w.ctx, q)
	}) {
		out = append(out, t.ID)
	}
	return out
}

func tasksListed(w *world) {
	var want []string
	for i := range amber.DefaultPageSize + 2 {
		t := w.task(fmt.Sprintf("t%03d", i))
		want = append([]string{t.ID}, want...)
		w.tick()
	}
	w.saveTask(amber.Task{ID: "t000", Goal: "touched"}, 1)
	for _, limit := range []int{1, 10, 51, 52, 1000} {
		equal(w.taskIDs(amber.TaskQuery{Limit: limit}), want, "pages of %d", limit)
	}
	equal(len(must(w.Tasks.ListTasks(w.ctx, amber.TaskQuery{})).Items), amber.DefaultPageSize, "default page")
	for _, q := range []amber.TaskQuery{{Limit: -1}, {Cursor: "garbage"}, {State: "dreaming"}} {
		refused(only(w.Tasks.ListTasks(w.ctx, q)), amber.KindInvalid, "list tasks with %v", q)
	}
}

func taskFilters(w *world) {
	for i := range 6 {
		t := w.saveTask(amber.Task{ID: fmt.Sprint("t", i), Goal: "g", SessionID: amber.SessionID(fmt.Sprint("s", i%2))}, 0)
		if i%3 == 0 {
			t.State = amber.TaskExecuting
			w.saveTask(t, t.Version)
		}
		w.tick()
	}
	equal(w.taskIDs(amber.TaskQuery{SessionID: "s1"}), []string{"t5", "t3", "t1"}, "tasks of a session")
	equal(w.taskIDs(amber.TaskQuery{State: amber.TaskExecuting}), []string{"t3", "t0"}, "tasks in a state")
	equal(w.taskIDs(amber.TaskQuery{State: amber.TaskExecuting, SessionID: "s1", Limit: 1}), []string{"t3"}, "tasks of a session in a state")
	equal(w.taskIDs(amber.TaskQuery{SessionID: "unknown"}), nil, "tasks of an unknown session")
}

func taskRefusesInvalid(w *world) {
	for name, t := range map[string]amber.Task{
		"no id":             {Goal: "g"},
		"no goal":           {ID: "t"},
		"an unknown state":  {ID: "t", Goal: "g", State: "dreaming"},
		"negative attempts": {ID: "t", Goal: "g", Attempts: -1},
		"a bad node":        {ID: "t", Goal: "g", CompletedNodes: []string{""}},
		"bad extra":         {ID: "t", Goal: "g", Extra: []byte(`{`)},
		"a long id":         {ID: strings.Repeat("x", amber.MaxIDBytes+1), Goal: "g"},
		"a NUL":             {ID: "t", Goal: "g\x00"},
	} {
		refused(only(w.Tasks.SaveTask(w.ctx, t, 0)), amber.KindInvalid, "task with %s", name)
	}
	equal(w.taskIDs(amber.TaskQuery{}), nil, "tasks stored by refused calls")
}
