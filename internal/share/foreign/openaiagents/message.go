package openaiagents

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// walk goes over the messages, session by session.
type walk struct {
	r       *reader
	begun   bool
	session string
	at      amber.Time     // of the last message that has one
	seen    map[string]int // digests of the session
	skip    func(foreign.Place, string)
	take    func(session string, t foreign.Turn) error
}

// messages calls take with each message that says something.
func (r *reader) messages(ctx context.Context, skip func(foreign.Place, string), take func(session string, t foreign.Turn) error) error {
	w := &walk{r: r, seen: map[string]int{}, skip: skip, take: take}
	return r.rows(ctx, r.store.messages, "session_id", w.row)
}

func (w *walk) row(row foreign.Row) error {
	w.enter(row.Text("session_id"))
	data := row.Text("message_data")
	digest := foreign.Hex(foreign.Digest(data))
	before := w.seen[digest]
	w.seen[digest]++
	if w.r.aside[row.Text("id")] {
		return nil
	}
	place := w.r.place(w.r.store.messages, row)
	t, why := w.r.turn(w.session, []byte(data))
	if why == "" && t.Role != "" {
		why = w.time(row.Text("created_at"))
	}
	switch {
	case why != "":
		w.skip(place, why)
		return nil
	case t.Role == "":
		return nil
	}
	t.Place, t.At, t.Key = place, w.at, foreign.Key{w.session, digest, strconv.Itoa(before)}
	return w.take(w.session, t)
}

// enter begins a session. Its first message without a time is as old as the session, or as the file.
func (w *walk) enter(session string) {
	if w.begun && session == w.session {
		return
	}
	w.session, w.begun = session, true
	w.at = w.r.file.ModifiedAt()
	if f := w.r.sessions[session]; f != nil && !f.started.IsZero() {
		w.at = f.started
	}
	clear(w.seen)
}

func (w *walk) time(text string) (why string) {
	if text == "" {
		return ""
	}
	at, err := foreign.Text(text)
	if err != nil {
		return "created_at: " + err.Error()
	}
	w.at = at
	return ""
}

// turn returns what an item says, without a role where that is nothing; why tells that it cannot be read.
func (r *reader) turn(session string, data []byte) (t foreign.Turn, why string) {
	if bytes.Contains(data, []byte(`"__enc__"`)) {
		if o, err := foreign.ParseObject(data); err == nil && o.Text("__enc__") != "" {
			return t, "the message is encrypted, and its key is not here"
		}
	}
	it, err := foreign.ParseItem(data)
	if err != nil {
		return t, "message_data " + err.Error()
	}
	switch {
	case it.Type == "message":
		t.Content = it.Text()
		t.Role = roles[it.Role]
	case it.Call != nil:
		call := *it.Call
		call.Output, call.Failed = r.failed[session+"\x00"+it.CallID], false
		_, call.Failed = r.failed[session+"\x00"+it.CallID]
		t.Role, t.Activity = amber.RoleAssistant, call.Activity()
	case it.Output != "":
		t.Role, t.Content = amber.RoleTool, it.Output
		if it.Failed && len(r.failed) < maxFailed {
			r.failed[session+"\x00"+it.CallID] = it.Output[:min(len(it.Output), maxSaid)]
		}
	}
	if strings.TrimSpace(t.Content) == "" && len(t.Activity) == 0 {
		t.Role = ""
	}
	return t, ""
}

// roles are those whose messages are kept. The role developer is not among them: its messages are the program's.
var roles = map[string]amber.Role{
	"user": amber.RoleUser, "assistant": amber.RoleAssistant, "system": amber.RoleSystem, "tool": amber.RoleTool,
}

// count is the first pass.
func (r *reader) count(ctx context.Context) error {
	skip := func(at foreign.Place, why string) { r.to.Skip(at, "%s", why) }
	return r.messages(ctx, skip, func(session string, t foreign.Turn) error {
		f := r.facts(session)
		if f == nil {
			skip(t.Place, "the database has more than "+strconv.Itoa(maxSessions)+" sessions, the limit")
			return nil
		}
		f.turns++
		f.state = t.Key[1]
		f.said.Add(t.At)
		if f.name == "" && t.Role == amber.RoleUser {
			f.name = t.Content[:min(len(t.Content), maxName)]
		}
		return nil
	})
}

// giveOut is the second pass. The file has the same rows in both, or the error says that it was written to.
func (r *reader) giveOut(ctx context.Context) error {
	last, begun, want := "", false, false
	return r.messages(ctx, func(foreign.Place, string) {}, func(session string, t foreign.Turn) (err error) {
		f := r.sessions[session]
		if f == nil {
			return nil
		}
		if !begun || session != last {
			last, begun = session, true
			if want, err = r.to.Session(r.session(session, f, foreign.Place{File: r.file.Name, At: "session " + session})); err != nil {
				return err
			}
		}
		if !want {
			return nil
		}
		return r.to.Turn(t)
	})
}
