package gemini

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Bounds of what is remembered of a chat.
const (
	maxMessages = 1 << 20
	maxPrompt   = 200      // bytes of a prompt that may become a name
	maxHeld     = 64 << 20 // bytes of turns that wait for one before them
)

// place is where a message is written: a line, and which of the messages of the line.
type place struct {
	line  int64
	index int
}

func (p place) String() string {
	switch {
	case p.index == 0:
		return fmt.Sprintf("line %d", p.line)
	case p.line == 0: // a document of the older form
		return fmt.Sprintf("message %d", p.index)
	}
	return fmt.Sprintf("line %d, message %d", p.line, p.index)
}

// entry is what the first pass keeps of a message.
type entry struct {
	id     string
	at     place
	time   amber.Time
	bad    string // why the time is not to be believed
	prompt string
	turns  bool // there is something to give out
}

// visitor takes the records of a chat.
type visitor interface {
	message(at place, o foreign.Object) error
	set(at place, o foreign.Object) error
	rewind(id string)
}

// log applies the records of a chat: what remains, where it is written.
type log struct {
	file    foreign.File
	meta    foreign.Object
	entries []entry
	byID    map[string]int
	full    bool
	skip    foreign.SkipFunc
}

func newLog(f foreign.File, skip foreign.SkipFunc) *log {
	return &log{file: f, meta: foreign.Object{}, byID: map[string]int{}, skip: skip}
}

// message takes a message. Where a message comes again, its last version counts, at the place of the first.
func (l *log) message(at place, o foreign.Object) error {
	id := o.Text("id")
	e := entry{id: id, at: at}
	t := turn(o, "")
	e.turns = t.Content != "" || len(t.Activity) > 0
	if t.Role == amber.RoleUser {
		e.prompt = t.Content[:min(len(t.Content), maxPrompt)]
	}
	if text := o.Text("timestamp"); text != "" {
		moment, err := foreign.Text(text)
		if e.time = moment; err != nil {
			e.bad = err.Error()
		}
	}
	if i, twice := l.byID[id]; twice {
		l.entries[i] = e
		return nil
	}
	if len(l.entries) == maxMessages {
		if !l.full {
			l.skip(l.file.Place(at.String()), "the chat has more than %d messages, the limit", maxMessages)
		}
		l.full = true
		return nil
	}
	l.byID[id] = len(l.entries)
	l.entries = append(l.entries, e)
	return nil
}

// set changes metadata; with messages it replaces all of them.
func (l *log) set(at place, o foreign.Object) error {
	for name, v := range o {
		if name != "messages" {
			l.meta[name] = v
		}
	}
	if _, ok := o["messages"]; ok {
		l.cut(0)
	}
	return eachMessage(l, at, o)
}

// eachMessage visits the messages of one record.
func eachMessage(v visitor, at place, o foreign.Object) error {
	for i, m := range o.List("messages") {
		if m, ok := m.(map[string]any); ok && foreign.Object(m).Text("id") != "" {
			if err := v.message(place{at.line, i + 1}, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// rewind removes a message and all behind it; everything, if there is no such message.
func (l *log) rewind(id string) { l.cut(l.byID[id]) }

func (l *log) cut(from int) {
	for _, e := range l.entries[from:] {
		delete(l.byID, e.id)
	}
	l.entries = l.entries[:from]
}

// settle gives every message a time, and drops those that say nothing or whose time is not to be believed.
func (l *log) settle() {
	at := l.file.ModifiedAt()
	if started, err := foreign.Text(l.meta.Text("startTime")); err == nil {
		at = started
	}
	kept := l.entries[:0]
	for _, e := range l.entries {
		if e.turns && e.bad != "" {
			l.skip(l.file.Place(e.at.String()), "%s", e.bad)
		}
		if !e.turns || e.bad != "" {
			continue
		}
		if e.time.IsZero() {
			e.time = at
		}
		at = e.time
		kept = append(kept, e)
	}
	l.entries = kept
}

// describe sets what a session has of its messages.
func (l *log) describe(s *foreign.Session) {
	s.Turns = int64(len(l.entries))
	var said foreign.Span
	for _, e := range l.entries {
		said.Add(e.time)
		s.Name = cmp.Or(s.Name, e.prompt)
	}
	s.StartedAt, s.EndedAt = said.First, said.Last
	if at, err := foreign.Text(l.meta.Text("startTime")); err == nil && at.Before(s.StartedAt) {
		s.StartedAt = at
	}
}

func (l *log) state() string {
	last := ""
	if n := len(l.entries); n > 0 {
		last = l.entries[n-1].id
	}
	return last + " " + strconv.FormatInt(l.file.Size, 10)
}
