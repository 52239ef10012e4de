//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/wire"
)

// Two machines with nothing in common but a database see the same agents.
func TestTwoHomesOnOneDatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	dsn := server.DSN(server.Database(t))
	one, two := newSetting(t, false), newSetting(t, false)
	for _, s := range []*setting{one, two} {
		s.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", s.onPostgres(dsn))
	}
	id := strings.TrimSpace(one.does("remember", "--scope", "global", "The staging database is called heron"))
	hits := told[amber.RecallResult](two, "recall", "what is the staging database called").Hits
	must.Equal(t, "hits of the other machine", len(hits), 1)
	must.Equal(t, "its memory", string(hits[0].ID), id)
	must.Equal(t, "where it is from", hits[0].Provenance.Backend, "postgres")

	one.does("note", "write", "plan", "# Plan: move to the new harbour")
	must.Says(t, "note", two.does("note", "show", "plan"), "new harbour")
	must.Equal(t, "notes that are found", len(told[amber.RecallResult](two, "recall", "harbour").Hits), 1)

	two.does("edit", id, "The staging database is called egret")
	must.Says(t, "edited memory", one.does("get", id), "egret")

	// An agent that does not exist is not made by a typing error, wherever it would live.
	must.Equal(t, "another agent", two.exit("recall", "x", "--agent", "nobody"), "exit 3")
	two.does("remember", "something else", "--agent", "second", "--new-agent")
	must.Equal(t, "memories of the second agent", len(told[amber.Page[amber.Memory]](one, "list", "--agent", "second").Items), 1)
}

// An agent in a folder does not look lost when agents are to live in a database, nor the other way round.
func TestMemoryElsewhere(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s := newSetting(t, false)
	s.does("remember", "in the folder")
	file := s.onPostgres(server.DSN(server.Database(t)))
	s.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", file)
	must.Equal(t, "a database for what lies in a folder", s.exit("remember", "x"), "exit 6")

	other := newSetting(t, false)
	must.Do(t, os.WriteFile(other.path("dsn"), must.Get(os.ReadFile(file))(t), 0o600))
	other.set("AMBER_MEMORY__BACKEND", "postgres")
	other.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", other.path("dsn"))
	other.does("remember", "in the database")
	for _, command := range [][]string{{"recall", "x"}, {"remember", "x"}, {"journal", "drain"}, {"snapshot", "create"}} {
		must.Equal(t, "an agent of the same name in the database, asked to "+command[0], s.exit(command...), "exit 6")
	}
	s.does("remember", "not in the folder", "--agent", "second", "--new-agent")
	must.Equal(t, "memories of the agent in the database", len(told[amber.Page[amber.Memory]](other, "list").Items), 1)
	other.set("AMBER_MEMORY__BACKEND", "sqlite")
	must.Equal(t, "a folder for what lies in a database", other.exit("recall", "x"), "exit 6")
	must.Do(t, os.Chmod(other.path("dsn"), 0o644))
	other.set("AMBER_MEMORY__BACKEND", "postgres")
	must.Equal(t, "an address that others can read", other.exit("recall", "x"), "exit 6")
}

// The doctor examines the database also where this machine has nothing of the agent yet, and makes nothing there.
func TestDoctorOfADatabaseBeforeTheFirstCommand(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	c := s.database() // tests need no fsync
	must.Equal(t, "an unsafe database", s.finding("database.safe").Status, wire.FindingFailed)
	must.Says(t, "schema", s.finding("schema").Detail, "no tables of Amber yet")
	must.Equal(t, "exit of an unsafe database", s.exit("doctor"), "exit 6")
	var schemas int
	must.Do(t, c.QueryRow(t.Context(), "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'amber%'").Scan(&schemas))
	must.Equal(t, "schemas that the doctor made", schemas, 0)

	s.does("remember", "x")
	other := newSetting(t, false) // another machine
	other.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", other.onPostgres(c.Config().ConnString()))
	must.Equal(t, "rows from another machine", other.finding("memory.rows").Status, wire.FindingOK)
	server := pgtest.Shared(t)
	other.set("AMBER_MEMORY__BACKENDS__POSTGRES__TENANTS__ACME__DSN_FILE", other.file("dsn-acme", server.DSN("nobody_made_it")+"\n"))
	f := other.finding("database.others")
	must.Equal(t, "a database of a tenant that is not there", f.Status, wire.FindingFailed)
	must.Says(t, "detail", f.Detail, "tenant acme")
	must.Do(t, os.WriteFile(other.path("dsn"), []byte("postgres://127.0.0.1:1/x"), 0o600))
	must.Equal(t, "a database that is away", other.finding("database").Status, wire.FindingFailed)
}

// Amber reports an unsafe database, and does not serve it.
func TestUnsafeDatabase(t *testing.T) {
	t.Parallel()
	s := newSetting(t, false)
	c := s.database() // tests need no fsync
	s.does("remember", "x")
	f := s.finding("database.safe")
	must.Equal(t, "finding", f.Status, wire.FindingFailed)
	must.Says(t, "detail", f.Detail, "fsync is off")
	_, err := s.tryToServe("--listen", "127.0.0.1:0")
	must.Says(t, "complaint", err.Error(), "fsync is off")
	must.Says(t, "complaint", err.Error(), "--accept-unsafe-database")
	must.Equal(t, "rows", s.finding("memory.rows").Status, wire.FindingOK)

	must.Says(t, "plan", s.does("migrate", "--plan"), "nothing is to be done")
	must.Equal(t, "neither", s.exit("migrate"), "exit 2")
	must.Get(c.Exec(t.Context(), "UPDATE amber_meta.version SET number = 99, needs = 99"))(t)
	must.Equal(t, "a database of a later version", s.exit("recall", "x"), "exit 6")
}
