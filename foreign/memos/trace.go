package memos

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/foreign"
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
	held   []foreign.Turn
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
	for _, part := range foreign.Batches(sizes, maxHeld) {
		if err := r.givePart(part); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) givePart(part []string) error {
	given, wanted := map[string]bool{}, map[string]*talk{}
	for _, id := range part {
		wanted[id] = r.talks[id]
	}
	err := r.scan(func(list string, n int64, raw []byte) error {
		o, err := foreign.ParseObject(raw)
		if list != "traces" || err != nil || given[o.Text("id")] {
			return nil
		}
		turns, why := r.trace(o)
		if t := wanted[o.Text("sessionId")]; t != nil && why == "" {
			given[o.Text("id")] = true
			for _, turn := range turns {
				turn.Place = r.place("traces " + strconv.FormatInt(n, 10))
				t.held = append(t.held, turn)
			}
		}
		return nil
	}, func(string, string) {})
	for _, id := range part {
		if err != nil {
			return err
		}
		err = r.giveTalk(id, r.talks[id])
		r.talks[id].held = nil
	}
	return err
}

func (r *reader) giveTalk(id string, t *talk) error {
	slices.SortStableFunc(t.held, func(a, b foreign.Turn) int { return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()) })
	if len(t.held) == 0 {
		return nil
	}
	if id == "" {
		id = "default"
	}
	name := t.held[0].Content
	s := foreign.Session{
		Place: r.place("session " + id), ID: foreign.SessionID("memos", id), Name: name[:min(len(name), maxName)], Project: r.o.Project,
		StartedAt: t.held[0].At, EndedAt: t.last, Turns: int64(len(t.held)), State: t.latest + " " + strconv.Itoa(t.size),
	}
	want, err := r.to.Session(s)
	if err != nil || !want {
		return err
	}
	for _, turn := range t.held {
		if err := r.to.Turn(turn); err != nil {
			return err
		}
	}
	return nil
}
