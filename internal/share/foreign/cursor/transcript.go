package cursor

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// facts are what the first reading of a transcript finds.
type facts struct {
	turns       int64
	name        string
	first, last amber.Time // that lines tell
	end         int64      // the last line that says something
	state       string
}

// transcript gives out the session of a file. The file has no ids, so its name is the session, and line and text are
// the key of a turn.
func (l *layout) transcript(ctx context.Context, f foreign.File, o foreign.Options, to foreign.Sink) error {
	c, err := scan(ctx, f, to)
	if err != nil || c.turns == 0 {
		return err
	}
	s := foreign.Session{
		Place: foreign.Place{File: f.Name}, ID: foreign.HostSessionID(name, f.Stem()), Name: c.name, Project: l.projectOf(f, o), Parent: l.parent(f),
		StartedAt: c.first, EndedAt: f.ModifiedAt(), Turns: c.turns, State: c.state,
	}
	if s.StartedAt.IsZero() {
		s.StartedAt = s.EndedAt
	}
	if s.EndedAt.Before(c.last) {
		s.EndedAt = c.last
	}
	want, err := to.Session(s)
	if err != nil || !want {
		return err
	}
	return c.tell(ctx, f, to)
}

// parent returns the session that started an agent, whose transcript lies in <session>/subagents.
func (l *layout) parent(f foreign.File) amber.SessionID {
	around := l.tree.Around(path.Dir(f.Name))
	if around[0] != "subagents" || len(around) < 2 || around[1] == "" {
		return ""
	}
	return foreign.HostSessionID(name, around[1])
}

// scan reads a transcript for the first time, and reports to to.Skip what it cannot read.
func scan(ctx context.Context, f foreign.File, to foreign.Sink) (*facts, error) {
	c := &facts{}
	return c, f.EachLine(ctx, to.Skip, func(n int64, b []byte) error {
		s, err := saidIn(b)
		if err != nil {
			to.Skip(f.Line(n), "%v", err)
			return nil
		}
		c.note(n, &s)
		return nil
	})
}

// saidIn returns what a line says.
func saidIn(b []byte) (said, error) {
	l, err := parseLine(b)
	if err != nil {
		return said{}, err
	}
	return l.said()
}

func (c *facts) note(n int64, s *said) {
	turns := s.turns()
	if turns == 0 {
		return
	}
	c.turns, c.end = c.turns+turns, n
	c.state = fmt.Sprintf("line %d, %s", n, digest(s.text))
	if c.name == "" && s.role == amber.RoleUser {
		first, _, _ := strings.Cut(s.text, "\n")
		c.name = strings.Join(strings.Fields(strings.ToValidUTF8(first[:min(len(first), 300)], "")), " ")
	}
	if !s.at.IsZero() {
		if c.first.IsZero() {
			c.first = s.at
		}
		c.last = s.at
	}
}

func digest(text string) string { return foreign.Hex(foreign.Digest(text)) }

// tell reads a transcript again and gives out its turns. The first reading reported what cannot be read.
func (c *facts) tell(ctx context.Context, f foreign.File, to foreign.Sink) error {
	at := f.ModifiedAt()
	return f.EachLine(ctx, foreign.Quiet, func(n int64, b []byte) error {
		if n > c.end {
			return foreign.ErrEnough
		}
		s, err := saidIn(b)
		if err != nil {
			return nil
		}
		at = cmp.Or(s.at, at)
		return tellLine(f, n, &s, at, to)
	})
}

// tellLine gives out the turns of one line: the answers of tools, and the message.
func tellLine(f foreign.File, n int64, s *said, at amber.Time, to foreign.Sink) error {
	place, line := f.Line(n), strconv.FormatInt(n, 10)
	if s.result != "" {
		key := foreign.Key{f.Stem(), line, digest(s.result), "results"}
		turn := foreign.Turn{Place: place, Key: key, Role: amber.RoleTool, Content: s.result, At: at}
		if err := to.Turn(turn); err != nil {
			return err
		}
	}
	if s.text == "" && len(s.activity) == 0 {
		return nil
	}
	key := foreign.Key{f.Stem(), line, digest(s.text)}
	return to.Turn(foreign.Turn{Place: place, Key: key, Role: s.role, Content: s.text, At: at, Activity: s.activity})
}
