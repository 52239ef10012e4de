package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

func agentDesc(name, help string, more ...string) *prometheus.Desc {
	return desc(name, help, owned(more...)...)
}

var (
	descMemories         = agentDesc("memories", "Memories that are alive.")
	descSessions         = agentDesc("sessions", "Sessions.")
	descStoreBytes       = agentDesc("store_bytes", "Bytes of the databases of an agent.")
	descJournalDepth     = agentDesc("journal_undrained_entries", "Entries of the crash journal that the store has not taken yet.")
	descJournalAge       = agentDesc("journal_oldest_undrained_age_seconds", "Age of the oldest entry that the store has not taken yet; 0 without one.")
	descJournalBytes     = agentDesc("journal_bytes", "Bytes of the crash journal.")
	descJournalSetAside  = agentDesc("journal_quarantined_files", "Files of the crash journal that were set aside.")
	descJournalDamaged   = agentDesc("journal_damaged_places", "Places of the crash journal where bytes are not what was written.")
	descSnapshots        = agentDesc("snapshots", "Snapshots.")
	descSnapshotsDamaged = agentDesc("snapshots_damaged", "Snapshots whose manifest cannot be read.")
	descSnapshotAge      = agentDesc("snapshot_newest_age_seconds", "Age of the newest snapshot.")
	descSnapshotBytes    = agentDesc("snapshot_newest_bytes", "Bytes that the newest snapshot holds.")
	descSnapshotNew      = agentDesc("snapshot_newest_new_bytes", "Bytes that had to be stored for the newest snapshot.")
	descQueue            = agentDesc("queue_entries", "Entries of the queue: queued, leased and dead.", "state")
	descQueueMax         = agentDesc("queue_leases_max", "Leases that may be out at one time.")
	descQueueFree        = agentDesc("queue_leases_available", "Leases that may still be given out.")
	descSyncConflicts    = agentDesc("sync_open_conflicts", "Memories that were changed at two places without knowing of each other.")

	descRepoStored = desc("repository_stored_bytes", "Bytes of a tenant's repository.", labelTenant)
	descRepoTotal  = desc("repository_snapshot_bytes", "Bytes that the snapshots of a repository hold, each counted whole.", labelTenant)
	descRepoRatio  = desc("repository_dedupe_ratio", "Bytes stored for each byte the snapshots hold.", labelTenant)
)

func agentDescs() []*prometheus.Desc {
	return []*prometheus.Desc{
		descMemories, descSessions, descStoreBytes,
		descJournalDepth, descJournalAge, descJournalBytes, descJournalSetAside, descJournalDamaged,
		descSnapshots, descSnapshotsDamaged, descSnapshotAge, descSnapshotBytes, descSnapshotNew,
		descQueue, descQueueMax, descQueueFree, descSyncConflicts,
		descRepoStored, descRepoTotal, descRepoRatio,
	}
}

// collectAgents shows what the last look has seen. An agent without labels of its own is left out:
// the sum of ages and ratios of several agents means nothing.
func (m *Metrics) collectAgents(ch chan<- prometheus.Metric, all []AgentGauges, now time.Time) {
	shown := map[agentName]bool{}
	for _, g := range all {
		name := agentName{g.Tenant, g.Agent}
		tenant, agent := m.ids.labels(g.Tenant, g.Agent)
		if shown[name] || tenant != string(g.Tenant) || agent == idOther {
			continue
		}
		shown[name] = true
		if g.Agent == "" {
			g.collectTenant(ch, tenant)
			continue
		}
		g.collect(func(d *prometheus.Desc, v float64, more ...string) {
			ch <- gauge(d, v, append([]string{tenant, agent}, more...)...)
		}, now)
	}
}

func (g AgentGauges) collect(show func(d *prometheus.Desc, v float64, more ...string), now time.Time) {
	if s := g.Memory; s != nil {
		show(descMemories, float64(s.Memories))
		show(descSessions, float64(s.Sessions))
		show(descStoreBytes, float64(s.Bytes))
	}
	if j := g.Journal; j != nil {
		waiting := 0.0
		if !j.Oldest.IsZero() {
			waiting = age(now, j.Oldest)
		}
		show(descJournalDepth, float64(j.Undrained))
		show(descJournalAge, waiting)
		show(descJournalBytes, float64(j.Bytes))
		show(descJournalSetAside, float64(j.Quarantined))
		show(descJournalDamaged, float64(j.Damaged))
	}
	if s := g.Snapshots; s != nil {
		s.collect(show, now)
	}
	if q := g.Queue; q != nil {
		show(descQueue, float64(q.Queued), "queued")
		show(descQueue, float64(q.Leased), "leased")
		show(descQueue, float64(q.Dead), "dead")
		show(descQueueMax, float64(q.MaxInFlight))
		show(descQueueFree, float64(q.Available))
	}
	if s := g.Sync; s != nil {
		show(descSyncConflicts, float64(s.Conflicts))
	}
}

// collect shows the newest one only where there is one: no age is young.
func (s SnapshotGauges) collect(show func(d *prometheus.Desc, v float64, more ...string), now time.Time) {
	show(descSnapshots, float64(s.Count))
	show(descSnapshotsDamaged, float64(s.Damaged))
	if !s.Newest.IsZero() {
		show(descSnapshotAge, age(now, s.Newest))
		show(descSnapshotBytes, float64(s.Bytes))
		show(descSnapshotNew, float64(s.BytesNew))
	}
}

func (g AgentGauges) collectTenant(ch chan<- prometheus.Metric, tenant string) {
	r := g.Repository
	if r == nil {
		return
	}
	ch <- gauge(descRepoStored, float64(r.Stored), tenant)
	ch <- gauge(descRepoTotal, float64(r.Total), tenant)
	if r.Total > 0 {
		ch <- gauge(descRepoRatio, float64(r.Stored)/float64(r.Total), tenant)
	}
}
