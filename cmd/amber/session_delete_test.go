package main

import (
	"context"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
)

func TestSessionDeleteAsks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, answer string
		flags        []string
		asks         bool
		code, after  int // exit codes: of delete, of show afterwards
	}{
		{name: "yes", answer: "y\n", asks: true, code: 0, after: 3},
		{name: "no", answer: "n\n", asks: true, code: 6, after: 0},
		{name: "end of input", answer: "", asks: true, code: 6, after: 0},
		{name: "told already", answer: "", flags: []string{"--yes"}, code: 0, after: 3},
		{name: "a plan needs no answer", answer: "", flags: []string{"--dry-run"}, code: 0, after: 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			if code, _, stderr := person(t, home, "", "session", "start", "s1"); code != 0 {
				t.Fatalf("session start: exit code %d: %s", code, stderr)
			}
			code, _, stderr := person(t, home, c.answer, append([]string{"session", "delete", "s1"}, c.flags...)...)
			if code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, stderr)
			}
			if asks := strings.Contains(stderr, "delete session s1 with 0 turns? [y/N]"); asks != c.asks {
				t.Errorf("asked is %v, want %v: %s", asks, c.asks, stderr)
			}
			if code, _, stderr := person(t, home, "", "session", "show", "s1"); code != c.after {
				t.Errorf("session show afterwards: exit code %d, want %d: %s", code, c.after, stderr)
			}
		})
	}
}

// closedIngest is a store that takes nothing out of the journal for now.
type closedIngest struct {
	amber.Ingester
	closed bool
}

func (c *closedIngest) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	if c.closed {
		return amber.IngestResult{}, amber.Errorf(amber.KindBusy, "ingest", "", "the store is busy")
	}
	return c.Ingester.Ingest(ctx, in)
}

// A served session that somebody who drains later would make again is not
// deleted, and the caller is told so; others are. What the journal holds of
// others is in nobody's way.
func TestAServedSessionThatWouldComeBackIsNotDeleted(t *testing.T) {
	t.Parallel()
	p := newSpool(t)
	for _, id := range []string{"s1", "s2"} {
		if code, out := p.run("session", "start", id); code != 0 {
			t.Fatal(out)
		}
	}
	a := p.app().forAgent(amber.DefaultTenant, amber.DefaultAgent)
	o, err := a.open(t.Context())
	p.must(err)
	t.Cleanup(func() { p.must(o.Close()) })
	ingest := &closedIngest{o.Store.Ingest, true}
	o.Store.Ingest = ingest
	served := settledSessions{o.Store.Sessions, a, o}

	if err := served.DeleteSession(t.Context(), "s1"); amber.KindOf(err) != amber.KindBusy || !strings.Contains(err.Error(), "2 entries") {
		t.Errorf("while its entries are on their way: %v", err)
	}
	if _, err := o.Store.Sessions.Session(t.Context(), "s1"); err != nil {
		t.Errorf("it was deleted: %v", err)
	}
	p.must(served.DeleteSession(t.Context(), "s2"))
	ingest.closed = false
	p.must(served.DeleteSession(t.Context(), "s1"))
	if code, out := p.run("journal", "drain"); code != 0 {
		t.Fatal(out)
	}
	for _, id := range []amber.SessionID{"s1", "s2"} {
		if _, err := o.Store.Sessions.Session(t.Context(), id); amber.KindOf(err) != amber.KindNotFound {
			t.Errorf("%s is there again: %v", id, err)
		}
	}
}
