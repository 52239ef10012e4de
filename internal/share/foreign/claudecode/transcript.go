package claudecode

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxForks bounds how far copied lines are followed to the session they come from.
const maxForks = 8

// maxTogether bounds what is held of the small conversations that one reading of a file gathers.
const maxTogether = 32 << 20

// transcripts reads sessions.
type transcripts struct {
	o      foreign.Options
	to     foreign.Sink
	byStem map[string]foreign.File // the largest of a name
	done   map[string]bool
	taken  map[amber.SessionID]int // how often an id was wanted
	seen   known
}

func newTranscripts(files []foreign.File, o foreign.Options, to foreign.Sink) *transcripts {
	r := &transcripts{
		o: o, to: to, byStem: map[string]foreign.File{}, done: map[string]bool{}, taken: map[amber.SessionID]int{},
		seen: known{map[uint64]struct{}{}},
	}
	for _, f := range files {
		if known, ok := r.byStem[f.Stem()]; !isAgent(f) && (!ok || f.Size > known.Size) {
			r.byStem[f.Stem()] = f
		}
	}
	return r
}

// read reads a file. It first reads the file that the first lines of this one were copied from, because a line belongs
// to the place where it was first. Where two files have one session, the longer one is read first.
func (r *transcripts) read(ctx context.Context, f foreign.File, depth int) error {
	if err := ctx.Err(); err != nil || r.done[f.Name] {
		return err
	}
	r.done[f.Name] = true
	t, err := scan(ctx, f, r.to)
	if err != nil {
		return err
	}
	for _, id := range append(t.sessions, f.Stem()) {
		if other, ok := r.byStem[id]; ok && depth < maxForks {
			if err := r.read(ctx, other, depth+1); err != nil {
				return err
			}
		}
	}
	t.plan(&r.seen)
	for i := range t.chats {
		if t.chats[i].count.turns > 0 {
			t.chats[i].id = r.claim(t.sessionID(int32(i)), f.Stem())
		}
	}
	return r.tell(ctx, t)
}

// claim returns the id of a session. Files that go on with a session under its id, and are not a copy of it, are named
// after themselves.
func (r *transcripts) claim(id amber.SessionID, stem string) amber.SessionID {
	if r.taken[id] > 0 && uuids().MatchString(stem) {
		id = amber.SessionID(stem)
	}
	first := id
	for r.taken[id] > 0 {
		r.taken[first]++
		id = idOf(string(first), strconv.Itoa(r.taken[first]))
	}
	r.taken[id] = 1
	return id
}

// tell gives out the conversations of a file, each with one reading, the small ones several together.
func (r *transcripts) tell(ctx context.Context, t *transcript) error {
	sizes := make([]int64, len(t.chats))
	for i := range t.records {
		if rec := &t.records[i]; rec.is(kept) {
			sizes[rec.chat] += int64(rec.bytes) + 1000
		}
	}
	if err := r.one(ctx, t, 0); err != nil {
		return err
	}
	for from := int32(1); int(from) < len(t.chats); {
		until, sum := from, int64(0)
		for int(until) < len(t.chats) && (until == from || sum+sizes[until] <= maxTogether) {
			sum += sizes[until]
			until++
		}
		err := error(nil)
		if until == from+1 {
			err = r.one(ctx, t, from)
		} else {
			err = r.some(ctx, t, from, until)
		}
		if err != nil {
			return err
		}
		from = until
	}
	return nil
}

// one gives out a conversation of any size.
func (r *transcripts) one(ctx context.Context, t *transcript, chat int32) error {
	s := r.session(t, chat)
	if s.Turns == 0 {
		return nil
	}
	want, err := r.to.Session(s)
	if err != nil || !want {
		return err
	}
	w := newTeller(t, string(s.ID), t.chats[chat].cwd, r.to.Turn)
	if err := t.eachKept(ctx, func(c int32) bool { return c == chat }, w.line); err != nil {
		return err
	}
	return w.end()
}

// some gives out several small conversations that lie between each other.
func (r *transcripts) some(ctx context.Context, t *transcript, from, until int32) error {
	turns := make([][]foreign.Turn, until-from)
	tellers := make([]*teller, until-from)
	for i := range tellers {
		tellers[i] = newTeller(t, string(t.chats[from+int32(i)].id), t.chats[from+int32(i)].cwd, func(turn foreign.Turn) error {
			turns[i] = append(turns[i], turn)
			return nil
		})
	}
	err := t.eachKept(ctx, func(c int32) bool { return c >= from && c < until }, func(i int32, l *line) error {
		return tellers[t.records[i].chat-from].line(i, l)
	})
	for i := 0; i < len(tellers) && err == nil; i++ {
		err = tellers[i].end()
		s := r.session(t, from+int32(i))
		if err != nil || s.Turns == 0 {
			continue
		}
		var want bool
		if want, err = r.to.Session(s); err != nil || !want {
			continue
		}
		for _, turn := range turns[i] {
			if err = r.to.Turn(turn); err != nil {
				break
			}
		}
	}
	return err
}

// session describes a conversation.
func (r *transcripts) session(t *transcript, chat int32) foreign.Session {
	c := &t.chats[chat]
	cwd := cmp.Or(c.cwd, t.chats[0].cwd)
	s := foreign.Session{
		Place: foreign.Place{File: t.file.Name}, ID: c.id, Name: t.nameOf(chat), Project: r.o.ProjectFor(cwd),
		Directory: cwd, Parent: t.parent(chat), StartedAt: t.file.ModifiedAt(), EndedAt: t.file.ModifiedAt(), Turns: c.count.turns,
	}
	if c.count.last != 0 {
		s.StartedAt, s.EndedAt = amber.UnixMilli(c.count.first), amber.UnixMilli(c.count.last)
	}
	if c.count.state >= 0 {
		last := t.records[c.count.state]
		s.State = fmt.Sprintf("line %d, %016x", last.line, last.uuid)
	}
	return s
}

// own returns the id of the session that a file is about. Lines that were copied name another one.
func (t *transcript) own() string {
	stem := t.file.Stem()
	switch {
	case len(t.sessions) == 0:
		return string(foreign.HostSessionID(name, stem))
	case slices.Contains(t.sessions, stem):
		return stem
	}
	return t.sessions[len(t.sessions)-1]
}

// starter returns the session that started the agent of a file.
func (t *transcript) starter() string {
	if dir := path.Dir(t.file.Name); path.Base(dir) == "subagents" && path.Dir(dir) != "." {
		if id := path.Base(path.Dir(dir)); amber.CheckID("session id", id) == nil {
			return id
		}
	}
	if len(t.sessions) > 0 {
		return t.sessions[0]
	}
	return ""
}

func (t *transcript) sessionID(chat int32) amber.SessionID {
	c := &t.chats[chat]
	switch {
	case t.agent:
		return idOf(t.starter(), t.file.Stem())
	case chat == 0:
		return amber.SessionID(t.own())
	case c.agent != "":
		return idOf(t.own(), "agent-"+c.agent)
	}
	return idOf(t.own(), "side-"+c.root)
}

// idOf names what an agent did. The ids of agents are unique in the session that started them.
func idOf(session, agent string) amber.SessionID {
	return foreign.HostSessionID(name, strings.TrimPrefix(session+"-"+agent, "-"))
}

// parent returns the session that a conversation was begun or copied from.
func (t *transcript) parent(chat int32) amber.SessionID {
	switch {
	case t.agent:
		return amber.SessionID(t.starter())
	case chat > 0 && t.chats[0].id != "":
		return t.chats[0].id
	case chat > 0:
		return amber.SessionID(t.own())
	}
	for _, id := range append([]string{t.fork}, t.sessions...) {
		if id != string(t.chats[0].id) && amber.CheckID("session id", id) == nil {
			return amber.SessionID(id)
		}
	}
	return ""
}

// nameOf returns what a conversation is called: as a person named it, as the model did, or as it begins.
func (t *transcript) nameOf(chat int32) string {
	if chat == 0 && !t.agent {
		for _, title := range []string{t.title, t.aiTitle} {
			if title = strings.Join(strings.Fields(title), " "); title != "" {
				return title
			}
		}
	}
	first := ""
	for i, p := range t.chats[chat].prompts {
		if t.records[p.record].is(kept) {
			return p.text
		}
		if i == 0 {
			first = p.text
		}
	}
	return first
}
