package hook

import "github.com/amber-memory/amber/internal/capture/journal"

// gemini is the Gemini CLI, and what has its protocol.
func gemini() dialect {
	return dialect{
		host:    Gemini,
		aliases: []string{"gemini-cli"},
		events: []event{
			{"SessionStart", journal.HostSessionStart, true},
			{"SessionEnd", journal.HostSessionEnd, false},
			{"BeforeAgent", journal.HostPrompt, true},
			{"AfterAgent", journal.HostTurnEnd, false},
			{"BeforeTool", journal.HostToolBefore, false},
			{"AfterTool", journal.HostToolAfter, false},
			{"PreCompress", journal.HostCompactBefore, false},
			{"Notification", journal.HostOther, false},
		},
		fill: func(d *draft) {
			if d.ev.Kind == journal.HostTurnEnd {
				d.any("prompt") // said before
			}
		},
		reply: specific,
	}
}
