package hook

import (
	"slices"

	"github.com/amber-memory/amber/internal/capture/journal"
)

// generic understands what any host may say, and the kinds of events by their
// own names.
func generic() dialect {
	d := dialect{
		host:    Generic,
		names:   []string{"hook_event_name", "hookEventName", "event", "type"},
		session: []string{"session_id", "sessionId", "sessionID", "conversation_id", "thread-id", "thread_id"},
		reply:   none,
	}
	for _, k := range []journal.EventKind{
		journal.HostSessionStart, journal.HostSessionEnd, journal.HostPrompt, journal.HostToolBefore, journal.HostToolAfter,
		journal.HostTurnEnd, journal.HostCompactBefore, journal.HostCompactAfter, journal.HostSubagentStart,
		journal.HostSubagentEnd, journal.HostTaskChange, journal.HostError,
	} {
		d.events = append(d.events, event{string(k), k, false})
	}
	// Among equal names the first counts; they mean the same.
	d.events = slices.Concat(d.events,
		claudeEvents(), codex().events, gemini().events, cursor().events, copilot().events, openCode().events)
	return d
}
