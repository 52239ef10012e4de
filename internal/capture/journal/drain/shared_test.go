package drain_test

import (
	"context"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/test/must"
)

// The journals of two machines are drained into one store. To each of them the processes of
// the other look dead, and yet neither ends a session of the other.
func TestASessionOfAnotherMachineIsNotDead(t *testing.T) {
	t.Parallel()
	live := prompt(1, "work")
	live.Process = amber.HostProcess{PID: 4711, Boot: "of the first machine"}
	first, second := newWorld(t, live), newWorld(t)
	second.store = first.store
	theirs := prompt(2, "other work")
	theirs.SessionID = "s-2"
	second.keep(theirs)
	alive := func(p amber.HostProcess) proc.Liveness {
		if p.PID == 0 {
			return proc.Unknown
		}
		return proc.Dead
	}
	first.once(drain.Options{})
	ends := func(w *world, after time.Duration, shared bool) []string {
		t.Helper()
		d := must.Get(drain.New(drain.Options{
			Journal: w.journal, Store: w.store, Alive: alive, Shared: shared, Clock: func() time.Time { return clock().Add(after) },
		}))(t)
		report := must.Get(d.Once(context.Background()))(t)
		must.NoError(t, report.Err())
		return report.Ended
	}
	must.Equal(t, "ended by the other machine", len(ends(second, time.Hour, false)), 0)
	must.Equal(t, "ended by the other machine of a shared store", ends(second, 7*time.Hour, true), []string{"s-2"})
	must.Equal(t, "the session goes on", first.session().EndedAt.IsZero(), true)
	must.Equal(t, "ended by its own machine", ends(first, time.Hour, true), []string{"s-1"})
	must.Equal(t, "reason", first.session().EndReason, amber.EndCrash)
}

// A session that was silent for long ends, wherever its journal is.
func TestASilentSessionOfAnotherMachineEnds(t *testing.T) {
	t.Parallel()
	live := prompt(1, "work")
	live.Process = amber.HostProcess{PID: 4711, Boot: "of the first machine"}
	first, second := newWorld(t, live), newWorld(t)
	first.once(drain.Options{})
	second.store = first.store
	theirs := event(2, journal.HostSessionEnd)
	theirs.SessionID = "s-2"
	second.keep(theirs)
	d := must.Get(drain.New(drain.Options{
		Journal: second.journal, Store: second.store, Clock: func() time.Time { return clock().Add(7 * time.Hour) },
		Alive: func(amber.HostProcess) proc.Liveness { return proc.Dead },
	}))(t)
	must.Equal(t, "ended", must.Get(d.Once(context.Background()))(t).Ended, []string{"s-1"})
	must.Equal(t, "reason", first.session().EndReason, amber.EndIdle)
}

// A server that is away is waited for once, and not again with every session.
func TestARoundEndsWhereASharedStoreIsAway(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, id := range []amber.SessionID{"s-1", "s-2", "s-3"} {
		ev := prompt(i+1, "work")
		ev.SessionID = id
		w.keep(ev)
	}
	asked := 0
	away := &stubborn{Store: w.store, fail: func(amber.Ingestion) error {
		asked++
		return amber.Errorf(amber.KindUnreachable, "ask server", "", "connection refused")
	}}
	report, err := w.worker(drain.Options{Store: away, Shared: true}).Once(context.Background())
	must.Kind(t, "drain", err, amber.KindUnreachable, "connection refused")
	must.Equal(t, "sessions that were tried", asked, 1)
	must.Equal(t, "sessions that failed", len(report.Failed), 1)
	must.Equal(t, "applied later", w.once(drain.Options{Shared: true}).Applied, 3)
}
