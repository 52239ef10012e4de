package hook

import "github.com/amber-memory/amber"

// gemini is the Gemini CLI, and what has its protocol.
func gemini() dialect {
	return dialect{
		host:    Gemini,
		aliases: []string{"gemini-cli"},
		events: []event{
			{"SessionStart", amber.HostSessionStart, true},
			{"SessionEnd", amber.HostSessionEnd, false},
			{"BeforeAgent", amber.HostPrompt, true},
			{"AfterAgent", amber.HostTurnEnd, false},
			{"BeforeTool", amber.HostToolBefore, false},
			{"AfterTool", amber.HostToolAfter, false},
			{"PreCompress", amber.HostCompactBefore, false},
			{"Notification", amber.HostOther, false},
		},
		fill: func(d *draft) {
			if d.ev.Kind == amber.HostTurnEnd {
				d.any("prompt") // said before
			}
		},
		reply: specific,
	}
}
