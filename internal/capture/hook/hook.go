package hook

import (
	"io"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/guard/redact"
)

// Host names an agent host.
type Host string

// The hosts.
const (
	ClaudeCode Host = "claude-code"
	Codex      Host = "codex"
	Gemini     Host = "gemini"
	Cursor     Host = "cursor"
	Copilot    Host = "copilot"
	VSCode     Host = "vscode"
	OpenCode   Host = "opencode"
	Droid      Host = "droid"
	Generic    Host = "generic" // anything else; all names of events are understood
)

// Hosts returns all hosts, in the order in which they are listed to people.
func Hosts() []Host {
	return []Host{ClaudeCode, Codex, Gemini, Cursor, Copilot, VSCode, OpenCode, Droid, Generic}
}

// ParseHost returns the host with a name, which may be another one that people
// use. The error is of kind invalid and lists the hosts.
func ParseHost(name string) (Host, error) {
	var known []string
	for _, h := range Hosts() {
		for _, alias := range append(dialectOf(h).aliases, string(h)) {
			if fold(alias) == fold(name) {
				return h, nil
			}
		}
		known = append(known, string(h))
	}
	return "", amber.Errorf(amber.KindInvalid, "parse host", "",
		"unknown host %q, want one of %s", clip.Bytes(strings.ToValidUTF8(name, ""), 40), strings.Join(known, ", "))
}

// Input is what one hook process was told.
type Input struct {
	Host  Host
	Event string // the event's name, for payloads that do not say it
	// Payload is read up to the end of the JSON value in it, so that a host that
	// keeps its end open is not waited for. nil: nothing was given.
	Payload   io.Reader
	At        amber.Time              // now
	Directory string                  // of the process; used when the payload names none
	Process   amber.HostProcess       // of the host; may be zero
	Project   func(dir string) string // the project of a directory; may be nil
	Redact    *redact.Redactor        // nil: a new one
	Files     *Files                  // of hosts; nil: they are not looked at
}

// Read returns the event that the payload is about, without secrets. It never
// fails. It blocks as long as the payload does, and as [Files] says.
func Read(in Input) journal.HostEvent {
	p := scan(in.Payload)
	p.value = cutContext(p.value)
	c := newCleaner(in.Redact)
	d := &draft{in: in, clean: c, raw: p.value, value: c.value(p.value), taken: map[string]bool{}}
	d.dialect = recognize(in, p.value)
	d.ev = journal.HostEvent{
		Schema:     journal.HostEventSchema,
		Host:       string(d.dialect.host),
		ObservedAt: in.At,
		Process:    in.Process,
	}
	d.nameEvent(p.broken)
	d.fillPlace()
	if p.broken {
		d.ev.Raw = appendString(nil, c.head(p))
	} else {
		d.fillContent()
		d.fillFromTranscript()
		d.fillRaw()
	}
	d.identify()
	d.ev.Redactions = c.report.Counts
	d.ev.Truncated = p.lost + c.lost
	return d.ev
}
