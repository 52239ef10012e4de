// Package nexus reads the crash buffer of nexus-memory-hooks, one JSON file for
// each agent, and what it could not store, one JSON file for each event, and
// brings them into the journal. A file may be cut off or damaged anywhere.
package nexus

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Bounds of what is read of a buffer file.
const (
	maxFile     = 128 << 20
	maxEntry    = 32 << 20 // bytes of one entry
	maxField    = 64 << 10 // bytes of a field beside the entries
	maxSessions = 1000
	maxSeen     = 1 << 18 // events that are remembered, to hand out each once
)

// Report says what a buffer file held.
type Report struct {
	Entries     int               `json:"entries"`      // that begin in the file
	Salvaged    int               `json:"salvaged"`     // that are whole
	Partial     int               `json:"partial"`      // that are torn or damaged, the part before that salvaged
	Events      int               `json:"events"`       // handed out
	Truncated   bool              `json:"truncated"`    // the file ends early, or damage hides its end
	BytesUnread int64             `json:"bytes_unread"` // of entries that are not whole, and in places that make no sense
	BytesCut    int64             `json:"bytes_cut"`    // left out of events that are too long for one entry
	Sessions    []amber.SessionID `json:"session_ids"`  // in the order they appear
}

// Options say how a buffer file is read.
type Options struct {
	Clock  amber.Clock      // required; for what has no time of its own
	Redact *redact.Redactor // nil: one of its own; it is costly to make
	// Project is the project that everything in the file belongs to: a buffer names none. "" is none, and then what was
	// recovered is found in its session alone.
	Project string
}

// Read reads the buffer file of nexus-memory-hooks and calls emit for
// every event in it, in order, each once. The file may be cut off anywhere and
// be damaged: every entry that is whole is handed out, also behind the damage,
// and of one that is not what comes before. The same file always gives the
// same events with the same native ids, and its beginning the beginning of
// them. Secrets are removed; the ids do not depend on which.
//
// Every message, decision, file, task, insight, error, subagent and command is
// an event of its own; what is left of an entry, its custom fields say, is one
// more. Nothing is summed up or counted instead of being kept.
//
// Errors: those of emit and of r; invalid when it is no such file.
func Read(r io.Reader, o Options, emit func(journal.HostEvent) error) (Report, error) {
	if o.Clock == nil {
		return Report{}, amber.Errorf(amber.KindInvalid, "read buffer", "", "a clock is required")
	}
	if err := amber.CheckID("project id", o.Project); err != nil && o.Project != "" {
		return Report{}, err
	}
	if o.Redact == nil {
		o.Redact = redact.New()
	}
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return Report{}, err
	}
	if len(b) > maxFile {
		return Report{}, amber.Errorf(amber.KindQuota, "read buffer", "", "the file has more than %d bytes", maxFile)
	}
	n := &reader{
		scan: scanner{b: b}, clock: o.Clock, emit: func(ev journal.HostEvent) error { ev.Project = o.Project; return emit(ev) }, redactor: o.Redact,
		sessions: map[journal.Session]bool{}, seen: map[string]bool{},
		report: Report{Sessions: []amber.SessionID{}},
	}
	if isRetry(b[:min(len(b), headBytes)]) {
		err := n.retry(b)
		return n.report, err
	}
	if err = n.read(); errors.Is(err, errNexusEnd) {
		n.report.Truncated = true
		err = nil
	}
	return n.report, err
}

// reader reads one buffer file.
type reader struct {
	scan     scanner
	clock    amber.Clock
	emit     func(journal.HostEvent) error
	redactor *redact.Redactor
	report   Report
	sessions map[journal.Session]bool
	seen     map[string]bool // ids of events

	// State of the file as read so far. Nothing behind an entry changes it,
	// because the text behind an entry may be cut off next time.
	agent, startedAt string
	found            bool  // the entries have begun
	other            error // why it is no buffer file, unless entries are found
}

var (
	// errNexusEnd is the end of a file in the middle of it.
	errNexusEnd = errors.New("the file ends early")
	// errNexusLost is a place in a file that makes no sense.
	errNexusLost = errors.New("the file is damaged")
)

func errNotBuffer(why string) error {
	return amber.Errorf(amber.KindInvalid, "read buffer", "", "the file is not a buffer of nexus-memory-hooks: %s", why)
}

// read reads the file, and goes on behind every place that makes no sense.
func (n *reader) read() error {
	err := n.object()
	for errors.Is(err, errNexusLost) {
		err = n.resume()
	}
	return err
}

// object reads the object that the file is.
func (n *reader) object() error {
	if !n.scan.skip("\xef\xbb\xbf \t\r\n") {
		return errNexusEnd
	}
	if !n.scan.take('{') {
		return n.lost("file does not begin with an object")
	}
	return n.fields()
}

// resume goes on with the next entry there is.
func (n *reader) resume() error {
	skipped, found := n.scan.seek()
	n.report.BytesUnread += int64(skipped)
	if !found {
		return n.giveUp()
	}
	n.found = true
	if err := n.list(); err != nil {
		return err
	}
	return n.fields()
}

// giveUp counts everything that is left as unread.
func (n *reader) giveUp() error {
	n.report.BytesUnread += int64(len(n.scan.rest()))
	if !n.found && n.other != nil {
		return n.other
	}
	return errNexusEnd
}

// lost is the error of a place that makes no sense. Where no entries are found
// behind it either it was no buffer file.
func (n *reader) lost(why string) error {
	if n.other == nil {
		n.other = errNotBuffer(why)
	}
	return errNexusLost
}

// fields reads the fields of the object to its end.
func (n *reader) fields() error {
	for {
		if !n.scan.skip(" \t\r\n,") {
			return errNexusEnd
		}
		if n.scan.take('}') {
			return n.end()
		}
		if err := n.field(); err != nil {
			return err
		}
	}
}

// end checks that nothing comes behind the object.
func (n *reader) end() error {
	switch {
	case n.scan.skip(" \t\r\n"):
		return n.lost("file has no entries") // a bracket too many: there may be some behind it
	case !n.found:
		return errNotBuffer("file has no entries")
	}
	return nil
}

// field reads one field. Nothing is passed over before all of it is there:
// where it is damaged, entries are looked for in it.
func (n *reader) field() error {
	key, at, err := n.key()
	if err != nil {
		return err
	}
	if key == "entries" {
		return n.entries(at)
	}
	raw, verdict := n.scan.value(at, maxField)
	switch {
	case verdict == nexusTorn:
		return errNexusLost
	case verdict != nexusWhole || !n.scan.follows(at+len(raw), ",}") || !json.Valid(raw):
		return n.lost("the field " + key[:min(len(key), 40)] + " is damaged")
	case holdsEntry(raw):
		return n.lost("the name of its entries is damaged")
	case key == "agent_type":
		n.agent = foreign.StringOf(raw)
	case key == "started_at":
		n.startedAt = foreign.StringOf(raw)
	}
	n.scan.at += at + len(raw)
	return nil
}

// key reads the name of a field and returns where its value begins.
func (n *reader) key() (key string, at int, err error) {
	raw, verdict := n.scan.value(0, maxField)
	switch {
	case verdict == nexusTorn:
		return "", 0, errNexusLost
	case verdict != nexusWhole || json.Unmarshal(raw, &key) != nil:
		return "", 0, n.lost("a field has no name")
	}
	at = n.scan.behind(len(raw), " \t\r\n")
	switch c, there := n.scan.peek(at); {
	case !there:
		return "", 0, errNexusLost
	case c != ':':
		return "", 0, n.lost("a field has no value")
	}
	return key, n.scan.behind(at+1, " \t\r\n"), nil
}

// entries reads the list of entries that begins at bytes from here.
func (n *reader) entries(at int) error {
	switch c, there := n.scan.peek(at); {
	case !there:
		return errNexusLost
	case c != '[':
		return n.lost("entries is not a list")
	}
	n.scan.at += at + 1
	n.found = true
	return n.list()
}

// list reads entries up to the end of their list.
func (n *reader) list() error {
	for {
		if !n.scan.skip(" \t\r\n,") {
			return errNexusEnd
		}
		if n.scan.take(']') {
			return nil
		}
		if err := n.entry(); err != nil {
			return err
		}
	}
}

// entry reads the entry that begins here.
func (n *reader) entry() error {
	raw, verdict := n.scan.value(0, maxEntry)
	if verdict == nexusWhole && json.Valid(raw) {
		if err := n.whole(raw); !errors.Is(err, errNexusLost) {
			return err
		}
	} else if len(raw) > 0 && raw[0] == '{' {
		n.report.Entries++
		if part, ok := salvage(raw); ok {
			n.report.Partial++
			if err := n.events(part, true); err != nil {
				return err
			}
		}
	}
	n.scan.work += len(raw)
	n.scan.at++
	n.report.BytesUnread++
	return errNexusLost
}

// whole hands out the value that lies here. A value that looks like no entry,
// and is followed by nothing that follows an entry, is a piece of another entry.
func (n *reader) whole(raw []byte) error {
	if !n.scan.follows(len(raw), ",]") && !isEntry(raw) {
		return errNexusLost
	}
	n.report.Entries++
	n.report.Salvaged++
	if err := n.events(raw, false); err != nil {
		return err
	}
	n.scan.at += len(raw)
	return nil
}

// isEntry reports whether a JSON value looks like an entry.
func isEntry(raw []byte) bool {
	fields := jsonFields(raw)
	return jsonFields(fields["context"]) != nil && (fields["timestamp"] != nil || fields["context_type"] != nil)
}
