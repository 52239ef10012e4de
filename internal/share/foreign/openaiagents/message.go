package openaiagents

import (
	"bytes"
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// messages calls take with each message that says something.
func (r *reader) messages(ctx context.Context, skip func(foreign.Place, string), take func(session string, t foreign.Turn)) error {
	seen := map[[16]byte]int{}      // how often each session has each message
	last := map[string]amber.Time{} // of each session
	return r.rows(ctx, r.store.messages, func(row foreign.Row) error {
		session, data := row.Text("session_id"), row.Text("message_data")
		digest := foreign.Hex(foreign.Digest(data))
		sum := foreign.Digest(session, digest)
		id := [16]byte(sum[:16])
		before := seen[id]
		seen[id]++
		if r.aside[row.Text("id")] {
			return nil
		}
		place := r.place(r.store.messages, row)
		t, why := r.turn(session, []byte(data))
		if why == "" && t.Role != "" {
			t.At, why = r.time(row.Text("created_at"), session, last)
		}
		switch {
		case why != "":
			skip(place, why)
		case t.Role != "":
			t.Place, t.Key = place, foreign.Key{session, digest, strconv.Itoa(before)}
			take(session, t)
		}
		return nil
	})
}

// time returns when a message was said. One without a time is as old as the one before it, as its session, or as the file.
func (r *reader) time(text, session string, last map[string]amber.Time) (at amber.Time, why string) {
	if text != "" {
		at, err := foreign.Text(text)
		if err != nil {
			return at, "created_at: " + err.Error()
		}
		last[session] = at
	}
	at = last[session]
	if f := r.sessions[session]; f != nil {
		at = cmp.Or(at, f.started)
	}
	return cmp.Or(at, r.file.ModifiedAt()), ""
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
	return r.messages(ctx, skip, func(session string, t foreign.Turn) {
		f := r.facts(session)
		if f == nil {
			skip(t.Place, "the database has more than "+strconv.Itoa(maxSessions)+" sessions, the limit")
			return
		}
		f.turns++
		f.size += len(t.Content)
		f.state = t.Key[1]
		f.said.Add(t.At)
		if f.name == "" && t.Role == amber.RoleUser {
			f.name = t.Content[:min(len(t.Content), maxName)]
		}
	})
}

// giveOut gives out the conversations, in several passes over the table if they are large. The file has the same rows in each, or the
// error says that it was written to.
func (r *reader) giveOut(ctx context.Context) error {
	sizes := map[string]int{}
	for session, f := range r.sessions {
		if f.turns > 0 {
			sizes[session] = f.size
		}
	}
	collect := func(held map[string][]foreign.Turn) error {
		return r.messages(ctx, func(foreign.Place, string) {}, func(session string, t foreign.Turn) {
			if turns, wanted := held[session]; wanted {
				held[session] = append(turns, t)
			}
		})
	}
	return foreign.Gather(sizes, maxHeld, collect, func(session string, turns []foreign.Turn) error {
		at := foreign.Place{File: r.file.Name, At: "session " + session}
		return foreign.Tell(r.to, r.session(session, r.sessions[session], at), turns)
	})
}
