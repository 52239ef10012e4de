package snapshot_test

import (
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// The workers do with real agents what they do with those of the other tests.
func TestWorkersWithTheRealEngine(t *testing.T) {
	t.Parallel()
	clock, everybody := newWorkClock(), people{"acme": {"ada", "ghost"}, "empty": nil}
	h, _, err := home.Open(t.TempDir(), home.Options{Clock: clock.Now, Random: rand.Reader})
	must.Do(t, err)
	agent := must.Get(h.Agent("acme", "ada"))(t)
	store := must.Get(sqlite.Open(t.Context(), agent, sqlite.Options{Clock: clock.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() { _ = store.Close() })
	engine := must.Get(snapshot.New(snapshot.Options{Home: h, Clock: clock.Now, Random: rand.Reader}))(t)
	schedule := plan(engine, clock, everybody, "1h")
	for i := range 4 {
		clock.Advance(time.Hour)
		must.Get(store.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("fact ", i)}))(t)
		mustEqual(t, "taken", tick(t, schedule), []amber.AgentID{"ada"})
	}
	guard := snapshot.ToolGuard{Taker: engine, Insist: snapshot.Require}
	clock.Advance(time.Minute)
	must.Get(guard.BeforeMutatingTool(t.Context(), "acme", "ada", "Bash"))(t)
	keep := 2
	told := &heard{}
	r := &snapshot.Retention{Keeper: engine, Roster: everybody, Clock: clock.Now, Policy: keepLast(&keep), Publisher: told}
	report := must.Get(r.Tick(t.Context()))(t)
	mustEqual(t, "report", report, events.RetentionReport{Deleted: 3, Kept: 2, AgentsVisited: 2, OrphansRemoved: report.OrphansRemoved, Errors: []string{}, At: report.At})
	var labels []string
	for _, m := range list(t, engine, "acme", "ada") {
		labels = append(labels, m.Label)
	}
	mustEqual(t, "labels", labels, []string{"auto:pre-tool-Bash", "auto:scheduled"})
	must.Equal(t, "events, one for each tenant", len(told.got), 2)
}
