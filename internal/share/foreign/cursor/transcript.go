package cursor

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

var errDone = errors.New("the rest of the file is not needed")

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
	c := scan(f, to)
	if c.turns == 0 {
		return nil
	}
	s := foreign.Session{
		Place: foreign.Place{File: f.Name}, ID: sessionID(f.Stem()), Name: c.name, Project: l.projectOf(f, o), Parent: l.parent(f),
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

func sessionID(stem string) amber.SessionID {
	if amber.CheckID("session id", stem) == nil {
		return amber.SessionID(stem)
	}
	return foreign.SessionID(name, stem)
}

// parent returns the session that started an agent, whose transcript lies in <session>/subagents.
func (l *layout) parent(f foreign.File) amber.SessionID {
	around := l.tree.Around(path.Dir(f.Name))
	if around[0] != "subagents" || len(around) < 2 || around[1] == "" {
		return ""
	}
	return sessionID(around[1])
}

// scan reads a transcript for the first time, and reports to to.Skip what it cannot read.
func scan(f foreign.File, to foreign.Sink) *facts {
	c := &facts{}
	r, err := f.Open()
	if err != nil {
		to.Skip(foreign.Place{File: f.Name}, "file cannot be read: %v", err)
		return c
	}
	defer r.Close()
	skip := func(n int64, reason string) { to.Skip(lineOf(f, n), "%s", reason) }
	err = foreign.Lines(r, func(n int64, b []byte) error {
		l, err := parseLine(b)
		if err != nil {
			skip(n, err.Error())
			return nil
		}
		s, err := l.said()
		if err != nil {
			skip(n, err.Error())
			return nil
		}
		c.note(n, &s)
		return nil
	}, skip)
	if err != nil {
		to.Skip(foreign.Place{File: f.Name}, "%v", err)
	}
	return c
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

func lineOf(f foreign.File, n int64) foreign.Place {
	return foreign.Place{File: f.Name, At: fmt.Sprintf("line %d", n)}
}

// tell reads a transcript again and gives out its turns.
func (c *facts) tell(ctx context.Context, f foreign.File, to foreign.Sink) error {
	r, err := f.Open()
	if err != nil {
		return nil // it could be read a moment ago; the next import finds it again
	}
	defer r.Close()
	at := f.ModifiedAt()
	var told error
	_ = foreign.Lines(r, func(n int64, b []byte) error { // what cannot be read was told at the first reading
		if n > c.end {
			return errDone
		}
		l, err := parseLine(b)
		if err != nil {
			return nil
		}
		s, err := l.said()
		if err != nil {
			return nil
		}
		if !s.at.IsZero() {
			at = s.at
		}
		if told = ctx.Err(); told == nil {
			told = tellLine(f, n, &s, at, to)
		}
		return told
	}, func(int64, string) {})
	return told
}

// tellLine gives out the turns of one line: the answers of tools, and the message.
func tellLine(f foreign.File, n int64, s *said, at amber.Time, to foreign.Sink) error {
	place, line := lineOf(f, n), strconv.FormatInt(n, 10)
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
