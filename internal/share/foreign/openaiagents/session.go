package openaiagents

import (
	"context"
	"fmt"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Bounds of what is remembered between two passes.
const (
	maxSessions = 1 << 20
	maxFailed   = 10_000
	maxSaid     = 1000
	maxName     = 200
	maxHeld     = 64 << 20 // bytes of conversations that are held at once, unless one alone has more
)

// facts are what the first pass finds of a session.
type facts struct {
	started, ended amber.Time   // of its row
	said           foreign.Span // its messages
	name, state    string
	turns          int64
	size           int // bytes of them
}

// reader reads one store in two passes.
type reader struct {
	file     foreign.File
	database *foreign.Database
	store    store
	o        foreign.Options
	to       foreign.Sink

	sessions map[string]*facts
	aside    map[string]bool   // messages that are only on other branches, by id
	failed   map[string]string // calls that failed, and what the tool said
}

func (r *reader) read(ctx context.Context) error {
	r.sessions, r.aside, r.failed = map[string]*facts{}, map[string]bool{}, map[string]string{}
	for _, step := range []func(context.Context) error{r.readSessions, r.readBranches, r.count, r.giveOut} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rows goes over a table. The report names the rows that cannot be read.
func (r *reader) rows(ctx context.Context, table string, fn func(foreign.Row) error) error {
	if table == "" {
		return nil
	}
	return r.database.RowsOrSkip(ctx, table, r.to.Skip, fn)
}

func (r *reader) place(table string, row foreign.Row) foreign.Place {
	return foreign.Place{File: r.file.Name, At: fmt.Sprintf("%s, row %d", table, row.N)}
}

func (r *reader) readSessions(ctx context.Context) error {
	return r.rows(ctx, r.store.sessions, func(row foreign.Row) error {
		f := r.facts(row.Text("session_id"))
		if f == nil {
			return nil
		}
		var m foreign.Memory
		if err := m.TakeTimes(row.Text("created_at"), row.Text("updated_at")); err != nil {
			r.to.Skip(r.place(r.store.sessions, row), "%v; the times of messages count", err)
		}
		f.started, f.ended = m.CreatedAt, m.UpdatedAt
		return nil
	})
}

// facts returns those of a session; nil where there are too many.
func (r *reader) facts(session string) *facts {
	f := r.sessions[session]
	if f == nil && len(r.sessions) < maxSessions {
		f = &facts{}
		r.sessions[session] = f
	}
	return f
}

// readBranches finds the messages that are not on the main branch: they were taken back.
func (r *reader) readBranches(ctx context.Context) error {
	main := map[string]bool{}
	err := r.rows(ctx, r.store.structure, func(row foreign.Row) error {
		id := row.Text("message_id")
		if row.Text("branch_id") == "main" {
			main[id] = true
			delete(r.aside, id)
		} else if !main[id] {
			r.aside[id] = true
		}
		return nil
	})
	return err
}

// session returns what is known of a session.
func (r *reader) session(id string, f *facts, at foreign.Place) foreign.Session {
	s := foreign.Session{
		Place: at, ID: sessionID(id), Name: f.name, Project: r.o.Project, StartedAt: f.started, EndedAt: f.said.Last,
		Turns: f.turns, State: f.state + " " + strconv.FormatInt(f.turns, 10),
	}
	if s.StartedAt.IsZero() || f.said.First.Before(s.StartedAt) {
		s.StartedAt = f.said.First
	}
	if s.EndedAt.Before(f.ended) {
		s.EndedAt = f.ended
	}
	return s
}

func sessionID(id string) amber.SessionID { return foreign.SessionID("openai-agents", id) }
