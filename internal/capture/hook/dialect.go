package hook

import (
	"strings"

	"github.com/amber-memory/amber/internal/capture/journal"
)

// dialect is how a host talks. Members of payloads that mean the same in all
// dialects are in draft.go.
type dialect struct {
	host    Host
	aliases []string
	names   []string // members that name the event; nil: the usual ones
	session []string // members that name the session; nil: the usual ones
	events  []event
	also    map[string]string // other names of events, by their folded form
	fill    func(*draft)      // reads what only this host says; may be nil
	reply   form              // how context is answered
	// transcript is where the words of a turn are that a payload leaves out; may
	// be nil.
	transcript *transcript
}

// event is what a host calls something that happens.
type event struct {
	name    string
	kind    journal.EventKind
	context bool // context in the answer reaches the agent
}

// dialectOf returns the dialect of a host, the generic one for an unknown host.
func dialectOf(host Host) dialect {
	switch host {
	case ClaudeCode:
		return claudeCode()
	case Codex:
		return codex()
	case Gemini:
		return gemini()
	case Cursor:
		return cursor()
	case Copilot:
		return copilot()
	case VSCode:
		return vsCode()
	case OpenCode:
		return openCode()
	case Droid:
		return droid()
	}
	return generic()
}

// recognize returns the dialect of a payload. Cursor also runs the hooks in the
// settings of other hosts, with payloads of its own; so do Copilot CLI and VS Code,
// which read the same files.
func recognize(in Input, payload value) dialect {
	if in.Host != Generic && isCursor(payload) {
		return cursor()
	}
	if h := isCopilotOrVSCode(in, payload); h != "" {
		return dialectOf(h)
	}
	return dialectOf(in.Host)
}

func (d dialect) nameFields() []string {
	if d.names != nil {
		return d.names
	}
	return []string{"hook_event_name", "hookEventName"}
}

func (d dialect) sessionFields() []string {
	if d.session != nil {
		return d.session
	}
	return []string{"session_id", "sessionId"}
}

// event returns the event called name. A name that differs in case or
// separators is the same one. An unknown event is other.
func (d dialect) event(name string) event {
	folded := fold(name)
	if known := d.also[folded]; known != "" {
		folded = fold(known)
	}
	for _, e := range d.events {
		if fold(e.name) == folded {
			return e
		}
	}
	return event{name: name, kind: journal.HostOther}
}

// fold returns a name in lower case and without separators.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("-_.: ", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
}
