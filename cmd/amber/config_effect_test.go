//go:build linux

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

// effect is what a key of the configuration changes.
type effect struct {
	prepare func(*setting) string // makes what is needed, and returns the value of the key
	see     func(*setting) string // runs the program and returns what it did
	without string                // what see returns when the key is not set
	with    string                // what see returns when the key is set
}

// value sets a key that needs no preparation.
func value(v string) func(*setting) string { return func(*setting) string { return v } }

// TestEveryKeyHasItsEffect sets every key of the configuration and observes through
// the program that something changes. In another program some keys were documented
// and did nothing.
func TestEveryKeyHasItsEffect(t *testing.T) {
	t.Parallel()
	all := effects()
	for _, k := range config.Keys() {
		t.Run(k.Path, func(t *testing.T) {
			t.Parallel()
			e, ok := all[k.Path]
			if !ok {
				t.Fatal("no effect of this key is observed")
			}
			e.check(t, k)
		})
	}
}

// check observes the program without the key and with it.
func (e effect) check(t *testing.T, k config.Key) {
	t.Helper()
	if e.without == e.with {
		t.Fatalf("the effect is %q with and without the key", e.with)
	}
	for _, with := range []bool{false, true} {
		s, want := newSetting(t, with), e.without
		v := e.prepare(s)
		if with {
			want = e.with
			k := k
			k.Path = strings.Replace(k.Path, "<name>", "tool", 1)
			s.set(k.Env(), v)
		}
		if got := e.see(s); got != want {
			t.Errorf("set: %v; seen: %q, want %q", with, got, want)
		}
	}
}

// contract are the keys that users were promised.
const contract = `memory.enabled memory.backend memory.recall.enabled memory.recall.top_k memory.write.enabled memory.write.max_batch_size
memory.write_back.enabled memory.write_back.learnings memory.write_back.digests memory.write_back.cases
memory.backends.sqlite.busy_timeout memory.backends.sqlite.readers
memory.backends.openviking.primary memory.backends.openviking.url memory.backends.openviking.key_file memory.backends.openviking.keys_dir
memory.backends.openviking.mode memory.backends.openviking.min_score memory.backends.openviking.fusion memory.backends.openviking.find_timeout
memory.backends.openviking.connect_timeout memory.backends.openviking.request_timeout memory.backends.openviking.feed_budget
memory.backends.openviking.include memory.backends.openviking.any_version
memory.backends.remote.url memory.backends.remote.token_file memory.backends.remote.ca
memory.backends.postgres.dsn_file memory.backends.postgres.plain memory.backends.postgres.connections
memory.backends.postgres.lock_timeout memory.backends.postgres.settle memory.backends.postgres.migrate
memory.backends.postgres.tenants.<name>.dsn_file
sources.<name>.git sources.<name>.sqlite sources.<name>.files
journal.flush_interval journal.max_entries journal.max_session_bytes journal.max_bytes
snapshot.enabled snapshot.root snapshot.lock_timeout
snapshot.auto.before_restore snapshot.auto.before_consolidation snapshot.auto.before_mutating_tool snapshot.auto.schedule
snapshot.encryption.recipients snapshot.encryption.identity snapshot.sign snapshot.require_signed
snapshot.retention.keep_last snapshot.retention.keep_hourly snapshot.retention.keep_daily snapshot.retention.keep_weekly
snapshot.retention.max_age snapshot.retention.interval snapshot.gc.grace
events.mutation_enabled events.mutation_prefix events.lifecycle_prefix events.nats_url events.jetstream
export.redact write.redact search.model search.model_name search.key_env search.budget context.trust context.min_score context.max_bytes context.budget
server.listen server.tls_cert server.tls_key server.max_body server.memory server.replica.name server.replica.lease
control.queue.lease control.queue.max_in_flight
vault.url vault.label vault.schedule vault.after_session vault.keep`

// TestPromisedKeysExist checks that every promised key exists, and that an unknown
// key is refused and never ignored.
func TestPromisedKeysExist(t *testing.T) {
	t.Parallel()
	all := effects()
	var schema []string
	for _, k := range config.Keys() {
		schema = append(schema, k.Path)
	}
	promised := strings.Fields(contract)
	for _, l := range amber.Layers() {
		promised = append(promised, "memory.layers."+string(l)+".backend")
	}
	for _, k := range promised {
		if !slices.Contains(schema, k) {
			t.Errorf("key %s does not exist", k)
		}
	}
	for k := range all {
		if !slices.Contains(schema, k) {
			t.Errorf("the effect of %s is observed, but the key does not exist", k)
		}
	}
	s := newSetting(t, true)
	must.Equal(t, "an unknown key", s.try("AMBER_OPENVIKING__URL=1", "list"), "exit 2")
	must.Equal(t, "postgres without an address", s.try("AMBER_MEMORY__BACKEND=postgres", "list"), "exit 2")
}

// effects returns the effect of every key, by path.
func effects() map[string]effect {
	all := map[string]effect{}
	for _, some := range []map[string]effect{
		memoryEffects(), layerEffects(), queueEffects(), journalEffects(),
		snapshotEffects(), automaticEffects(), trustEffects(), retentionEffects(), sourceEffects(), shareEffects(),
		searchEffects(), vikingEffects(), remoteEffects(), postgresEffects(), contextEffects(), serverEffects(), eventEffects(), vaultEffects(), serverVaultEffects(), digestEffects(),
	} {
		for k, e := range some {
			all[k] = e
		}
	}
	return all
}
