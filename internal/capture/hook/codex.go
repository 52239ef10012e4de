package hook

import (
	"cmp"
	"strings"

	"github.com/amber-memory/amber/internal/capture/journal"
)

// codex has hooks much as Claude Code has, and before them a program to notify,
// which gets its payload as an argument.
func codex() dialect {
	return dialect{
		host:    Codex,
		aliases: []string{"codex-cli", "openai-codex"},
		names:   []string{"hook_event_name", "type"},
		session: []string{"session_id", "thread-id", "thread_id"},
		events: append(claudeEvents(),
			event{"Interrupt", journal.HostTurnEnd, false},
			event{notifyEvent, journal.HostTurnEnd, false},
		),
		fill:  fillCodex,
		reply: specific,
	}
}

const notifyEvent = "agent-turn-complete"

func fillCodex(d *draft) {
	fillClaude(d)
	switch d.event.name {
	case notifyEvent: // a program to notify gets the prompt in no other payload
		var prompts []string
		for _, m := range d.list("input-messages") {
			if m.str() != "" {
				prompts = append(prompts, m.str())
			}
		}
		d.ev.Prompt = d.clean.clip(strings.Join(prompts, "\n\n"), maxText)
	case "Interrupt":
		d.ev.Reason = cmp.Or(d.ev.Reason, "interrupt")
	}
}
