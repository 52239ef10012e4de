package web_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// How much the home of the scale campaign holds. With a folder the home is kept there and used
// again.
var (
	scaleMemories  = flag.Int("scale.memories", 300, "how many memories the home of the scale campaign has; 100000 at full size")
	scaleTurns     = flag.Int("scale.turns", 120, "how many turns its longest session has; 10000 at full size")
	scaleSnapshots = flag.Int("scale.snapshots", 3, "how many snapshots it has; 5000 at full size")
	scaleMost      = flag.Duration("scale.most", 0, "how long a screen may take in the middle of five times; 0: as long as it does")
	scaleTime      = flag.Duration("scale.time", 10*time.Minute, "how long snapshots are taken; the report says how many there are")
	scaleHome      = flag.String("scale.home", "", "folder of the home; empty: a new one")
)

// maxPage is how large a screen may be.
const maxPage = 100_000

// Every screen stays small however much is stored; the report says how long each takes.
func TestScreensOfALargeHome(t *testing.T) {
	home := *scaleHome
	if home == "" {
		home = t.TempDir()
	}
	must.Do(t, os.MkdirAll(home, 0o700))
	r := newRigIn(t, home, true)
	p := r.fillLarge()
	b := r.visitor("")
	t.Logf("%-70s %9s %9s %9s", "screen", "fastest", "middle", "bytes")
	for _, path := range r.screens(p) {
		took, size := b.timed(path)
		t.Logf("%-70s %9s %9s %9d", path, took[0].Round(100*time.Microsecond), took[len(took)/2].Round(100*time.Microsecond), size)
		if size >= maxPage {
			t.Errorf("%s has %d bytes, want less than %d", path, size, maxPage)
		}
		if *scaleMost > 0 && took[len(took)/2] > *scaleMost {
			t.Errorf("%s took %s in the middle of %d times, want at most %s", path, took[len(took)/2], len(took), *scaleMost)
		}
	}
}

// screens are the addresses of every screen of a home, and of those that a question makes costly.
func (r *rig) screens(p *place) []string {
	var paths []string
	for _, pattern := range r.page.Routes() {
		method, path := p.fill(r.t, pattern)
		if method == http.MethodGet && !isStream(pattern) {
			paths = append(paths, path)
		}
	}
	return append(paths, adaHome+"/sessions/long", adaHome+"/recall?q=which+database+does+service+7+use", adaHome+"/recall?q=which+database+does+service+7+use&context=1")
}

// timed opens a screen five times and returns how long each took, the fastest first, and its
// size.
func (b *browser) timed(path string) ([]time.Duration, int) {
	b.r.t.Helper()
	var took []time.Duration
	size := 0
	for range 5 {
		began := time.Now()
		p := b.get(path)
		took = append(took, time.Since(began))
		size = len(p.body)
		if p.status >= 500 {
			b.r.t.Errorf("%s: status %d: %s", path, p.status, p.text())
		}
	}
	slices.Sort(took)
	return took, size
}

// fillLarge fills the home of the campaign, as far as it is not filled yet.
func (r *rig) fillLarge() *place {
	r.t.Helper()
	ctx, store := r.t.Context(), r.store("acme", "ada")
	r.fillSnapshots(store) // while there is little to freeze: a list of snapshots is as long
	r.fillTurns(store)
	stats := must.Get(store.Stats.Stats(ctx))(r.t)
	began := time.Now()
	for n := int(stats.Memories); n < *scaleMemories; {
		var batch []amber.WriteRequest
		for ; n < *scaleMemories && len(batch) < amber.DefaultBatchSize; n++ {
			batch = append(batch, amber.WriteRequest{
				Title:   fmt.Sprintf("Service %d", n),
				Content: fmt.Sprintf("Service %d of team %d keeps its orders in database %d; deployed by pipeline %d, owned by person %d.", n, n%97, n%13, n%31, n%211),
				Tags:    []string{fmt.Sprint("team-", n%97)},
			})
		}
		must.Get(store.Batch.WriteBatch(ctx, batch))(r.t)
	}
	r.t.Logf("%d memories after %s", *scaleMemories, time.Since(began).Round(time.Millisecond))
	return r.furnish("acme", "ada", func(field string) string { return "small " + field })
}

func (r *rig) fillTurns(store amber.Store) {
	r.t.Helper()
	const id = "long"
	began := time.Now()
	must.Get(store.Sessions.StartSession(r.t.Context(), amber.SessionStart{ID: id, Name: "Long"}))(r.t)
	have := len(must.Get(amber.LastTurns(r.t.Context(), store.Turns, id, *scaleTurns))(r.t))
	for i := have; i < *scaleTurns; i++ {
		role := []amber.Role{amber.RoleUser, amber.RoleAssistant, amber.RoleTool}[i%3]
		must.Get(store.Turns.AppendTurn(r.t.Context(), amber.Turn{SessionID: id, Role: role, Content: fmt.Sprintf("Turn %d: %s", i, strings.Repeat("words that were said, ", 20))}))(r.t)
	}
	r.t.Logf("%d turns after %s", *scaleTurns, time.Since(began).Round(time.Millisecond))
}

// fillSnapshots takes snapshots as long as there is time, with a small change before each.
func (r *rig) fillSnapshots(store amber.Store) {
	r.t.Helper()
	ctx := r.t.Context()
	engine := must.Get(r.agent("acme", "ada").Snapshots(ctx))(r.t)
	have := 0
	for cursor := amber.Cursor(""); ; {
		page := must.Get(engine.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: "acme", Agent: "ada", Limit: amber.MaxPageSize, Cursor: cursor}))(r.t)
		have += len(page.Items)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	began := time.Now()
	for ; have < *scaleSnapshots && time.Since(began) < *scaleTime; have++ {
		must.Get(store.Documents.PutDocument(ctx, amber.DocumentWrite{Name: "counter", Document: fmt.Appendf(nil, "%d", have)}))(r.t)
		must.Get(engine.Snapshot(ctx, wire.SnapshotRequest{Tenant: "acme", Agent: "ada", Label: fmt.Sprint("number ", have)}))(r.t)
	}
	r.t.Logf("%d snapshots, wanted %d; the new ones took %s", have, *scaleSnapshots, time.Since(began).Round(time.Millisecond))
}
