package snapshot_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// listener keeps the events that it receives.
type listener struct {
	mu     sync.Mutex
	events []events.Event
	fail   error
}

func (l *listener) Publish(_ context.Context, e events.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	return l.fail
}

// heard returns the subjects since the last call, and makes sure that no event
// was told twice.
func (l *listener) heard(t *testing.T, seen map[string]bool) []string {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	subjects := []string{}
	for _, e := range l.events {
		must.Hold(t, !seen[e.ID], "event %s was told twice", e.ID)
		seen[e.ID] = true
		subjects = append(subjects, e.Subject)
	}
	l.events = nil
	return subjects
}

func TestEveryEventOfALifeIsToldOnce(t *testing.T) {
	t.Parallel()
	l := &listener{}
	w := newWorld(t, func(o *snapshot.Options) { o.Publisher = l })
	w.remember("one")
	seen := map[string]bool{}
	want := func(what string, subjects ...string) {
		t.Helper()
		full := []string{}
		for _, s := range subjects {
			full = append(full, "amber.memory.snapshot.default."+s)
		}
		must.Equal(t, what, l.heard(t, seen), full)
	}
	first := w.snapshot()
	want("create", "default.created")
	w.mustVerify(first.ID)
	want("verify", "default.verified")
	w.restore(first.ID, func(r *wire.RestoreRequest) { r.DryRun = true })
	want("plan of a restore")
	report := w.restore(first.ID)
	want("restore", "default.created", "default.restored")
	w.remember("two")
	w.snapshot()
	want("create", "default.created")
	must.Do(t, w.engine.DeleteSnapshot(t.Context(), ref(report.SafetySnapshot)))
	want("delete", "default.deleted")
	prune := wire.PruneRequest{Tenant: "default", Agent: "default", KeepLast: 1}
	must.Get(w.engine.PruneSnapshots(t.Context(), prune))(t)
	want("prune", "default.deleted", "default.pruned")
	must.Get(w.engine.PruneSnapshots(t.Context(), prune))(t)
	want("prune of nothing")
	w.gc()
	want("gc", "_all.gc")
}

func TestAPublisherThatFailsFailsNothing(t *testing.T) {
	t.Parallel()
	var warned []string
	l := &listener{fail: amber.Errorf(amber.KindUnreachable, "publish", "", "nobody is there")}
	w := newWorld(t, func(o *snapshot.Options) {
		o.Publisher, o.LifecyclePrefix = l, "acme.frozen"
		o.Warn = func(s string) { warned = append(warned, s) }
	})
	w.remember("one")
	meta := w.snapshot()
	must.Hold(t, len(warned) == 1 && strings.Contains(warned[0], string(meta.ID)), "warned of %q", warned)
	if got := l.heard(t, map[string]bool{}); len(got) != 1 || got[0] != "acme.frozen.default.default.created" {
		t.Errorf("subjects are %q", got)
	}
}
