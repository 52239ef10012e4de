package eval

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// between is how far apart the turns of a session are taken to be: the sets tell the
// time of sessions only.
const between = 10 * time.Second

// add appends a turn. NUL, which a turn cannot hold, is left out; of a turn that says
// nothing else nothing is added.
func (s *Session) add(id string, role amber.Role, content string) {
	if content = strings.ReplaceAll(content, "\x00", ""); strings.TrimSpace(content) == "" {
		return
	}
	at := s.At.Add(time.Duration(len(s.Turns)) * between)
	s.Turns = append(s.Turns, Turn{ID: amber.TurnID(id), Role: role, Content: content, At: at})
}

// settle sorts the sessions by time and asks the questions an hour after the last
// turn.
func (c *Case) settle() {
	slices.SortStableFunc(c.Sessions, func(a, b Session) int { return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()) })
	for _, s := range c.Sessions {
		if last := s.Turns[len(s.Turns)-1].At.Add(time.Hour); c.Now.Before(last) {
			c.Now = last
		}
	}
}

// add adds a key that the conversation knows, once.
func (q *Question) add(key string, known map[string]bool) {
	if known[key] && !slices.Contains(q.Keys, key) {
		q.Keys = append(q.Keys, key)
	}
}

// addAll adds keys that the conversation knows.
func (q *Question) addAll(keys []string, known map[string]bool) {
	for _, k := range keys {
		q.add(k, known)
	}
}

// ask adds a question, unless it cannot be scored.
func (c *Case) ask(q Question) {
	if q.Rule != RuleNone && len(q.Keys) == 0 {
		c.Skipped++
		return
	}
	c.Questions = append(c.Questions, q)
}
