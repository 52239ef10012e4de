package journal

import (
	"encoding/json"
	"strings"

	"github.com/amber-memory/amber"
)

// fillMessage is for what was said. An item that says more than that keeps its
// raw form.
func fillMessage(ev *amber.HostEvent, it nexusItem) {
	content := it.text("content")
	if content == "" {
		return
	}
	switch strings.ToLower(it.text("role")) {
	case "user", "human":
		ev.Kind, ev.Prompt = amber.HostPrompt, content
	case "assistant", "model", "ai":
		ev.Kind, ev.Answer = amber.HostTurnEnd, content
	default:
		ev.Message = content
		return
	}
	if len(it.fields) == 3 && !ev.NativeAt.IsZero() {
		ev.Raw = nil
	}
}

// fillDecision keeps a decision with all that led to it.
func fillDecision(ev *amber.HostEvent, it nexusItem) {
	var text []string
	add := func(label, s string) {
		if s != "" {
			text = append(text, label+s)
		}
	}
	add("", it.text("summary"))
	add("Rationale: ", it.text("rationale"))
	var others []string
	if json.Unmarshal(it.fields["alternatives"], &others) == nil {
		add("Alternatives: ", it.clean(strings.Join(others, "; ")))
	}
	add("Impact: ", it.text("impact"))
	ev.Message = strings.Join(text, "\n")
}

func fillFile(ev *amber.HostEvent, it nexusItem) {
	f := amber.HostFile{Path: it.text("path"), Action: amber.FileAction(it.text("action"))}
	switch f.Action {
	case amber.FileCreated, amber.FileModified, amber.FileDeleted, amber.FileRead:
	default:
		return
	}
	if f.Path != "" {
		ev.Files = []amber.HostFile{f}
	}
}

func fillTask(ev *amber.HostEvent, it nexusItem) {
	t := amber.HostTask{Text: it.text("description"), Status: it.text("status")}
	if t.Text == "" {
		return
	}
	ev.Kind, ev.Tasks = amber.HostTaskChange, []amber.HostTask{t}
	ev.SubagentType = it.text("subagent")
}

func fillInsight(ev *amber.HostEvent, it nexusItem) {
	ev.Message = it.text("")
	if ev.Message != "" {
		ev.Raw = nil
	}
}

func fillError(ev *amber.HostEvent, it nexusItem) {
	ev.Kind = amber.HostError
	ev.Message = it.text("message")
	if t := it.text("error_type"); t != "" {
		ev.Message = t + ": " + ev.Message
	}
	if trace := it.text("stack_trace"); trace != "" {
		ev.Message += "\n" + trace
	}
}

func fillSubagent(ev *amber.HostEvent, it nexusItem) {
	ev.Kind = amber.HostSubagentStart
	ev.SubagentType, ev.Reason = it.text("subagent_type"), it.text("status")
	ev.Message = it.text("task")
	result := it.text("result_summary")
	if result != "" {
		ev.Message += "\n" + result
	}
	if result != "" || jsonText(it.fields["completed_at"]) != "" {
		ev.Kind = amber.HostSubagentEnd
	}
}

func fillCommand(ev *amber.HostEvent, it nexusItem) {
	command := it.text("")
	if command == "" {
		return
	}
	ev.Kind, ev.Raw = amber.HostToolAfter, nil
	ev.Tool = &amber.HostTool{Name: "shell", Command: command}
}
