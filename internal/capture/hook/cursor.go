package hook

import (
	"cmp"

	"github.com/amber-memory/amber/internal/capture/journal"
)

// cursor has an event for each way to use a tool. The conversation is the
// session; an id of a session is only there at its start and end.
func cursor() dialect {
	return dialect{
		host:    Cursor,
		aliases: []string{"cursor-agent", "cursor-cli"},
		session: []string{"conversation_id", "session_id"},
		events: []event{
			{"sessionStart", journal.HostSessionStart, true},
			{"sessionEnd", journal.HostSessionEnd, false},
			{"beforeSubmitPrompt", journal.HostPrompt, false},
			{"preToolUse", journal.HostToolBefore, false},
			{"postToolUse", journal.HostToolAfter, false},
			{"postToolUseFailure", journal.HostToolAfter, false},
			{"beforeShellExecution", journal.HostToolBefore, false},
			{"afterShellExecution", journal.HostToolAfter, false},
			{"beforeMCPExecution", journal.HostToolBefore, false},
			{"afterMCPExecution", journal.HostToolAfter, false},
			{"beforeReadFile", journal.HostToolBefore, false},
			{"afterFileEdit", journal.HostToolAfter, false},
			{"subagentStart", journal.HostSubagentStart, false},
			{"subagentStop", journal.HostSubagentEnd, false},
			{"preCompact", journal.HostCompactBefore, false},
			{"afterAgentResponse", journal.HostTurnEnd, false},
			{"stop", journal.HostTurnEnd, false},
			{"afterAgentThought", journal.HostOther, false},
		},
		also:  map[string]string{"userpromptsubmit": "beforeSubmitPrompt"}, // from Claude Code's settings
		fill:  fillCursor,
		reply: snake,
	}
}

// isCursor reports whether a payload is Cursor's.
func isCursor(p value) bool {
	return p.get("cursor_version").kind == text ||
		p.get("conversation_id").kind == text && p.get("generation_id").kind == text
}

func fillCursor(d *draft) {
	d.any("session_id") // the conversation
	d.any("user_email") // so that the event does not keep the address of the user
	switch d.ev.Kind {
	case journal.HostSubagentStart:
		d.ev.Prompt = d.text("task", "prompt")
	case journal.HostSubagentEnd:
		d.ev.Answer = cmp.Or(d.ev.Answer, d.text("summary"))
	}
	switch d.event.name {
	case "beforeShellExecution", "afterShellExecution":
		d.ev.Tool.Name = cmp.Or(d.ev.Tool.Name, "Shell")
		d.ev.Tool.Command = cmp.Or(d.ev.Tool.Command, d.text("command"))
	case "beforeReadFile":
		d.ev.Tool.Name = cmp.Or(d.ev.Tool.Name, "Read")
		d.addFile(d.text("file_path"), journal.FileRead) // no later event reports the reading
	case "afterFileEdit":
		d.ev.Tool.Name = cmp.Or(d.ev.Tool.Name, "Edit")
		d.ev.Tool.Input = d.any("edits").appendJSON(nil)
		d.addFile(d.text("file_path"), journal.FileModified)
	case "stop":
		if d.ev.Reason == "error" {
			d.ev.Kind = journal.HostError
			d.ev.Message = cmp.Or(d.errorText(), "the agent stopped with an error")
		}
	}
}
