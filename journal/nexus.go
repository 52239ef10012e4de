package journal

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/redact"
)

// Bounds of what is read of a buffer file.
const (
	maxNexusEntry    = 32 << 20 // bytes of one entry
	maxNexusField    = 64 << 10 // bytes of a field beside the entries
	maxNexusSessions = 1000
	maxNexusSeen     = 1 << 18 // events that are remembered, to hand out each once
)

// NexusReport says what a buffer file held.
type NexusReport struct {
	Entries     int               `json:"entries"`      // that begin in the file
	Salvaged    int               `json:"salvaged"`     // that are whole
	Partial     int               `json:"partial"`      // that are torn or damaged, the part before that salvaged
	Events      int               `json:"events"`       // handed out
	Truncated   bool              `json:"truncated"`    // the file ends early
	BytesUnread int64             `json:"bytes_unread"` // of entries that are not whole, and in places that make no sense
	BytesCut    int64             `json:"bytes_cut"`    // left out of events that are too long for one entry
	Sessions    []amber.SessionID `json:"session_ids"`  // in the order they appear
}

// NexusOptions say how a buffer file is read.
type NexusOptions struct {
	Clock  amber.Clock      // required; for what has no time of its own
	Redact *redact.Redactor // nil: one of its own; it is costly to make
}

// ReadNexus reads the buffer file of nexus-memory-hooks and calls emit for
// every event in it, in order, each once. The file may be cut off anywhere and
// be damaged: whatever is whole is handed out. The same file always gives the
// same events with the same native ids, and its beginning the beginning of
// them. Secrets are removed.
//
// Every message, decision, file, task, insight, error, subagent and command is
// an event of its own; what is left of an entry, its custom fields say, is one
// more. Nothing is summed up or counted instead of being kept.
//
// Errors: those of emit and of r; invalid when it is no such file.
func ReadNexus(r io.Reader, o NexusOptions, emit func(amber.HostEvent) error) (NexusReport, error) {
	if o.Clock == nil {
		return NexusReport{}, amber.Errorf(amber.KindInvalid, "read buffer", "", "a clock is required")
	}
	if o.Redact == nil {
		o.Redact = redact.New()
	}
	n := &nexus{
		scan: nexusScan{r: r}, clock: o.Clock, emit: emit, redactor: o.Redact,
		sessions: map[Session]bool{}, seen: map[string]bool{},
		report: NexusReport{Sessions: []amber.SessionID{}},
	}
	err := n.read()
	if errors.Is(err, errNexusEnd) {
		n.report.Truncated = true
		err = nil
	}
	return n.report, err
}

// nexus reads one buffer file.
type nexus struct {
	scan     nexusScan
	clock    amber.Clock
	emit     func(amber.HostEvent) error
	redactor *redact.Redactor
	report   NexusReport
	sessions map[Session]bool
	seen     map[string]bool // ids of events

	// What the file has said so far. Nothing behind an entry has a say in it:
	// what is behind may be cut off next time.
	agent, startedAt string
	found            bool // the entries have begun
}

var (
	// errNexusEnd is the end of a file in the middle of it.
	errNexusEnd = errors.New("the file ends early")
	// errNexusLost is a place in a file that makes no sense.
	errNexusLost = errors.New("the file is damaged")
)

func errNotNexus(why string) error {
	return amber.Errorf(amber.KindInvalid, "read buffer", "", "it is no buffer of nexus-memory-hooks: "+why)
}

// read reads the object that the file is.
func (n *nexus) read() error {
	s := &n.scan
	if err := s.skip("\xef\xbb\xbf \t\r\n"); err != nil {
		return err
	}
	switch ok, err := s.take('{'); {
	case err != nil:
		return err
	case !ok:
		return errNotNexus("it does not begin with an object")
	}
	err := n.fields()
	for errors.Is(err, errNexusLost) {
		err = n.resume()
	}
	return err
}

// fields reads the fields of the object to its end.
func (n *nexus) fields() error {
	s := &n.scan
	for {
		if err := s.skip(" \t\r\n,"); err != nil {
			return err
		}
		switch done, err := s.take('}'); {
		case err != nil:
			return err
		case done:
			return n.end()
		}
		key, err := n.key()
		if err != nil {
			return err
		}
		read := n.field
		if key == "entries" {
			read = n.entries
		}
		if err := read(key); err != nil {
			return err
		}
	}
}

// end checks that nothing comes behind the object.
func (n *nexus) end() error {
	if !n.found {
		return errNotNexus("it has no entries")
	}
	if err := n.scan.skip(" \t\r\n"); errors.Is(err, errNexusEnd) {
		return nil
	} else if err != nil {
		return err
	}
	return errNexusLost // a bracket too many: there may be entries behind it
}

// resume goes on with the next entry there is.
func (n *nexus) resume() error {
	n.scan.work += maxNexusField
	if len(n.scan.mark) == 0 || n.scan.work > maxNexusWork {
		return n.giveUp()
	}
	skipped, found, err := n.scan.seek()
	n.report.BytesUnread += skipped
	switch {
	case err != nil:
		return err
	case !found:
		return n.giveUp()
	}
	if err := n.list(); err != nil {
		return err
	}
	return n.fields()
}

// key reads the name of a field and the colon behind it.
func (n *nexus) key() (string, error) {
	raw, verdict, err := n.scan.value(maxNexusField)
	if err != nil {
		return "", err
	}
	var key string
	if verdict == nexusTorn {
		return "", n.giveUp()
	}
	if verdict != nexusWhole || json.Unmarshal(raw, &key) != nil {
		return "", n.lost("a field has no name")
	}
	n.scan.advance(len(raw))
	if err := n.scan.skip(" \t\r\n:"); err != nil {
		return "", err
	}
	return key, nil
}

// field reads a field beside the entries.
func (n *nexus) field(key string) error {
	raw, verdict, err := n.scan.value(maxNexusField)
	switch {
	case err != nil:
		return err
	case verdict == nexusTorn:
		return n.giveUp()
	case verdict != nexusWhole:
		return n.lost("the field " + key[:min(len(key), 40)] + " is damaged")
	}
	switch key {
	case "agent_type":
		n.agent = jsonText(raw)
	case "started_at":
		n.startedAt = jsonText(raw)
	}
	n.scan.advance(len(raw))
	return nil
}

// lost is the error of a place that makes no sense. Before the entries it is
// no buffer file.
func (n *nexus) lost(why string) error {
	if !n.found {
		return errNotNexus(why)
	}
	return errNexusLost
}

// giveUp counts everything that is left as unread.
func (n *nexus) giveUp() error {
	left, err := n.scan.drain()
	n.report.BytesUnread += left
	if err != nil {
		return err
	}
	return errNexusEnd
}

// entries reads the list of entries.
func (n *nexus) entries(string) error {
	s := &n.scan
	switch ok, err := s.take('['); {
	case err != nil:
		return err
	case !ok:
		return n.lost("its entries are no list")
	}
	n.found = true
	return n.list()
}

// list reads entries up to the end of their list.
func (n *nexus) list() error {
	s := &n.scan
	for {
		if err := s.skip(" \t\r\n,"); err != nil {
			return err
		}
		if done, err := s.take(']'); done || err != nil {
			return err
		}
		if err := n.entry(); err != nil {
			return err
		}
	}
}

// entry reads the entry that begins here, or finds the next one behind it.
func (n *nexus) entry() error {
	index := n.report.Entries
	n.report.Entries++
	n.scan.learn()
	raw, verdict, err := n.scan.value(maxNexusEntry)
	if err != nil {
		return err
	}
	if verdict == nexusWhole && len(raw) > 0 && json.Valid(raw) {
		n.report.Salvaged++
		if err := n.events(index, raw); err != nil {
			return err
		}
		n.scan.advance(len(raw))
		return nil
	}
	if part, ok := closeTorn(raw); ok && verdict != nexusWhole && json.Valid(part) {
		n.report.Partial++
		if err := n.events(index, part); err != nil {
			return err
		}
	}
	skipped, found, err := n.scan.resync(len(raw), verdict == nexusWhole && len(raw) > 0)
	n.report.BytesUnread += skipped
	if found || err != nil {
		return err
	}
	return n.giveUp()
}
