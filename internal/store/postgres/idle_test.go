package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
)

// A transaction that finds nothing to write leaves no trace: when a caller opens an agent, checks its index and writes
// what it has already, a program that asks whether the agent has changed sees no change.
func TestNothingIsWrittenToAnIdleAgent(t *testing.T) {
	t.Parallel()
	dsn := fresh(t)
	s := connect(t, dsn)
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	defer func() { _ = c.Close(t.Context()) }()
	mark := func() (mark string) {
		t.Helper()
		must.Do(t, c.QueryRow(t.Context(), `SELECT (SELECT string_agg(h::text || h.xmin, ', ' ORDER BY log) FROM amber.heads h) || (SELECT string_agg(token::text, ', ' ORDER BY at, token) FROM amber.commits)`).Scan(&mark))
		return mark
	}
	open := func() *postgres.Store {
		t.Helper()
		return must.Get(s.Open(t.Context(), "acme", "idle", postgres.Options{}))(t)
	}
	request := amber.WriteRequest{Content: "The staging database is called heron", IdempotencyKey: "once"}
	st := open()
	first := must.Get(st.Store().LongTerm.Write(t.Context(), request))(t)
	must.Do(t, st.Close())
	before := mark()
	for range 3 {
		st = open()
		must.Do(t, st.CatchUp(t.Context()))
		must.Equal(t, "written again", must.Get(st.Store().LongTerm.Write(t.Context(), request))(t).ID, first.ID)
		must.Do(t, st.Close())
	}
	must.Equal(t, "heads and commits", mark(), before)
	st = open()
	must.Get(st.Store().LongTerm.Write(t.Context(), amber.WriteRequest{Content: "and the other one osprey"}))(t)
	must.Do(t, st.Close())
	must.Hold(t, mark() != before, "a write left no trace")
}
