package hook

import "github.com/amber-memory/amber/internal/capture/journal"

// claudeCode is what others have copied.
func claudeCode() dialect {
	return dialect{
		host:    ClaudeCode,
		aliases: []string{"claude"},
		events:  claudeEvents(),
		fill:    fillClaude,
		reply:   specific,
	}
}

func claudeEvents() []event {
	return []event{
		{"SessionStart", journal.HostSessionStart, true},
		{"SessionEnd", journal.HostSessionEnd, false},
		{"UserPromptSubmit", journal.HostPrompt, true},
		{"PreToolUse", journal.HostToolBefore, false},
		{"PostToolUse", journal.HostToolAfter, false},
		{"PostToolUseFailure", journal.HostToolAfter, false},
		{"Stop", journal.HostTurnEnd, false},
		{"StopFailure", journal.HostError, false},
		{"SubagentStart", journal.HostSubagentStart, false},
		{"SubagentStop", journal.HostSubagentEnd, false},
		{"PreCompact", journal.HostCompactBefore, false},
		{"PostCompact", journal.HostCompactAfter, false},
		{"TaskCreated", journal.HostTaskChange, false},
		{"TaskCompleted", journal.HostTaskChange, false},
		{"Notification", journal.HostOther, false},
	}
}

// fillClaude: a session that starts because of a compaction has not started.
func fillClaude(d *draft) {
	if d.ev.Kind == journal.HostSessionStart && d.ev.Reason == "compact" {
		d.ev.Kind = journal.HostCompactAfter
	}
	if d.ev.Kind == journal.HostError {
		d.ev.Answer = d.text("last_assistant_message")
	}
}
