package claudemem

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// maxBatch bounds the bytes of prompts that are held at once, unless one session has more.
const maxBatch = 32 << 20

type prompt struct {
	place  foreign.Place
	key    foreign.Key
	number float64
	text   string
	at     amber.Time
}

// promptOf returns a prompt; ok is false for one that is empty or was seen before. Each reading that begins with nothing
// seen decides the same.
func promptOf(seen foreign.Seen, at foreign.Place, x row) (p prompt, ok bool, err error) {
	p = prompt{place: at, text: x.Text("prompt_text"), key: foreign.Key{contentSession(x), x.Text("prompt_number")}}
	p.number, _ = x.Number("prompt_number")
	if p.at, err = timeOf(x, "created_at"); err != nil || strings.TrimSpace(p.text) == "" {
		return p, false, err
	}
	switch seen.Add(p.key, p.text) {
	case foreign.Same:
		return p, false, nil
	case foreign.Other:
		p.key = append(p.key, digest(p.text))
		return p, seen.Add(p.key, p.text) == foreign.First, nil
	}
	return p, true, nil
}

// readPrompts gives out the sessions with their prompts. Those of a session can lie anywhere, so that they are counted
// first, and then read for some sessions at a time.
func (r *reader) readPrompts(ctx context.Context) error {
	if err := r.countPrompts(ctx); err != nil {
		return err
	}
	shown := slices.DeleteFunc(slices.Clone(r.sessions), func(s *session) bool { return s.hidden })
	for _, part := range foreign.Batches(shown, func(s *session) int { return int(s.bytes) }, maxBatch) {
		if err := r.tellSessions(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) countPrompts(ctx context.Context) error {
	seen := foreign.Seen{}
	return r.each(ctx, prompts, func(at foreign.Place, x row) error {
		id := contentSession(x)
		if id == "" {
			r.to.Skip(at, "prompt has no session id")
			return nil
		}
		p, ok, err := promptOf(seen, at, x)
		if err != nil {
			r.to.Skip(at, "created_at: %v", err)
		}
		if !ok {
			return nil
		}
		s := r.session(at, id)
		s.prompts++
		s.bytes += int64(len(p.text))
		if !p.at.IsZero() && (s.started.IsZero() || p.at.Before(s.started)) {
			s.started = p.at
		}
		if s.last.Before(p.at) {
			s.last = p.at
		}
		return nil
	})
}

// tellSessions gives out some sessions.
func (r *reader) tellSessions(ctx context.Context, batch []*session) error {
	texts := map[string][]prompt{}
	for _, s := range batch {
		if s.prompts > 0 {
			texts[s.external] = []prompt{}
		}
	}
	seen := foreign.Seen{}
	quiet := func(at foreign.Place, x row) error {
		id := contentSession(x)
		if _, ok := texts[id]; !ok {
			return nil
		}
		if p, ok, err := promptOf(seen, at, x); ok && err == nil {
			texts[id] = append(texts[id], p)
		}
		return nil
	}
	for _, s := range r.sources {
		if len(texts) == 0 {
			break
		}
		if err := s.each(ctx, prompts, foreign.Quiet, quiet); err != nil {
			return err
		}
	}
	for _, s := range batch {
		if err := r.tellSession(s, texts[s.external]); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) tellSession(s *session, list []prompt) error {
	want, err := r.to.Session(s.foreign())
	if err != nil || !want {
		return err
	}
	slices.SortStableFunc(list, func(a, b prompt) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.at.UnixMilli(), b.at.UnixMilli()))
	})
	last := s.started
	for _, p := range list {
		if p.at.IsZero() {
			p.at = cmp.Or(last, r.modified[p.place.File])
		}
		last = p.at
		if err := r.to.Turn(foreign.Turn{Place: p.place, Key: p.key, Role: amber.RoleUser, Content: p.text, At: p.at}); err != nil {
			return err
		}
	}
	return nil
}
