package hook

import (
	"strings"

	"github.com/amber-memory/amber/internal/capture/journal"
)

// form is how a host wants to be answered.
type form uint8

const (
	none     form = iota // not at all
	specific             // {"hookSpecificOutput":{"hookEventName":…,"additionalContext":…}}
	snake                // {"additional_context":…}
	bare                 // {"context":…}
	top                  // {"additionalContext":…}
)

// WantsContext reports whether context in the answer to an event reaches the
// agent.
func WantsContext(ev journal.HostEvent) bool {
	d := dialectOf(Host(ev.Host))
	return d.reply != none && d.event(ev.NativeEvent).context && ev.ParentSession == "" &&
		(ev.Kind == journal.HostSessionStart || ev.Kind == journal.HostPrompt || ev.Kind == journal.HostCompactAfter)
}

// Reply returns what the host of an event is to be answered, all of it: nothing,
// unless there is context and the host takes it here. Hosts go on when they are
// answered nothing.
func Reply(ev journal.HostEvent, context string) []byte {
	if strings.TrimSpace(context) == "" || !WantsContext(ev) {
		return nil
	}
	d := dialectOf(Host(ev.Host))
	said := textValue(context)
	var answer value
	switch d.reply {
	case specific:
		name := textValue(d.event(ev.NativeEvent).name)
		inner := newObject([]string{"hookEventName", "additionalContext"}, []value{name, said})
		answer = newObject([]string{"hookSpecificOutput"}, []value{inner})
	case snake:
		answer = newObject([]string{"additional_context"}, []value{said})
	case top:
		answer = newObject([]string{"additionalContext"}, []value{said})
	case bare:
		answer = newObject([]string{"context"}, []value{said})
	}
	return append(answer.appendJSON(nil), '\n')
}
