package config_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

// FuzzLoad gives Load any file. It must never panic, refuse with kind invalid,
// and let only known keys and values within their bounds pass.
func FuzzLoad(f *testing.F) {
	for _, seed := range []string{
		"", "# nothing\n", "memory:\n  recall:\n    top_k: 12\n", "{memory: {enabled: no}}",
		"memory: {backend: sqlite, layers: {notes: {backend: git}}}\n---\n", "? a\n: b\n", "&a [*a]",
		"control:\n  queue: {lease: 1h, max_queued: 99999999999}\n", "memory: {enabled: true, enabled: true}",
		"journal: {max_bytes: 64MiB, max_session_bytes: 99999999}\n", "memory:\n  <<: {enabled: false}\n", "memory: !!map {}\n", "memory: |\n  text\n", "\uFEFFmemory: ~\n", "%YAML 1.2\n---\n",
		"vault: {url: https://host/x, label: Ann, recipients: []}\nserver: {vault: {extensions: [], tenants: {a: {quota: 2MiB, extensions: [.md, .x]}}}}\n",
		"sources: {tool: {git: /srv/x, sqlite: [/srv/a.db], files: []}}", "sources: {a: {files: [/x, /x]}}", "sources: {A: {git: x}}",
		"snapshot: {retention: {max_age: 90d, keep_last: 0}, auto: {before_consolidation: off}, root: ~/x}",
		"snapshot: {auto: {schedule: 6h}, sign: false, require_signed: true}", "snapshot: {auto: {schedule: \"*/15 * * * *\"}}",
		"snapshot: {encryption: {recipients: [" + ann + ", \"" + ssh + "\"], identity: ~/key}}", "events: {mutation_prefix: a.b-c, lifecycle_prefix: \"a..b\"}\n",
		"events: {nats_url: \"nats://ann:pw@a:4222, wss://b\", jetstream: true}", "server: {listen: \"[::1]:7411\", max_body: 1MiB, tls_cert: /a, tls_key: /b}",
		"memory:\n}", "memory:\n- enabled: true\n-", "{\"\"\"\":", "memory: {recall: {top_k: 0_}}",
	} {
		f.Add([]byte(seed))
	}
	known := map[string]bool{}
	for _, k := range config.Keys() {
		known[k.Path] = true
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := config.Load(fileInput(string(data)))
		if err != nil {
			if amber.KindOf(err) != amber.KindInvalid || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %q of kind %s, want one line of kind invalid", err, amber.KindOf(err))
			}
			return
		}
		checkBounds(t, l)
		// Every key that a plain decoder sees must be known.
		var doc map[string]any
		if err := yaml.Unmarshal(data, &doc); err != nil {
			return
		}
		checkKnown(t, known, "", doc)
	})
}

// checkBounds checks a loaded configuration by its own values: loading them
// again as flags must change nothing and clamp nothing.
func checkBounds(t *testing.T, l config.Loaded) {
	t.Helper()
	flags := map[string]string{}
	for _, v := range l.Values {
		text, ok := flagText(t, v.Key, v.Value)
		if !ok {
			return
		}
		if text != "" || v.Default != "" { // what is unset by default cannot be unset
			flags[v.Key] = text
		}
	}
	again, err := config.Load(config.Input{Flags: flags})
	if err != nil || again.Clamped != nil {
		t.Fatalf("the values do not load again: %v, clamped %v", err, again.Clamped)
	}
	for i, v := range again.Values {
		if !cmp.Equal(v.Value, l.Values[i].Value) {
			t.Errorf("%s is %v, then %v", v.Key, l.Values[i].Value, v.Value)
		}
	}
}

// flagText writes a value as a flag; false where only a file can hold it.
func flagText(t *testing.T, key string, v any) (string, bool) {
	t.Helper()
	switch v := v.(type) {
	case string:
		return v, true
	case []string:
		if strings.HasPrefix(key, "redact.") {
			return strings.Join(v, "\n"), !slices.ContainsFunc(v, func(s string) bool { return strings.ContainsAny(s, "\r\n") })
		}
		if strings.HasSuffix(key, "recipients") || strings.HasSuffix(key, "extensions") {
			text := strings.Join(v, ",")
			return text, strings.Count(text, ",") == max(0, len(v)-1)
		}
		text := list(v...)
		return text, cmp.Equal(v, append([]string{}, filepath.SplitList(text)...))
	}
	b := must.Get(yaml.Marshal(v))(t)
	return strings.TrimSpace(string(b)), true
}

func checkKnown(t *testing.T, known map[string]bool, path string, doc map[string]any) {
	t.Helper()
	for name, v := range doc {
		at := name
		if path != "" {
			at = path + "." + name
		}
		switch v := v.(type) {
		case map[string]any:
			checkKnown(t, known, at, v)
		case nil: // an empty section
		default:
			if strings.Contains(name, ".") || !known[at] && !known[unnamed(at)] {
				t.Errorf("the unknown key %q passed", at)
			}
		}
	}
}

// unnamed returns the key of the schema for the key of a source or a tenant: the same key with
// <name> in the place of the name.
func unnamed(key string) string {
	parts := strings.Split(key, ".")
	if len(parts) == 5 && strings.HasPrefix(key, "server.vault.tenants.") {
		parts[3] = "<name>"
	}
	if len(parts) == 6 && strings.HasPrefix(key, "memory.backends.postgres.tenants.") {
		parts[4] = "<name>"
	}
	if len(parts) == 3 && parts[0] == "sources" {
		parts[1] = "<name>"
	}
	return strings.Join(parts, ".")
}
