package hook

import (
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// taskTools are tools with which an agent keeps its list of things to do, by
// their folded names, and the member of the input that holds the list; "" when
// the input is one task.
var taskTools = map[string]string{
	"todowrite": "todos", "writetodos": "todos", "todo": "todos", "managetodolist": "todoList", "updateplan": "plan",
	"taskcreate": "", "taskupdate": "",
}

// toolTasks sets the tasks that a tool was given.
func (d *draft) toolTasks(tool string, input value) {
	list, ok := taskTools[fold(tool)]
	switch {
	case !ok:
	case list == "":
		d.addTask(input)
	default:
		d.addTasks(input.get(list).list)
	}
}

// fillTasks sets the tasks that an event is about: one, or the whole list.
func (d *draft) fillTasks() {
	if list := d.list("todos"); list != nil {
		d.addTasks(list)
		return
	}
	d.addTask(d.value)
	for _, name := range taskMembers {
		d.any(name)
	}
	if n := len(d.ev.Tasks); n > 0 && strings.HasSuffix(fold(d.event.name), "completed") {
		d.ev.Tasks[n-1].Status = "completed"
	}
}

// taskMembers are the members that addTask reads in the payload of an event.
var taskMembers = []string{"task_id", "task_subject", "task_description", "status"}

func (d *draft) addTasks(list []value) {
	for _, t := range list {
		d.addTask(t)
	}
}

// addTask adds one task. A change may leave out its text.
func (d *draft) addTask(v value) {
	t := journal.HostTask{
		ID:     d.safeID(v.scalar("id", "task_id", "taskId")),
		Text:   v.str(),
		Status: taskStatus(v.get("status").str()),
	}
	if v.kind == object {
		t.Text = taskText(v)
	}
	if t.Text == "" && t.ID == "" {
		return
	}
	t.Text = d.clean.clip(t.Text, amber.MaxActivityNameBytes)
	if len(d.ev.Tasks) == maxList {
		d.clean.lost += int64(len(t.Text))
		return
	}
	d.ev.Tasks = append(d.ev.Tasks, t)
}

// taskText returns the shortest description of a task.
func taskText(v value) string {
	return v.first("content", "subject", "task_subject", "title", "step", "text", "description", "task_description").str()
}

// taskStatus returns a status in the words all hosts share. A task that was given up
// has failed.
func taskStatus(s string) string {
	switch fold(s) {
	case "inprogress", "active", "started", "running":
		return "in_progress"
	case "completed", "complete", "done", "finished":
		return "completed"
	case "failed", "error", "cancelled", "canceled", "deleted", "blocked":
		return "failed"
	}
	return "pending"
}
