package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

// effect sets a key and says what shows it.
type effect struct {
	set     string
	observe func(*testing.T, *house, config.Resolved) any
	want    any
}

// layerEffect moves one layer to another backend.
func layerEffect(l amber.Layer) effect {
	return effect{"other", func(t *testing.T, _ *house, r config.Resolved) any {
		return servedBy(t, r.Store)[l]
	}, "other"}
}

// opened is a value that a backend is opened with.
func opened(of func(config.Config) any) func(*testing.T, *house, config.Resolved) any {
	return func(_ *testing.T, h *house, _ config.Resolved) any { return of(h.sqlite.configs[0]) }
}

// list writes paths as a variable holds them.
func list(paths ...string) string { return strings.Join(paths, string(filepath.ListSeparator)) }

func effects() map[string]effect {
	e := map[string]effect{
		"memory.enabled": {"false", func(t *testing.T, _ *house, r config.Resolved) any {
			_, err := r.Store.LongTerm.Write(t.Context(), amber.WriteRequest{})
			return amber.KindOf(err)
		}, amber.KindRefused},
		"memory.backend": {"other", func(t *testing.T, _ *house, r config.Resolved) any {
			return servedBy(t, r.Store)
		}, map[amber.Layer]string{
			amber.LayerLongTerm: "other", amber.LayerTurns: "other", amber.LayerLoops: "other",
			amber.LayerSessions: "other", amber.LayerNotes: "git", amber.LayerControl: "other",
		}},
		"context.trust": {"own", func(_ *testing.T, _ *house, r config.Resolved) any {
			q, _ := r.Policy.Recall(amber.RecallInput{})
			return q.Trusted
		}, true},
		"context.min_score": {"0.25", func(_ *testing.T, _ *house, r config.Resolved) any {
			q, _ := r.Policy.Recall(amber.RecallInput{})
			return q.MinScore
		}, 0.25},
		"context.max_bytes": {"1024", opened(func(c config.Config) any { return c.Context.MaxBytes }), 1024},
		"context.stay":      {"0", opened(func(c config.Config) any { return c.Context.Stay }), time.Duration(0)},
		"context.budget":    {"1s", opened(func(c config.Config) any { return c.Context.Budget }), time.Second},
		"memory.recall.enabled": {"false", func(t *testing.T, _ *house, r config.Resolved) any {
			_, err := r.Store.LongTerm.Recall(t.Context(), amber.Query{})
			return amber.KindOf(err)
		}, amber.KindRefused},
		"memory.recall.top_k": {"12", func(t *testing.T, h *house, r config.Resolved) any {
			must.Do(t, must.Err(r.Store.LongTerm.Recall(t.Context(), amber.Query{})))
			return h.sqlite.query.Limit
		}, 12},
		"memory.write.enabled": {"false", func(t *testing.T, _ *house, r config.Resolved) any {
			_, err := r.Store.LongTerm.Write(t.Context(), amber.WriteRequest{})
			return amber.KindOf(err)
		}, amber.KindRefused},
		"memory.write.max_batch_size": {"3", func(t *testing.T, _ *house, r config.Resolved) any {
			_, err := r.Store.Batch.WriteBatch(t.Context(), make([]amber.WriteRequest, 4))
			return amber.KindOf(err)
		}, amber.KindInvalid},

		"search.model":      {"https://host.example/v1", opened(func(c config.Config) any { return c.Search.Model }), "https://host.example/v1"},
		"search.model_name": {"all-minilm:22m", opened(func(c config.Config) any { return c.Search.ModelName }), "all-minilm:22m"},
		"search.key_env":    {"OPENAI_API_KEY", opened(func(c config.Config) any { return c.Search.KeyEnv }), "OPENAI_API_KEY"},
		"search.budget":     {"5s", opened(func(c config.Config) any { return c.Search.Budget }), 5 * time.Second},

		"memory.backends.sqlite.busy_timeout":              {"45s", opened(func(c config.Config) any { return c.Memory.Backends.SQLite.BusyTimeout }), 45 * time.Second},
		"memory.backends.sqlite.readers":                   {"2", opened(func(c config.Config) any { return c.Memory.Backends.SQLite.Readers }), 2},
		"memory.backends.remote.url":                       {"https://memory.example.org", opened(func(c config.Config) any { return c.Memory.Backends.Remote.URL }), "https://memory.example.org"},
		"memory.backends.remote.token_file":                {"/etc/amber/token", opened(func(c config.Config) any { return c.Memory.Backends.Remote.TokenFile }), "/etc/amber/token"},
		"memory.backends.postgres.dsn_file":                {"/etc/amber/dsn", opened(func(c config.Config) any { return c.Memory.Backends.Postgres.DSNFile }), "/etc/amber/dsn"},
		"memory.backends.postgres.plain":                   {"true", opened(func(c config.Config) any { return c.Memory.Backends.Postgres.Plain }), true},
		"memory.backends.postgres.connections":             {"9", opened(func(c config.Config) any { return c.Memory.Backends.Postgres.Connections }), 9},
		"memory.backends.postgres.lock_timeout":            {"9s", opened(func(c config.Config) any { return c.Memory.Backends.Postgres.LockTimeout }), 9 * time.Second},
		"memory.backends.postgres.tenants.<name>.dsn_file": {"/etc/amber/tool", opened(func(c config.Config) any { return c.DSNFileOf("tool") }), "/etc/amber/tool"},
		"memory.backends.postgres.migrate":                 {"auto", opened(func(c config.Config) any { return c.Memory.Backends.Postgres.Migrate }), config.MigrateAuto},
		"memory.backends.postgres.settle":                  {"9s", opened(func(c config.Config) any { return c.Memory.Backends.Postgres.Settle }), 9 * time.Second},
		"memory.backends.remote.ca":                        {"/etc/amber/ca.pem", opened(func(c config.Config) any { return c.Memory.Backends.Remote.CA }), "/etc/amber/ca.pem"},
		"control.queue.lease":                              {"1m", opened(func(c config.Config) any { return c.Control.Queue.Lease }), time.Minute},
		"control.queue.max_in_flight":                      {"3", opened(func(c config.Config) any { return c.Control.Queue.MaxInFlight }), 3},
		"control.queue.max_queued":                         {"77", opened(func(c config.Config) any { return c.Control.Queue.MaxQueued }), 77},
		"control.queue.max_attempts":                       {"9", opened(func(c config.Config) any { return c.Control.Queue.MaxAttempts }), 9},

		"journal.flush_interval":    {"20ms", opened(func(c config.Config) any { return c.Journal.FlushInterval }), 20 * time.Millisecond},
		"journal.max_entries":       {"7", opened(func(c config.Config) any { return c.Journal.MaxEntries }), 7},
		"journal.max_session_bytes": {"2MiB", opened(func(c config.Config) any { return c.Journal.MaxSessionBytes }), config.Bytes(2 << 20)},
		"journal.max_bytes":         {"3145728", opened(func(c config.Config) any { return c.Journal.MaxBytes }), config.Bytes(3 << 20)},

		"snapshot.enabled":                   {"false", opened(func(c config.Config) any { return c.Snapshot.Enabled }), false},
		"snapshot.root":                      {"/srv/amber/repo", opened(func(c config.Config) any { return c.Snapshot.Root }), "/srv/amber/repo"},
		"snapshot.lock_timeout":              {"5s", opened(func(c config.Config) any { return c.Snapshot.LockTimeout }), 5 * time.Second},
		"snapshot.auto.before_restore":       {"false", opened(func(c config.Config) any { return c.Snapshot.Auto.BeforeRestore }), false},
		"snapshot.auto.before_consolidation": {"require", opened(func(c config.Config) any { return c.Snapshot.Auto.BeforeConsolidation }), config.Require},
		"snapshot.gc.grace":                  {"2d", opened(func(c config.Config) any { return c.Snapshot.GC.Grace }), 48 * time.Hour},
		"snapshot.retention.keep_last":       {"0", opened(func(c config.Config) any { return c.Snapshot.Retention.KeepLast }), 0},
		"snapshot.retention.keep_hourly":     {"1", opened(func(c config.Config) any { return c.Snapshot.Retention.KeepHourly }), 1},
		"snapshot.retention.keep_daily":      {"2", opened(func(c config.Config) any { return c.Snapshot.Retention.KeepDaily }), 2},
		"snapshot.retention.keep_weekly":     {"3", opened(func(c config.Config) any { return c.Snapshot.Retention.KeepWeekly }), 3},
		"snapshot.retention.interval":        {"2h", opened(func(c config.Config) any { return c.Snapshot.Retention.Interval }), 2 * time.Hour},
		"snapshot.retention.manual":          {"true", opened(func(c config.Config) any { return c.Snapshot.Retention.Manual }), true},
		"snapshot.auto.before_mutating_tool": {"require", opened(func(c config.Config) any { return c.Snapshot.Auto.BeforeMutatingTool }), config.Require},
		"snapshot.auto.schedule":             {"0  3 * * MON", opened(func(c config.Config) any { return c.Snapshot.Auto.Schedule }), "0 3 * * mon"},
		"snapshot.encryption.recipients": {
			ann + ", " + bob, opened(func(c config.Config) any { return c.Snapshot.Encryption.Recipients }), []string{ann, bob},
		},
		"snapshot.encryption.identity": {"/srv/key.txt", opened(func(c config.Config) any { return c.Snapshot.Encryption.Identity }), "/srv/key.txt"},
		"snapshot.sign":                {"false", opened(func(c config.Config) any { return c.Snapshot.Sign }), false},
		"snapshot.require_signed":      {"true", opened(func(c config.Config) any { return c.Snapshot.RequireSigned }), true},
		"events.mutation_enabled":      {"false", opened(func(c config.Config) any { return c.Events.MutationEnabled }), false},
		"events.mutation_prefix":       {"Acme.memory_x", opened(func(c config.Config) any { return c.Events.MutationPrefix }), "Acme.memory_x"},
		"events.lifecycle_prefix":      {"acme", opened(func(c config.Config) any { return c.Events.LifecyclePrefix }), "acme"},
		"events.nats_url":              {"nats://ann:pw@a:4222,tls://b", opened(func(c config.Config) any { return c.Events.NATSURL.Reveal() }), "nats://ann:pw@a:4222,tls://b"},
		"events.nats_creds":            {"/srv/nats.creds", opened(func(c config.Config) any { return c.Events.NATSCreds }), "/srv/nats.creds"},
		"events.jetstream":             {"true", opened(func(c config.Config) any { return c.Events.JetStream }), true},
		"server.listen":                {"localhost:0", opened(func(c config.Config) any { return c.Server.Listen }), "localhost:0"},
		"server.tls_cert":              {"/srv/cert.pem", opened(func(c config.Config) any { return c.Server.TLSCert }), "/srv/cert.pem"},
		"server.tls_key":               {"/srv/key.pem", opened(func(c config.Config) any { return c.Server.TLSKey }), "/srv/key.pem"},
		"server.replica.name":          {"east", opened(func(c config.Config) any { return c.Server.Replica.Name }), "east"},
		"server.replica.lease":         {"9s", opened(func(c config.Config) any { return c.Server.Replica.Lease }), 9 * time.Second},
		"server.max_body":              {"1MiB", opened(func(c config.Config) any { return c.Server.MaxBody }), config.Bytes(1 << 20)},
		"server.memory":                {"1GiB", opened(func(c config.Config) any { return c.Server.Memory }), config.Bytes(1 << 30)},
		"write.review":                 {"none", opened(func(c config.Config) any { return c.Write.Review }), config.Insistence("none")},
		"write.redact":                 {"false", opened(func(c config.Config) any { return c.Intake() == nil }), true},
		"redact.rules": {"ticket = TCK-[0-9]{1,6}\nroom = R[0-9]{3}", opened(func(c config.Config) any {
			out, _ := c.Redactor().String("see TCK-123456 in R101")
			return out
		}), "see [REDACTED:ticket] in [REDACTED:room]"},
		"redact.exceptions": {"AKIA2E0A8F3B244C998[0-9]", opened(func(c config.Config) any {
			out, _ := c.Intake().String("key AKIA2E0A8F3B244C9986")
			return out
		}), "key AKIA2E0A8F3B244C9986"},
		"export.redact": {"false", opened(func(c config.Config) any { return c.Export.Redact }), false},

		"memory.write_back.enabled":   {"false", writtenBack(amber.LessonLearning), "memory.write_back.enabled is false"},
		"memory.write_back.learnings": {"false", writtenBack(amber.LessonLearning), "memory.write_back.learnings is false"},
		"memory.write_back.digests":   {"false", writtenBack(amber.LessonDigest), "memory.write_back.digests is false"},
		"memory.write_back.cases":     {"true", writtenBack(amber.LessonCase), ""},

		"digest.command": {"/srv/digest", opened(func(c config.Config) any { return c.Digest.Command }), "/srv/digest"},
		"digest.url":     {"http://127.0.0.1:11434/v1", opened(func(c config.Config) any { return c.Digest.URL }), "http://127.0.0.1:11434/v1"},
		"digest.model":   {"small", opened(func(c config.Config) any { return c.Digest.Model }), "small"},
		"digest.key_env": {"MODEL_KEY", opened(func(c config.Config) any { return c.Digest.KeyEnv }), "MODEL_KEY"},
		"digest.timeout": {"2m", opened(func(c config.Config) any { return c.Digest.Timeout }), 2 * time.Minute},

		"sync.sign":           {"false", opened(func(c config.Config) any { return c.Sync.Sign }), false},
		"sync.require_signed": {"true", opened(func(c config.Config) any { return c.Sync.RequireSigned }), true},
		"sync.prompts":        {"true", opened(func(c config.Config) any { return c.Sync.Prompts }), true},

		"snapshot.retention.max_age": {"10d", opened(func(c config.Config) any { return c.Snapshot.Retention.MaxAge }), 240 * time.Hour},

		"sources.<name>.git": {"/srv/notes", opened(func(c config.Config) any { return c.Sources["tool"] }), config.Foreign{Git: "/srv/notes"}},
		"sources.<name>.sqlite": {
			list("/srv/a.db", "/srv/b.db"), opened(func(c config.Config) any { return c.Sources["tool"] }),
			config.Foreign{SQLite: []string{"/srv/a.db", "/srv/b.db"}},
		},
		"sources.<name>.files": {"/srv/files", opened(func(c config.Config) any { return c.Sources["tool"] }), config.Foreign{Files: []string{"/srv/files"}}},

		ov + "primary":         {"tape", opened(viking(func(o config.OpenViking) any { return o.Primary })), "tape"},
		ov + "url":             {"https://viking.example/ov", opened(viking(func(o config.OpenViking) any { return o.URL })), "https://viking.example/ov"},
		ov + "key_file":        {"/srv/viking.key", opened(viking(func(o config.OpenViking) any { return o.KeyFile })), "/srv/viking.key"},
		ov + "keys_dir":        {"/srv/viking", opened(viking(func(o config.OpenViking) any { return o.KeysDir })), "/srv/viking"},
		ov + "mode":            {"DEV", opened(viking(func(o config.OpenViking) any { return o.Mode })), config.VikingDev},
		ov + "min_score":       {"0.6", opened(viking(func(o config.OpenViking) any { return o.MinScore })), 0.6},
		ov + "fusion":          {"rrf", opened(viking(func(o config.OpenViking) any { return o.Fusion })), config.FusionRRF},
		ov + "find_timeout":    {"1s", opened(viking(func(o config.OpenViking) any { return o.FindTimeout })), time.Second},
		ov + "connect_timeout": {"2s", opened(viking(func(o config.OpenViking) any { return o.ConnectTimeout })), 2 * time.Second},
		ov + "request_timeout": {"2s", opened(viking(func(o config.OpenViking) any { return o.RequestTimeout })), 2 * time.Second},
		ov + "feed_budget":     {"0", opened(viking(func(o config.OpenViking) any { return o.FeedBudget })), time.Duration(0)},
		ov + "include":         {"user, session", opened(viking(func(o config.OpenViking) any { return o.Include })), []string{"user", "session"}},
		ov + "any_version":     {"true", opened(viking(func(o config.OpenViking) any { return o.AnyVersion })), true},

		"vault.url":                                       {"https://vault.example/api/v1", opened(func(c config.Config) any { return c.Vault.URL }), "https://vault.example/api/v1"},
		"vault.api_key_file":                              {"/srv/vault.key", opened(func(c config.Config) any { return c.Vault.APIKeyFile }), "/srv/vault.key"},
		"vault.label":                                     {"Ann und Bob", opened(func(c config.Config) any { return c.Vault.Label }), "Ann und Bob"},
		"vault.schedule":                                  {"1D", opened(func(c config.Config) any { return c.Vault.Schedule }), "1d"},
		"vault.after_session":                             {"true", opened(func(c config.Config) any { return c.Vault.AfterSession }), true},
		"vault.keep":                                      {"0", opened(func(c config.Config) any { return c.Vault.Keep }), 0},
		"vault.sign":                                      {"true", opened(func(c config.Config) any { return c.Vault.Sign }), true},
		"vault.recipients":                                {ann + ", " + bob, opened(func(c config.Config) any { return c.Vault.Recipients }), []string{ann, bob}},
		"server.vault.enabled":                            {"false", opened(func(c config.Config) any { return c.VaultOf("other").Enabled }), false},
		"server.vault.tenants.<name>.enabled":             {"false", opened(func(c config.Config) any { return c.VaultOf("tool").Enabled }), false},
		"server.vault.quota":                              {"20MiB", opened(func(c config.Config) any { return c.VaultOf("other").Quota }), config.Bytes(20 << 20)},
		"server.vault.tenants.<name>.quota":               {"20MiB", opened(func(c config.Config) any { return c.VaultOf("tool").Quota }), config.Bytes(20 << 20)},
		"server.vault.max_file":                           {"2MiB", opened(func(c config.Config) any { return c.VaultOf("other").MaxFile }), config.Bytes(2 << 20)},
		"server.vault.tenants.<name>.max_file":            {"2MiB", opened(func(c config.Config) any { return c.VaultOf("tool").MaxFile }), config.Bytes(2 << 20)},
		"server.vault.provisioned":                        {"true", opened(func(c config.Config) any { return c.VaultOf("other").Provisioned }), true},
		"server.vault.tenants.<name>.provisioned":         {"true", opened(func(c config.Config) any { return c.VaultOf("tool").Provisioned }), true},
		"server.vault.max_files":                          {"7", opened(func(c config.Config) any { return c.VaultOf("other").MaxFiles }), 7},
		"server.vault.tenants.<name>.max_files":           {"7", opened(func(c config.Config) any { return c.VaultOf("tool").MaxFiles }), 7},
		"server.vault.extensions":                         {".md, .org", opened(func(c config.Config) any { return c.VaultOf("other").Extensions }), []string{".md", ".org"}},
		"server.vault.tenants.<name>.extensions":          {".md, .org", opened(func(c config.Config) any { return c.VaultOf("tool").Extensions }), []string{".md", ".org"}},
		"server.vault.operations_per_hour":                {"0", opened(func(c config.Config) any { return c.VaultOf("other").OperationsPerHour }), 0},
		"server.vault.tenants.<name>.operations_per_hour": {"0", opened(func(c config.Config) any { return c.VaultOf("tool").OperationsPerHour }), 0},
		"server.vault.requests_per_minute":                {"1", opened(func(c config.Config) any { return c.VaultOf("other").RequestsPerMinute }), 1},
		"server.vault.tenants.<name>.requests_per_minute": {"1", opened(func(c config.Config) any { return c.VaultOf("tool").RequestsPerMinute }), 1},
		"server.vault.searches_per_hour":                  {"2", opened(func(c config.Config) any { return c.VaultOf("other").SearchesPerHour }), 2},
		"server.vault.tenants.<name>.searches_per_hour":   {"2", opened(func(c config.Config) any { return c.VaultOf("tool").SearchesPerHour }), 2},
		"server.vault.exports_per_hour":                   {"3", opened(func(c config.Config) any { return c.VaultOf("other").ExportsPerHour }), 3},
		"server.vault.tenants.<name>.exports_per_hour":    {"3", opened(func(c config.Config) any { return c.VaultOf("tool").ExportsPerHour }), 3},
	}
	for _, l := range amber.Layers() {
		e["memory.layers."+string(l)+".backend"] = layerEffect(l)
	}
	return e
}

// ov begins the keys of the openviking backend.
const ov = "memory.backends.openviking."

// viking observes an option of that backend.
func viking(of func(config.OpenViking) any) func(config.Config) any {
	return func(c config.Config) any { return of(c.Memory.Backends.OpenViking) }
}

// writtenBack observes why the policy does not learn a lesson, "" when it does.
func writtenBack(l amber.Lesson) func(*testing.T, *house, config.Resolved) any {
	return func(_ *testing.T, _ *house, r config.Resolved) any {
		_, d := r.Policy.WriteBack(amber.WriteBackInput{Lesson: l, Found: &amber.WriteRequest{}, Goal: "g", Response: "r", Succeeded: true})
		return d.BlockedReason
	}
}

// TestEveryKeyHasAnEffect sets each key by each way there is, and observes
// something that is different without it.
func TestEveryKeyHasAnEffect(t *testing.T) {
	t.Parallel()
	all := effects()
	for _, k := range config.Keys() {
		t.Run(k.Path, func(t *testing.T) {
			t.Parallel()
			e, ok := all[k.Path]
			if !ok {
				t.Fatal("no effect is observed")
			}
			plain := newHouse(t)
			before := e.observe(t, plain, plain.resolve(t, nil))
			if cmp.Equal(before, e.want) {
				t.Fatalf("the effect %v is there without the key", before)
			}
			k.Path = strings.Replace(k.Path, "<name>", "tool", 1)
			for way, in := range waysToSet(k, e.set) {
				h := newHouse(t)
				r, err := h.Resolve(t.Context(), load(t, in).Config)
				if err != nil {
					t.Fatalf("%s: %v", way, err)
				}
				must.Equal(t, way, e.observe(t, h, r), e.want)
			}
		})
	}
}

func TestKeysAreComplete(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range config.Keys() {
		if seen[k.Path] {
			t.Errorf("%s is there twice", k.Path)
		}
		seen[k.Path] = true
		if k.Doc == "" {
			t.Errorf("%s is not explained", k.Path)
		}
	}
	for _, l := range amber.Layers() {
		if !seen["memory.layers."+string(l)+".backend"] {
			t.Errorf("layer %s has no key", l)
		}
	}
	for line := range strings.Lines(string(must.Get(os.ReadFile("keys.txt"))(t))) {
		if path, _, is := strings.Cut(line, ": "); is && !seen[path] {
			t.Errorf("keys.txt explains %s, which is no key", path)
		}
	}
}
