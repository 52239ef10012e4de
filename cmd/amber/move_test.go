//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/care"
	"github.com/amber-memory/amber/internal/freeze/move"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// A user moves an agent to a database and back, and Amber says at each step what to set.
func TestMoveCommand(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s := newSetting(t, false)
	file := s.onPostgres(server.DSN(server.Database(t)))
	s.set("AMBER_MEMORY__BACKEND", "sqlite")
	id := s.does("remember", "--scope", "global", "The staging database is called heron")
	s.does("note", "write", "plan", "# Plan: move to the new harbour")
	_, complaint, _ := s.amber("", "move", "--to", "postgres")
	must.Says(t, "without an address", complaint, "memory.backends.postgres.dsn_file")
	s.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", file)
	must.Equal(t, "nothing chosen", s.exit("move"), "exit 2")
	must.Equal(t, "too much chosen", s.exit("move", "--resume", "--undo"), "exit 2")
	must.Equal(t, "another end", s.exit("move", "--to", "mars"), "exit 2")
	must.Equal(t, "nothing to go on with", s.exit("move", "--resume"), "exit 3")

	plan := told[move.Plan](s, "move", "--to", "postgres", "--dry-run")
	must.Hold(t, plan.Rows > 0 && plan.Notes == 1 && strings.Contains(plan.From, s.path("home")), "the plan is %+v", plan)
	must.Says(t, "plan", s.does("move", "--to", "postgres", "--dry-run"), "memories", "1 note")
	moved := s.does("move", "--to", "postgres")
	must.Says(t, "report", moved, "both ends were compared", "amber move --forget", "set memory.backend: postgres", "a snapshot was taken before")
	_, complaint, code := s.amber("", "recall", "staging")
	must.Equal(t, "exit with the old setting", code, 6)
	must.Says(t, "complaint", complaint, "has moved to the PostgreSQL database", "set memory.backend to postgres")

	s.set("AMBER_MEMORY__BACKEND", "postgres")
	must.Equal(t, "hits", string(told[amber.RecallResult](s, "recall", "staging").Hits[0].ID), id)
	must.Says(t, "note", s.does("note", "show", "plan"), "new harbour")
	s.does("remember", "written in the database")

	must.Says(t, "what would be erased", s.does("move", "--forget", "--dry-run"), "would erase")
	must.Says(t, "erased", s.does("move", "--forget", "--yes"), "erased")
	back := told[care.MovedAgent](s, "move", "--to", "sqlite")
	must.Equal(t, "what to set", back.Set, "memory.backend: sqlite")
	_, complaint, code = s.amber("", "recall", "staging")
	must.Equal(t, "exit with the old setting", code, 6)
	must.Says(t, "complaint", complaint, "has moved to the home", "memory.backend to sqlite")
	s.set("AMBER_MEMORY__BACKEND", "sqlite")
	must.Equal(t, "memories", len(told[amber.Page[amber.Memory]](s, "list").Items), 2)
	must.Says(t, "note", s.does("note", "show", "plan"), "new harbour")
	must.Equal(t, "the doctor", s.exit("doctor"), "exit 0")
	s.does("move", "--forget", "--yes")
	must.Equal(t, "nothing left to forget", s.exit("move", "--forget", "--yes"), "exit 3")
}
