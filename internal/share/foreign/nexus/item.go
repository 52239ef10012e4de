package nexus

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// fillMessage is for what was said. An item that says more than that keeps its
// raw form.
func fillMessage(ev *journal.HostEvent, it bufferItem) {
	content := it.text("content")
	if content == "" {
		return
	}
	switch strings.ToLower(it.text("role")) {
	case "user", "human":
		ev.Kind, ev.Prompt = journal.HostPrompt, content
	case "assistant", "model", "ai":
		ev.Kind, ev.Answer = journal.HostTurnEnd, content
	default:
		ev.Message = content
		return
	}
	if len(it.fields) == 3 && !ev.NativeAt.IsZero() {
		ev.Raw = nil
	}
}

// fillDecision keeps a decision with all that led to it, as an answer that
// says so: what a drain learns from.
func fillDecision(ev *journal.HostEvent, it bufferItem) {
	var reasons []string
	add := func(label, s string) {
		if s != "" {
			reasons = append(reasons, label+": "+s)
		}
	}
	add("rationale", it.text("rationale"))
	var others []string
	if json.Unmarshal(it.fields["alternatives"], &others) == nil {
		add("alternatives", strings.Join(others, ", "))
	}
	add("impact", it.text("impact"))
	text := it.text("summary")
	if len(reasons) > 0 {
		text += " (" + strings.Join(reasons, "; ") + ")"
	}
	teach(ev, it, "Key Decisions", text)
}

// fillInsight is like fillDecision. Where the answer says all of it there is
// no need of the raw form.
func fillInsight(ev *journal.HostEvent, it bufferItem) {
	text := it.text("")
	teach(ev, it, "Key Insights", text)
	if text != "" && strings.HasSuffix(ev.Answer, "\n- "+text) {
		ev.Raw = nil
	}
}

// teach makes an event an answer with one lesson, on one line.
func teach(ev *journal.HostEvent, it bufferItem, title, lesson string) {
	if lesson = strings.Join(strings.Fields(lesson), " "); lesson != "" {
		ev.Kind, ev.Answer = journal.HostTurnEnd, "## "+title+"\n- "+it.clean.text(lesson)
	}
}

func fillFile(ev *journal.HostEvent, it bufferItem) {
	f := journal.HostFile{Path: it.text("path"), Action: journal.FileAction(it.text("action"))}
	switch f.Action {
	case journal.FileCreated, journal.FileModified, journal.FileDeleted, journal.FileRead:
	default:
		return
	}
	if f.Path != "" {
		ev.Files = []journal.HostFile{f}
	}
}

func fillTask(ev *journal.HostEvent, it bufferItem) {
	t := journal.HostTask{Text: it.text("description"), Status: it.text("status")}
	if t.Text == "" {
		return
	}
	ev.Kind, ev.Tasks = journal.HostTaskChange, []journal.HostTask{t}
	ev.SubagentType = it.text("subagent")
}

func fillError(ev *journal.HostEvent, it bufferItem) {
	ev.Kind = journal.HostError
	ev.Message = it.text("message")
	if t := it.text("error_type"); t != "" {
		ev.Message = t + ": " + ev.Message
	}
	if trace := it.text("stack_trace"); trace != "" {
		ev.Message += "\n" + trace
	}
}

func fillSubagent(ev *journal.HostEvent, it bufferItem) {
	ev.Kind = journal.HostSubagentStart
	ev.SubagentType, ev.Reason = it.text("subagent_type"), it.text("status")
	ev.Message = it.text("task")
	result := it.text("result_summary")
	if result != "" {
		ev.Message += "\n" + result
	}
	if result != "" || foreign.StringOf(it.fields["completed_at"]) != "" || slices.Contains(finished, strings.ToLower(ev.Reason)) {
		ev.Kind = journal.HostSubagentEnd
	}
}

// finished are what the status of a subagent is called when it is over.
var finished = []string{"completed", "complete", "done", "finished", "success", "succeeded", "failed", "error", "cancelled", "canceled", "aborted", "timeout"}

func fillCommand(ev *journal.HostEvent, it bufferItem) {
	command := it.text("")
	if command == "" {
		return
	}
	ev.Kind, ev.Raw = journal.HostToolAfter, nil
	ev.Tool = &journal.HostTool{Name: "shell", Command: command}
}
