package metrics_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestAgentsAreLookedAtInTheBackgroundOnly(t *testing.T) {
	t.Parallel()
	m, looks := newMetrics(t), 0
	m.Watch(metrics.Sources{Look: func(ctx context.Context) ([]metrics.AgentGauges, error) {
		looks++
		if _, ok := ctx.Deadline(); !ok {
			t.Error("a look may take forever")
		}
		return []metrics.AgentGauges{{Tenant: tenant, Agent: agent, Memory: &metrics.MemoryGauges{Memories: int64(looks)}}}, nil
	}})
	if got := lines(t, m, "amber_memories"); len(got) > 0 || looks > 0 {
		t.Errorf("before the first look: %v, %d looks", got, looks)
	}
	must.Do(t, m.Look(t.Context()))
	for range 3 {
		must.Equal(t, "", lines(t, m, "amber_memories"), []string{`amber_memories{agent="scout",tenant="acme"} 1`})
	}
	must.Do(t, m.Look(t.Context()))
	must.Equal(t, "", lines(t, m, "amber_memories"), []string{`amber_memories{agent="scout",tenant="acme"} 2`})
	must.Equal(t, "looks in two rounds", looks, 2)
}

func TestWhatWasSeenLongAgoIsNotShown(t *testing.T) {
	t.Parallel()
	at := start
	m := metrics.New(metrics.Options{Clock: func() time.Time { return at }})
	oldest := amber.At(start.Add(-time.Minute))
	m.Watch(metrics.Sources{Look: func(context.Context) ([]metrics.AgentGauges, error) {
		return []metrics.AgentGauges{{Tenant: tenant, Agent: agent, Journal: &metrics.JournalGauges{Undrained: 1, Oldest: oldest}}}, nil
	}})
	must.Do(t, m.Look(t.Context()))
	const name = "amber_journal_oldest_undrained_age_seconds"
	at = start.Add(10 * time.Second)
	must.Equal(t, "an age grows between looks", lines(t, m, name), []string{name + `{agent="scout",tenant="acme"} 70`})
	at = start.Add(6 * metrics.Interval)
	must.Equal(t, "series shown long after the last look", len(lines(t, m, name)), 0)
}

func TestALookThatFailsShowsWhatItSaw(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	m.Watch(metrics.Sources{Look: func(context.Context) ([]metrics.AgentGauges, error) {
		g := metrics.AgentGauges{Tenant: tenant, Agent: agent, Queue: &amber.Backpressure{MaxInFlight: 3}}
		return []metrics.AgentGauges{g, g}, errSecret // twice the same: shown once
	}})
	must.Is(t, "the look", m.Look(t.Context()), errSecret)
	must.Equal(t, "", lines(t, m, "amber_queue_leases_max"), []string{`amber_queue_leases_max{agent="scout",tenant="acme"} 3`})
	must.Equal(t, "", lines(t, m, "amber_look_rounds_total"), []string{`amber_look_rounds_total{outcome="internal"} 1`})
	must.Equal(t, "after no look that went well",
		lines(t, m, "amber_look_last_success_timestamp_seconds")[0], "amber_look_last_success_timestamp_seconds 0")
}

func TestAgentsWithoutLabelsOfTheirOwnAreLeftOut(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	m.Watch(metrics.Sources{Look: func(context.Context) ([]metrics.AgentGauges, error) {
		var all []metrics.AgentGauges
		for i := range metrics.MaxAgents + 10 {
			all = append(all, metrics.AgentGauges{
				Tenant: tenant, Agent: amber.AgentID("a" + strings.Repeat("x", i%60) + string(rune('a'+i/60))), Memory: &metrics.MemoryGauges{},
			})
		}
		return append(all, metrics.AgentGauges{Tenant: "NO ID", Agent: "x", Memory: &metrics.MemoryGauges{}}), nil
	}})
	must.Do(t, m.Look(t.Context()))
	must.Equal(t, "agents shown", len(lines(t, m, "amber_memories")), metrics.MaxAgentsOfOne)
}

func TestAWorkerThatFailsKeepsItsLastSuccess(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	h := wire.WorkerHealth{Name: "journal drain", Status: amber.Healthy, Runs: 1, LastRun: amber.At(start)}
	m.Watch(metrics.Sources{Workers: func() []wire.WorkerHealth { return []wire.WorkerHealth{h, h, {Name: "NO NAME"}} }})
	const name = "amber_worker_last_success_timestamp_seconds"
	want := lines(t, m, name)
	h.Runs, h.Failures, h.Status, h.LastRun, h.LastError = 2, 1, amber.Degraded, amber.At(start.Add(time.Hour)), errSecret.Error()
	must.Equal(t, name, lines(t, m, name), want)
	must.Equal(t, "series", len(want), 1)
	must.Equal(t, "", lines(t, m, "amber_worker_up"), []string{`amber_worker_up{worker="journal drain"} 0`})
}

// TestVaultTimesAreTakenBack: an alarm must not rest on the time of a backup whose agent has none
// any more, or of a failure that is over.
func TestVaultTimesAreTakenBack(t *testing.T) {
	t.Parallel()
	m := newMetrics(t)
	shows := func(want bool) {
		t.Helper()
		text, _ := scrape(t, m, everybody)
		for _, name := range []string{"amber_vault_last_success_timestamp_seconds{", "amber_vault_failing_since_timestamp_seconds{"} {
			must.Equal(t, name+" is there", strings.Contains(text, name), want)
		}
	}
	shows(false)
	m.BackedUp(tenant, agent, amber.At(start))
	m.BackupsFail(tenant, agent, amber.At(start))
	shows(true)
	m.BackedUp(tenant, agent, amber.Time{})
	m.BackupsFail(tenant, agent, amber.Time{})
	shows(false)
}
