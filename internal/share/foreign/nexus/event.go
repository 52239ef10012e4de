package nexus

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// lists are the lists of a context whose items are events of their own,
// in the order they are handed out.
var lists = []struct {
	name string
	fill func(*journal.HostEvent, bufferItem)
}{
	{"conversation", fillMessage},
	{"decisions", fillDecision},
	{"files", fillFile},
	{"tasks", fillTask},
	{"insights", fillInsight},
	{"errors", fillError},
	{"subagent_executions", fillSubagent},
	{"commands_run", fillCommand},
}

// bufferEntry is one entry on its way to become events.
type bufferEntry struct {
	*reader
	at      amber.Time
	session journal.Session
	owner   []string // whose entry it is, as the file says it
	place   string   // which entry of the session it is
	torn    bool
	same    map[string]int // how often an item was seen in this entry
}

// events hands out what an entry holds, or what is left of a torn one. Raw is
// valid JSON.
func (n *reader) events(raw []byte, torn bool) error {
	raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	fields, context := jsonFields(raw), map[string]json.RawMessage(nil)
	if fields != nil {
		context = jsonFields(fields["context"])
	}
	e := bufferEntry{reader: n, torn: torn, same: map[string]int{}}
	stamp := foreign.StringOf(fields["timestamp"])
	e.at = e.moment(stamp, e.moment(n.startedAt, amber.At(n.clock())))
	if e.place = "entry of " + stamp; stamp == "" {
		e.place = fmt.Sprintf("entry %d of %s", n.report.Entries, n.startedAt)
	}
	if err := e.findSession(context); err != nil {
		return err
	}
	for _, list := range lists {
		var items []json.RawMessage
		if json.Unmarshal(context[list.name], &items) != nil {
			continue // it stays with the rest of the entry
		}
		delete(context, list.name)
		for i, item := range items {
			if err := e.item(list.name, i, item, list.fill); err != nil {
				return err
			}
		}
	}
	return e.rest(fields, context, raw)
}

// findSession names the session of the entry. An agent that is no fit name for
// a host gets another.
func (e *bufferEntry) findSession(context map[string]json.RawMessage) error {
	host, id := e.agent, foreign.StringOf(context["session_id"])
	if own := foreign.StringOf(context["agent_type"]); own != "" {
		host = own
	}
	e.owner = []string{host, id}
	if amber.CheckID("session id", id) != nil {
		e.owner = append(e.owner, e.startedAt)
		id = "nexus-" + digestOf("session", host, e.startedAt, id)
	}
	if amber.CheckID("host", host) != nil {
		host = "nexus"
	}
	e.session = journal.Session{Host: journal.SafeID(e.redactor, host), ID: amber.SessionID(journal.SafeID(e.redactor, id))}
	return e.know(e.session)
}

// know counts the sessions of the file.
func (n *reader) know(s journal.Session) error {
	if n.sessions[s] {
		return nil
	}
	if len(n.sessions) == maxSessions {
		return amber.Errorf(amber.KindInvalid, "read buffer", "", "the buffer names more than %d sessions", maxSessions)
	}
	n.sessions[s] = true
	if !slices.Contains(n.report.Sessions, s.ID) {
		n.report.Sessions = append(n.report.Sessions, s.ID)
	}
	return nil
}

// bufferItem is an item of a list without secrets.
type bufferItem struct {
	raw    json.RawMessage
	fields map[string]json.RawMessage // nil where it is no object
	clean  *cleaner                   // removes what only decoded text shows
}

// text returns a field of the item, or the item itself for "", where that is
// text.
func (it bufferItem) text(field string) string {
	if field == "" {
		return it.clean.text(foreign.StringOf(it.raw))
	}
	return it.clean.text(foreign.StringOf(it.fields[field]))
}

// timeFields are what items call the time they happened, the latest first.
var timeFields = []string{"timestamp", "completed_at", "started_at"}

// item hands out one item of a list.
func (e bufferEntry) item(list string, index int, raw json.RawMessage, fill func(*journal.HostEvent, bufferItem)) error {
	ev := e.event(list)
	fields, stamp := jsonFields(raw), ""
	for _, f := range timeFields {
		if stamp = foreign.StringOf(fields[f]); stamp != "" {
			ev.NativeAt = e.moment(stamp, amber.Time{})
			ev.ObservedAt = e.moment(stamp, e.at)
			break
		}
	}
	clean := &cleaner{redactor: e.redactor}
	it := bufferItem{raw: clean.json(raw), clean: clean}
	it.fields = jsonFields(it.raw)
	ev.Raw = it.raw
	fill(&ev, it)
	ev.EventID = e.id(list, e.itemPlace(list, index, stamp, raw), raw)
	ev.Redactions = clean.report.Counts
	return e.hand(ev)
}

// itemPlace tells an item from others that say the same. Buffers repeat what
// earlier entries held: the same item of the same moment is the same event in
// whichever entry it is, and so is an insight, which is true at any time.
// Otherwise, without a time, only the place is left.
func (e bufferEntry) itemPlace(list string, index int, stamp string, raw []byte) string {
	switch {
	case list == "insights":
		return ""
	case stamp == "":
		return fmt.Sprintf("%s item %d", e.place, index)
	}
	content := list + "\x00" + stamp + "\x00" + string(raw)
	again := e.same[content]
	e.same[content]++
	return fmt.Sprintf("%s again %d", stamp, again)
}

// id identifies an event of the entry. It is made of what the file says, not
// of what is left without secrets: another rule for those makes no other event.
func (e bufferEntry) id(list, place string, raw []byte) string {
	return digestOf(append(slices.Clone(e.owner), "event", list, place, string(raw))...)
}

// rest hands out what is left of an entry once its lists are gone, so that
// nothing in it is lost. The rest of a torn entry has a name of its own: when
// the whole entry is found later, it does not replace that rest.
func (e bufferEntry) rest(fields, context map[string]json.RawMessage, raw []byte) error {
	if context != nil {
		var err error
		if fields["context"], err = json.Marshal(context); err != nil {
			return err
		}
		if raw, err = json.Marshal(fields); err != nil {
			return err
		}
	}
	name := "entry"
	if e.torn {
		name = "torn"
	}
	clean := &cleaner{redactor: e.redactor}
	ev := e.event(name)
	if t := oneWord(foreign.StringOf(fields["context_type"])); t != "" {
		ev.NativeEvent += "." + clean.text(t)
	}
	clean.report = redact.Report{} // the raw form has it, too
	ev.Raw = clean.json(raw)
	ev.EventID = e.id(name, e.place, raw)
	ev.Redactions = clean.report.Counts
	return e.hand(ev)
}

// event returns an event of the entry's session.
func (e bufferEntry) event(what string) journal.HostEvent {
	return journal.HostEvent{
		Schema: journal.HostEventSchema, Native: true, Host: e.session.Host, SessionID: e.session.ID,
		NativeEvent: "nexus." + what, Kind: journal.HostOther, ObservedAt: e.at,
	}
}

// hand hands out an event unless it was handed out before.
func (e bufferEntry) hand(ev journal.HostEvent) error {
	if e.seen[ev.EventID] {
		return nil
	}
	if len(e.seen) < maxSeen {
		e.seen[ev.EventID] = true
	}
	if err := fitPayload(&ev); err != nil {
		return err
	}
	e.report.Events++
	e.report.BytesCut += ev.Truncated
	return e.emit(ev)
}

// fitPayload cuts an event that does not fit into one entry of the journal.
func fitPayload(ev *journal.HostEvent) error {
	const spare = 64 // for what the cut itself adds
	for range 4 {
		b, err := json.Marshal(ev)
		over := len(b) - (journal.MaxPayload - spare)
		if err != nil || over <= 0 {
			return err
		}
		if ev.Raw != nil {
			ev.Truncated += int64(len(ev.Raw))
			ev.Raw = nil
			continue
		}
		long := longest(ev)
		kept := clip.Bytes(*long, len(*long)-over)
		ev.Truncated += int64(len(*long) - len(kept))
		*long = kept
	}
	return nil
}

// longest returns the longest text of an event.
func longest(ev *journal.HostEvent) *string {
	texts := []*string{&ev.Prompt, &ev.Answer, &ev.Message, &ev.SubagentType, &ev.Reason}
	if ev.Tool != nil {
		tool := *ev.Tool // the caller's own
		ev.Tool = &tool
		texts = append(texts, &ev.Tool.Command)
	}
	for i := range ev.Files {
		texts = append(texts, &ev.Files[i].Path)
	}
	for i := range ev.Tasks {
		texts = append(texts, &ev.Tasks[i].Text, &ev.Tasks[i].Status)
	}
	return slices.MaxFunc(texts, func(a, b *string) int { return len(*a) - len(*b) })
}

// moment reads a time, or returns other where the text is not a time that can be believed:
// before 1970, or later than a day from now.
func (e bufferEntry) moment(s string, other amber.Time) amber.Time {
	t, err := amber.ParseTime(s)
	if err != nil || t.UnixMilli() <= 0 || amber.At(e.clock().Add(24*time.Hour)).Before(t) {
		return other
	}
	return t
}

// digestOf returns 32 hex digits over parts, none of which can run into the
// next.
func digestOf(parts ...string) string {
	h := sha256.New()
	h.Write([]byte("amber nexus 1"))
	for _, p := range parts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(p))))
		h.Write([]byte(p))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// jsonFields returns the fields of a JSON object, else nil.
func jsonFields(raw json.RawMessage) map[string]json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	return fields
}

// oneWord returns s where it is a short name, else "".
func oneWord(s string) string {
	if len(s) > 64 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.") != "" {
		return ""
	}
	return s
}
