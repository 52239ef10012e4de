package agent

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/test/must"
)

// opened is an agent that is open in a home of its own.
func opened(t *testing.T) *Agent {
	t.Helper()
	a := must.Get(Open(t.Context(), Options{Home: t.TempDir(), Clock: time.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() { must.NoError(t, a.Close()) })
	return a
}

// say appends prompts of a session to the journal.
func say(t *testing.T, a *Agent, session amber.SessionID, prompts ...string) {
	t.Helper()
	j := must.Get(a.Journal())(t)
	for _, p := range prompts {
		ev := hook.Read(hook.Input{
			Host: hook.Generic, Event: "prompt", At: amber.At(time.Now()),
			Payload: strings.NewReader(`{"session_id":"` + string(session) + `","prompt":"` + p + `"}`),
		})
		must.Do(t, (hook.Keeper{Journal: j, Timeout: time.Minute}).Keep(t.Context(), ev))
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

// TestASessionThatWouldComeBackIsNotDeleted: a later drain would make it again. The
// journal's entries of other sessions do not matter.
func TestASessionThatWouldComeBackIsNotDeleted(t *testing.T) {
	t.Parallel()
	a := opened(t)
	for _, id := range []amber.SessionID{"s1", "s2"} {
		must.Do(t, must.Err(a.Store().Sessions.StartSession(t.Context(), amber.SessionStart{ID: id})))
	}
	say(t, a, "s1", "first of all", "second of all")
	ingest := &closedIngest{a.plain.Ingest, true}
	a.plain.Ingest = ingest
	served := a.Served().Sessions
	if err := served.DeleteSession(t.Context(), "s1"); amber.KindOf(err) != amber.KindBusy || !strings.Contains(err.Error(), "2 entries") {
		t.Errorf("while its entries are on their way: %v", err)
	}
	must.NoError(t, must.Err(served.Session(t.Context(), "s1")))
	must.NoError(t, served.DeleteSession(t.Context(), "s2"))
	ingest.closed = false
	must.NoError(t, served.DeleteSession(t.Context(), "s1"))
	must.NoError(t, must.Err(a.Drain(t.Context(), false)))
	for _, id := range []amber.SessionID{"s1", "s2"} {
		must.Kind(t, string(id), must.Err(served.Session(t.Context(), id)), amber.KindNotFound)
	}
}
