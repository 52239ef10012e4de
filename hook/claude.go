package hook

import "github.com/amber-memory/amber"

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
		{"SessionStart", amber.HostSessionStart, true},
		{"SessionEnd", amber.HostSessionEnd, false},
		{"UserPromptSubmit", amber.HostPrompt, true},
		{"PreToolUse", amber.HostToolBefore, false},
		{"PostToolUse", amber.HostToolAfter, false},
		{"PostToolUseFailure", amber.HostToolAfter, false},
		{"Stop", amber.HostTurnEnd, false},
		{"StopFailure", amber.HostError, false},
		{"SubagentStart", amber.HostSubagentStart, false},
		{"SubagentStop", amber.HostSubagentEnd, false},
		{"PreCompact", amber.HostCompactBefore, false},
		{"PostCompact", amber.HostCompactAfter, false},
		{"TaskCreated", amber.HostTaskChange, false},
		{"TaskCompleted", amber.HostTaskChange, false},
		{"Notification", amber.HostOther, false},
	}
}

// fillClaude: a session that starts because of a compaction has not started.
func fillClaude(d *draft) {
	if d.ev.Kind == amber.HostSessionStart && d.ev.Reason == "compact" {
		d.ev.Kind = amber.HostCompactAfter
	}
	if d.ev.Kind == amber.HostError {
		d.ev.Answer = d.text("last_assistant_message")
	}
}
