package metrics_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// busySnapshots reports a number for everything that a metric counts.
type busySnapshots struct{ noSnapshots }

func (busySnapshots) Snapshot(_ context.Context, r wire.SnapshotRequest) (wire.SnapshotMeta, error) {
	return wire.SnapshotMeta{Tenant: r.Tenant, Agent: r.Agent, BytesTotal: 100, BytesNew: 7, FenceMS: 3}, nil
}

func (busySnapshots) VerifySnapshot(context.Context, wire.VerifyRequest) (wire.VerifyReport, error) {
	return wire.VerifyReport{Damaged: make([]wire.Damage, 2)}, nil
}

func (busySnapshots) CollectGarbage(_ context.Context, r wire.GCRequest) (wire.GCReport, error) {
	return wire.GCReport{Freed: 50, Deleted: 3, DryRun: r.DryRun}, nil
}

func (busySnapshots) CheckRepository(context.Context, wire.CheckRequest) (wire.CheckReport, error) {
	return wire.CheckReport{Damaged: make([]wire.Damage, 1)}, nil
}

// halfAudit takes entries of agents and no others.
type halfAudit struct{ wire.AuditLog }

func (halfAudit) Record(_ context.Context, e wire.AuditEntry) error {
	if e.Agent == "" {
		return errSecret
	}
	return nil
}

func (halfAudit) VerifyAudit(context.Context) (wire.AuditReport, error) {
	return wire.AuditReport{Damaged: []string{"3"}}, nil
}

// noTokens lets no caller in.
type noTokens struct{ wire.Tokens }

func (noTokens) Authenticate(_ context.Context, secret string) (wire.Grant, error) {
	if secret == "" {
		return wire.Grant{}, errSecret
	}
	return wire.Grant{}, amber.Errorf(amber.KindRefused, "authenticate", "", "no")
}

// mover is an action that moves a metric, and the lines that a scrape shows then.
type mover struct {
	move func(t *testing.T, m *metrics.Metrics)
	want []string // of a histogram the counts
}

func writes(t *testing.T, m *metrics.Metrics) {
	s := m.Store(tenant, agent, newStore(t))
	must.NoError(t, must.Err(s.LongTerm.Write(t.Context(), amber.WriteRequest{Title: "ab", Content: "cde"})))
	must.Fail(s.Memories.Get(t.Context(), "0199a3f2-0000-7000-8000-000000000000"))(t, "", amber.KindNotFound)
	must.NoError(t, must.Err(s.Memories.List(t.Context(), amber.ListQuery{})))
}

func snapshotsMove(t *testing.T, m *metrics.Metrics) {
	s, c := m.Snapshots(tenant, agent, busySnapshots{}), m.Repository(tenant, busySnapshots{})
	_, _ = s.Snapshot(t.Context(), wire.SnapshotRequest{Tenant: tenant, Agent: agent})
	_, _ = s.VerifySnapshot(t.Context(), wire.VerifyRequest{SnapshotRef: wire.SnapshotRef{Tenant: tenant, Agent: agent}})
	_, _ = s.CollectGarbage(t.Context(), wire.GCRequest{Tenant: tenant})
	_, _ = s.CollectGarbage(t.Context(), wire.GCRequest{Tenant: tenant, DryRun: true})
	_, _ = c.CheckRepository(t.Context(), wire.CheckRequest{Tenant: tenant})
}

func retains(_ *testing.T, m *metrics.Metrics) {
	m.Retention(events.RetentionReport{Deleted: 2, Kept: 9, OrphansRemoved: 1, At: amber.At(start)}, nil)
	m.Retention(events.RetentionReport{Deleted: 1, Kept: 8, Errors: []string{"a", "b"}, At: amber.At(start.Add(time.Hour))}, nil)
	m.Retention(events.RetentionReport{Kept: 7, At: amber.At(start.Add(time.Hour))}, errSecret)
}

func backsUp(_ *testing.T, m *metrics.Metrics) {
	m.Backup(tenant, agent, false, nil)
	m.Backup(tenant, agent, true, nil)
	m.Backup(tenant, agent, true, amber.Errorf(amber.KindUnreachable, "back up", "", "it is away"))
	m.BackedUp(tenant, agent, amber.At(start.Add(-time.Hour)))
	m.BackedUp(tenant, agent, amber.At(start))
	m.BackupsFail(tenant, agent, amber.At(start))
}

func serves(_ *testing.T, m *metrics.Metrics) {
	m.ExpectRoutes("/v1/x/{id}")
	m.HTTP("/v1/x/{id}", "GET", 200, time.Second, 0, 20)
	m.HTTP("/v1/x/123", "BREW", 999, time.Second, 10, 0)
}

func callsTools(_ *testing.T, m *metrics.Metrics) {
	m.ExpectTools("memory_write")
	m.Tool("memory_write", nil, time.Second)
	m.Tool("rm", errSecret, time.Second)
}

func audits(t *testing.T, m *metrics.Metrics) {
	l := m.Audit(halfAudit{})
	_ = l.Record(t.Context(), wire.AuditEntry{Tenant: tenant, Agent: agent, Outcome: "ok"})
	_ = l.Record(t.Context(), wire.AuditEntry{Tenant: tenant, Agent: agent, Outcome: "the cat"})
	if err := l.Record(t.Context(), wire.AuditEntry{}); err == nil {
		t.Error("the error was swallowed")
	}
	_, _ = l.VerifyAudit(t.Context())
}

func lets(t *testing.T, m *metrics.Metrics) {
	tokens := m.Tokens(noTokens{})
	_, _ = tokens.Authenticate(t.Context(), "amber_x")
	_, _ = tokens.Authenticate(t.Context(), "")
	m.AuthFailed(metrics.AuthMissing)
	m.AuthFailed(metrics.AuthScope)
	m.AuthFailed("the cat")
}

func asks(_ *testing.T, m *metrics.Metrics) {
	m.Watch(metrics.Sources{
		OpenAgents: func() int { return 4 },
		Bus: func() metrics.BusState {
			return metrics.BusState{Connected: true, Published: 5, Failed: 6, Skipped: 1, Lag: 7}
		},
		Database: func() metrics.DatabaseState {
			return metrics.DatabaseState{
				Counts: pgdb.Counts{
					Connections: 3, InUse: 2, Most: 16, PoolWaits: 4, Writes: 5, HeadWait: 1500 * time.Millisecond, HeadsTaken: 6, Retries: 7, Settled: 8, Unknown: 9,
				},
				SetBack: true, Oldest: 10, LagBytes: 11, Servers: 12, Agents: map[string]int{"thousand": 13},
			}
		},
		Workers: func() []wire.WorkerHealth {
			return []wire.WorkerHealth{{Name: "retention", Status: amber.Healthy, Runs: 8, Failures: 2, LastRun: amber.At(start)}}
		},
	})
}

// looks looks once.
func looks(t *testing.T, m *metrics.Metrics) {
	m.Watch(metrics.Sources{Look: func(context.Context) ([]metrics.AgentGauges, error) {
		return []metrics.AgentGauges{{
			Tenant: tenant, Agent: agent,
			Memory:    &metrics.MemoryGauges{Memories: 1, Sessions: 2, Bytes: 3},
			Journal:   &metrics.JournalGauges{Undrained: 4, Oldest: ago(5 * time.Second), Bytes: 6, Quarantined: 7, Damaged: 8},
			Snapshots: &metrics.SnapshotGauges{Count: 9, Newest: ago(10 * time.Second), Bytes: 11, BytesNew: 12, Damaged: 13},
			Queue:     &amber.Backpressure{Queued: 14, Leased: 15, Dead: 16, MaxInFlight: 17, Available: 18},
			Sync:      &metrics.SyncGauges{Conflicts: 20},
		}, {Tenant: tenant, Repository: &metrics.RepositoryGauges{Stored: 25, Total: 100}}}, nil
	}})
	must.NoError(t, m.Look(t.Context()))
}

// mine is a sample of the agent of these tests.
func mine(name, more, value string) string {
	return name + `{agent="scout",` + more + `tenant="acme"} ` + value
}

// movers says, for every metric, what moves it and what is seen then.
func movers() map[string]mover {
	all := map[string]mover{
		"amber_operations_total": {writes, []string{
			mine("amber_operations_total", `layer="long_term",operation="get",outcome="not_found",`, "1"),
			mine("amber_operations_total", `layer="long_term",operation="list",outcome="ok",`, "1"),
			mine("amber_operations_total", `layer="long_term",operation="write",outcome="ok",`, "1"),
		}},
		"amber_operation_duration_seconds": {writes, []string{
			`amber_operation_duration_seconds_count{layer="long_term",operation="get"} 1`,
			`amber_operation_duration_seconds_count{layer="long_term",operation="list"} 1`,
			`amber_operation_duration_seconds_count{layer="long_term",operation="write"} 1`,
		}},
		"amber_operation_bytes_total": {writes, []string{
			mine("amber_operation_bytes_total", `direction="in",layer="long_term",`, "5"),
			mine("amber_operation_bytes_total", `direction="out",layer="long_term",`, "5"),
		}},
		"amber_operation_items_total": {writes, []string{
			mine("amber_operation_items_total", `layer="long_term",operation="list",`, "1"),
			mine("amber_operation_items_total", `layer="long_term",operation="write",`, "1"),
		}},
		"amber_operations_in_flight": {
			func(t *testing.T, m *metrics.Metrics) { m.Begin(t.Context(), wire.Operation{Layer: "notes"}) },
			[]string{`amber_operations_in_flight{layer="notes"} 1`},
		},
		"amber_label_overflow_total": {
			func(_ *testing.T, m *metrics.Metrics) { tell(m, "NO ID", "x") },
			[]string{"amber_label_overflow_total 1"},
		},
		"amber_http_requests_total": {serves, []string{
			`amber_http_requests_total{method="GET",route="/v1/x/{id}",status="2xx"} 1`,
			`amber_http_requests_total{method="other",route="other",status="other"} 1`,
		}},
		"amber_http_request_duration_seconds": {serves, []string{
			`amber_http_request_duration_seconds_count{method="GET",route="/v1/x/{id}"} 1`,
			`amber_http_request_duration_seconds_count{method="other",route="other"} 1`,
		}},
		"amber_http_bytes_total": {serves, []string{
			`amber_http_bytes_total{direction="in",route="other"} 10`,
			`amber_http_bytes_total{direction="out",route="/v1/x/{id}"} 20`,
		}},
		"amber_mcp_tool_calls_total": {callsTools, []string{
			`amber_mcp_tool_calls_total{outcome="internal",tool="other"} 1`,
			`amber_mcp_tool_calls_total{outcome="ok",tool="memory_write"} 1`,
		}},
		"amber_mcp_tool_duration_seconds": {callsTools, []string{
			`amber_mcp_tool_duration_seconds_count{tool="memory_write"} 1`,
			`amber_mcp_tool_duration_seconds_count{tool="other"} 1`,
		}},
		"amber_auth_failures_total": {lets, []string{
			`amber_auth_failures_total{reason="error"} 1`, `amber_auth_failures_total{reason="missing"} 1`,
			`amber_auth_failures_total{reason="other"} 1`, `amber_auth_failures_total{reason="refused"} 1`,
			`amber_auth_failures_total{reason="scope"} 1`,
		}},
		"amber_snapshot_operations_total": {snapshotsMove, []string{
			`amber_snapshot_operations_total{agent="_all",operation="check_repository",outcome="ok",tenant="acme"} 1`,
			`amber_snapshot_operations_total{agent="_all",operation="collect_garbage",outcome="ok",tenant="acme"} 2`,
			mine("amber_snapshot_operations_total", `operation="snapshot",outcome="ok",`, "1"),
			mine("amber_snapshot_operations_total", `operation="verify_snapshot",outcome="ok",`, "1"),
		}},
		"amber_snapshot_operation_duration_seconds": {snapshotsMove, []string{
			`amber_snapshot_operation_duration_seconds_count{operation="check_repository"} 1`,
			`amber_snapshot_operation_duration_seconds_count{operation="collect_garbage"} 2`,
			`amber_snapshot_operation_duration_seconds_count{operation="snapshot"} 1`,
			`amber_snapshot_operation_duration_seconds_count{operation="verify_snapshot"} 1`,
		}},
		"amber_snapshot_bytes_total": {snapshotsMove, []string{
			mine("amber_snapshot_bytes_total", `kind="held",`, "100"), mine("amber_snapshot_bytes_total", `kind="stored",`, "7"),
		}},
		"amber_snapshot_fence_seconds": {snapshotsMove, []string{"amber_snapshot_fence_seconds_count 1"}},
		"amber_damage_found_total": {snapshotsMove, []string{
			`amber_damage_found_total{agent="_all",operation="check_repository",tenant="acme"} 1`,
			mine("amber_damage_found_total", `operation="verify_snapshot",`, "2"),
		}},
		"amber_gc_freed_bytes_total":   {snapshotsMove, []string{`amber_gc_freed_bytes_total{tenant="acme"} 50`}},
		"amber_gc_deleted_packs_total": {snapshotsMove, []string{`amber_gc_deleted_packs_total{tenant="acme"} 3`}},
		"amber_retention_rounds_total": {retains, []string{
			`amber_retention_rounds_total{outcome="failed"} 1`, `amber_retention_rounds_total{outcome="ok"} 1`,
			`amber_retention_rounds_total{outcome="partial"} 1`,
		}},
		"amber_vault_backups_total": {backsUp, []string{
			mine("amber_vault_backups_total", `outcome="ok",`, "1"), mine("amber_vault_backups_total", `outcome="unchanged",`, "1"),
			mine("amber_vault_backups_total", `outcome="unreachable",`, "1"),
		}},
		"amber_audit_entries_total": {audits, []string{
			mine("amber_audit_entries_total", `outcome="ok",`, "1"), mine("amber_audit_entries_total", `outcome="other",`, "1"),
		}},
		"amber_http_requests_in_flight": {func(t *testing.T, m *metrics.Metrics) {
			m.InFlight(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				want := []string{"amber_http_requests_in_flight 1"}
				must.Equal(t, "", lines(t, m, "amber_http_requests_in_flight"), want)
			})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		}, []string{"amber_http_requests_in_flight 0"}},
		"amber_queue_entries": {looks, []string{
			mine("amber_queue_entries", `state="dead",`, "16"), mine("amber_queue_entries", `state="leased",`, "15"),
			mine("amber_queue_entries", `state="queued",`, "14"),
		}},
		"amber_look_rounds_total": {looks, []string{`amber_look_rounds_total{outcome="ok"} 1`}},
	}
	plain := func(move func(*testing.T, *metrics.Metrics), shape func(name, more, value string) string, of map[string]string) {
		for name, value := range of {
			all[name] = mover{move, []string{shape(name, "", value)}}
		}
	}
	plain(looks, mine, map[string]string{
		"amber_memories": "1", "amber_sessions": "2", "amber_store_bytes": "3", "amber_journal_undrained_entries": "4",
		"amber_journal_oldest_undrained_age_seconds": "5", "amber_journal_bytes": "6", "amber_journal_quarantined_files": "7",
		"amber_journal_damaged_places": "8", "amber_snapshots": "9", "amber_snapshot_newest_age_seconds": "10",
		"amber_snapshot_newest_bytes": "11", "amber_snapshot_newest_new_bytes": "12", "amber_snapshots_damaged": "13",
		"amber_queue_leases_max": "17", "amber_queue_leases_available": "18",
		"amber_sync_open_conflicts": "20",
	})
	ofTenant := func(name, _, value string) string { return name + `{tenant="acme"} ` + value }
	plain(looks, ofTenant, map[string]string{
		"amber_repository_stored_bytes": "25", "amber_repository_snapshot_bytes": "100", "amber_repository_dedupe_ratio": "0.25",
	})
	bare := func(name, _, value string) string { return name + " " + value }
	const at = "1.767323045e+09" // start
	plain(looks, bare, map[string]string{"amber_look_last_success_timestamp_seconds": at})
	plain(retains, bare, map[string]string{
		"amber_retention_deleted_total": "3", "amber_retention_kept": "7", "amber_retention_orphans_removed_total": "1",
		"amber_retention_errors_total": "3", "amber_retention_last_success_timestamp_seconds": at,
	})
	plain(backsUp, mine, map[string]string{"amber_vault_last_success_timestamp_seconds": at, "amber_vault_failing_since_timestamp_seconds": at})
	plain(audits, bare, map[string]string{"amber_audit_failures_total": "1", "amber_audit_damaged": "1"})
	plain(asks, bare, map[string]string{
		"amber_agents_open": "4", "amber_nats_connected": "1", "amber_nats_published_total": "5", "amber_nats_failed_total": "6",
		"amber_nats_skipped_total": "1", "amber_nats_lag_entries": "7",
		"amber_database_connection_waits_total": "4", "amber_database_writes_total": "5", "amber_database_head_wait_seconds_total": "1.5",
		"amber_database_heads_taken_total": "6", "amber_database_retries_total": "7", "amber_database_commits_settled_total": "8",
		"amber_database_commits_unknown_total": "9", "amber_database_set_back": "1", "amber_database_oldest_view_seconds": "10",
		"amber_database_standby_lag_bytes": "11", "amber_database_servers": "12",
	})
	all["amber_database_connections"] = mover{asks, []string{
		`amber_database_connections{state="most"} 16`, `amber_database_connections{state="open"} 3`, `amber_database_connections{state="used"} 2`,
	}}
	all["amber_database_agents"] = mover{asks, []string{`amber_database_agents{class="thousand"} 13`}}
	worker := func(name, _, value string) string { return name + `{worker="retention"} ` + value }
	plain(asks, worker, map[string]string{
		"amber_worker_up": "1", "amber_worker_runs_total": "8", "amber_worker_failures_total": "2",
		"amber_worker_last_success_timestamp_seconds": at,
	})
	return all
}
