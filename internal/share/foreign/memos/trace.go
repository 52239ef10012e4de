package memos

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

const (
	maxHeld = 64 << 20 // bytes of conversations that are held at once, unless one alone has more
	maxName = 200
)

// talk is a conversation: the traces of a session.
type talk struct {
	size   int
	latest string // id
	last   amber.Time
}

// trace returns what a trace says: a prompt and its answer.
func (r *reader) trace(o foreign.Object) (turns []foreign.Turn, why string) {
	at := r.file.ModifiedAt()
	if ms, ok := o.Number("ts"); ok {
		var err error
		if math.Abs(ms) > 1e15 {
			return nil, "ts: time is " + o.Text("ts") + ", want milliseconds from 1990 to 2099"
		}
		if at, err = foreign.Millis(int64(ms)); err != nil {
			return nil, "ts: " + err.Error()
		}
	}
	id := o.Text("id")
	for _, said := range []struct {
		role   amber.Role
		member string
	}{{amber.RoleUser, "userText"}, {amber.RoleAssistant, "agentText"}} {
		if text := strings.TrimSpace(o.Text(said.member)); text != "" {
			turns = append(turns, foreign.Turn{Key: foreign.Key{id, string(said.role)}, Role: said.role, Content: text, At: at})
		}
	}
	switch {
	case id == "":
		return nil, "trace has no id"
	case len(turns) == 0:
		return nil, "trace has neither userText nor agentText"
	}
	return turns, ""
}

// count notes a trace for the second pass.
func (r *reader) count(at foreign.Place, o foreign.Object) error {
	turns, why := r.trace(o)
	id := o.Text("id")
	if why == "" && r.seen[id] {
		why = "id " + id + " is there before"
	}
	if why != "" {
		r.to.Skip(at, "%s", why)
		return nil
	}
	r.seen[id] = true
	session := o.Text("sessionId")
	t := r.talks[session]
	if t == nil {
		t = &talk{}
		r.talks[session] = t
	}
	for _, turn := range turns {
		t.size += len(turn.Content)
		if !turn.At.Before(t.last) {
			t.last, t.latest = turn.At, id
		}
	}
	return nil
}

func (r *reader) giveTalks() error {
	sizes := map[string]int{}
	for id, t := range r.talks {
		sizes[id] = t.size
	}
	return foreign.Gather(sizes, maxHeld, r.collect, r.giveTalk)
}

// collect holds the turns of some conversations.
func (r *reader) collect(held map[string][]foreign.Turn) error {
	given := map[string]bool{}
	return r.file.EachElement(r.ctx, foreign.Quiet, func(list string, n int64, raw []byte) error {
		o, err := foreign.ParseObject(raw)
		if list != "traces" || err != nil || given[o.Text("id")] {
			return nil
		}
		turns, why := r.trace(o)
		if before, wanted := held[o.Text("sessionId")]; wanted && why == "" {
			given[o.Text("id")] = true
			for i := range turns {
				turns[i].Place = r.file.Place("traces " + strconv.FormatInt(n, 10))
			}
			held[o.Text("sessionId")] = append(before, turns...)
		}
		return nil
	})
}

func (r *reader) giveTalk(id string, turns []foreign.Turn) error {
	t, name := r.talks[id], turns[0].Content
	id = cmp.Or(id, "default")
	return foreign.Tell(r.to, foreign.Session{
		Place: r.file.Place("session " + id), ID: foreign.SessionID("memos", id), Name: name[:min(len(name), maxName)], Project: r.o.Project,
		StartedAt: turns[0].At, EndedAt: t.last, Turns: int64(len(turns)), State: t.latest + " " + strconv.Itoa(t.size),
	}, turns)
}
