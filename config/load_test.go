package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

const testPath = "/etc/amber.yaml"

// fileInput is an input whose file holds text.
func fileInput(text string) config.Input {
	return config.Input{
		Path:     testPath,
		ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
	}
}

func load(t *testing.T, in config.Input) config.Loaded {
	t.Helper()
	return must.Get(config.Load(in))(t)
}

func valueOf(t *testing.T, l config.Loaded, key string) config.Value {
	t.Helper()
	for _, v := range l.Values {
		if v.Key == key {
			return v
		}
	}
	t.Fatalf("no value for %s", key)
	return config.Value{}
}

func TestLoadDefaults(t *testing.T) {
	t.Parallel()
	l := load(t, config.Input{})
	want := config.Config{
		Memory: config.Memory{
			Enabled:   true,
			Backend:   "sqlite",
			Recall:    config.Recall{Enabled: true, TopK: 8},
			Write:     config.Write{Enabled: true, MaxBatchSize: 16},
			WriteBack: config.WriteBack{Enabled: true, Learnings: true, Digests: true},
			Backends: config.Backends{
				SQLite: config.SQLite{BusyTimeout: 30 * time.Second, Readers: 0},
				OpenViking: config.OpenViking{
					Primary: "sqlite", URL: config.DefaultVikingURL, Mode: config.VikingKey, MinScore: 0.75, Fusion: config.FusionBehind,
					FindTimeout: 800 * time.Millisecond, ConnectTimeout: time.Second, RequestTimeout: 5 * time.Second, FeedBudget: 300 * time.Millisecond,
				},
				Postgres: config.Postgres{Connections: 16, LockTimeout: 10 * time.Second, Settle: 15 * time.Second, Migrate: config.MigrateManual},
			},
			Layers: config.Layers{Notes: "git"},
		},
		Search:  config.Search{Model: config.ModelBuiltin, Budget: 2 * time.Second},
		Context: config.Context{Budget: 150 * time.Millisecond, Stay: 10 * time.Minute, MaxBytes: 8 << 10, MinScore: 0.5, Trust: config.ContextDerived},
		Control: config.Control{Queue: amber.QueueOptions{
			Lease: 30 * time.Second, MaxInFlight: 32, MaxQueued: 100_000, MaxAttempts: 5,
		}},
		Journal: config.Journal{FlushInterval: 5 * time.Millisecond, MaxEntries: 64, MaxSessionBytes: 64 << 20, MaxBytes: 1 << 30},
		Digest:  config.Digest{Timeout: 30 * time.Second},
		Snapshot: config.Snapshot{
			Enabled: true, LockTimeout: time.Minute,
			Auto:      config.Auto{BeforeRestore: true, BeforeConsolidation: config.Try, BeforeMutatingTool: config.Off, Schedule: "off"},
			Sign:      true,
			Retention: config.Retention{Rules: wire.PruneRequest{KeepLast: 30, KeepHourly: 24, KeepDaily: 7, KeepWeekly: 8, MaxAge: 90 * 24 * time.Hour}, Interval: time.Hour},
			GC:        config.GC{Grace: 24 * time.Hour},
		},
		Events: config.Events{MutationEnabled: true, MutationPrefix: "amber.memory.mutated", LifecyclePrefix: "amber.memory.snapshot"},
		Write:  config.Writing{Redact: true, Review: "agents"}, Export: config.Export{Redact: true},
		Sync: config.Sync{Sign: true},
		Server: config.Server{Listen: "127.0.0.1:7411", MaxBody: 8 << 20, Memory: 64 << 20, Replica: config.ServerReplica{Lease: 30 * time.Second}, Vault: config.ServerVault{
			Enabled: true, Quota: 10 << 20, MaxFile: 1 << 20, MaxFiles: 1000,
			Extensions:        []string{".md", ".txt", ".html", ".json", ".yaml", ".yml", ".toml", ".xml", ".csv", ".cfg", ".ini", ".conf", ".env", ".log"},
			OperationsPerHour: 60, RequestsPerMinute: 120, SearchesPerHour: 120, ExportsPerHour: 10,
		}},
		Vault: config.Vault{Label: "default", Schedule: "off", Keep: 5},
	}
	must.Equal(t, "config", l.Config, want)
	must.Equal(t, "what is loaded", l.Config, config.Default())
	for _, v := range l.Values {
		if v.Source != config.FromDefault || !cmp.Equal(v.Value, v.Default) {
			t.Errorf("%+v is not the default", v)
		}
	}
	if l.FileFound || l.Path != "" || l.Clamped != nil {
		t.Errorf("got found %v, path %q, clamped %v, want none of them", l.FileFound, l.Path, l.Clamped)
	}
}

// TestDefaultQueue keeps the schema and the root package together.
func TestDefaultQueue(t *testing.T) {
	t.Parallel()
	got := config.Default().Control.Queue.WithDefaults()
	must.Equal(t, "queue defaults", got, amber.QueueOptions{}.WithDefaults())
}

func TestLoadPrecedence(t *testing.T) {
	t.Parallel()
	const key = "memory.recall.top_k"
	file := fileInput("memory: {recall: {top_k: 10}}")
	withEnv := file
	withEnv.Environ = []string{"AMBER_MEMORY__RECALL__TOP_K=11"}
	withFlag := withEnv
	withFlag.Flags = map[string]string{key: "12"}
	tests := []struct {
		name   string
		in     config.Input
		want   int
		source config.Source
	}{
		{"default", config.Input{}, 8, config.FromDefault},
		{"file", file, 10, config.FromFile},
		{"environment over file", withEnv, 11, config.FromEnvironment},
		{"flag over environment", withFlag, 12, config.FromFlag},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := load(t, tt.in)
			want := config.Value{Key: key, Value: tt.want, Source: tt.source, Default: 8}
			must.Equal(t, "value", valueOf(t, l, key), want)
			must.Equal(t, "top_k", l.Config.Memory.Recall.TopK, tt.want)
		})
	}
}

func TestLoadValuesAreSorted(t *testing.T) {
	t.Parallel()
	l := load(t, config.Input{})
	fixed := slices.DeleteFunc(config.Keys(), config.Key.Named)
	if got, want := len(l.Values), len(fixed); got != want {
		t.Fatalf("got %d values, want %d", got, want)
	}
	for i := 1; i < len(l.Values); i++ {
		if a, b := l.Values[i-1].Key, l.Values[i].Key; a >= b {
			t.Errorf("%s comes before %s", a, b)
		}
	}
}

// TestLayerDefaultFollowsBackend checks that a layer that is not set shows
// the backend it really gets.
func TestLayerDefaultFollowsBackend(t *testing.T) {
	t.Parallel()
	l := load(t, fileInput("memory: {backend: other, layers: {turns: {backend: sqlite}}}"))
	want := []config.Value{
		{Key: "memory.layers.loops.backend", Value: "other", Source: config.FromDefault, Default: "other"},
		{Key: "memory.layers.turns.backend", Value: "sqlite", Source: config.FromFile, Default: "other"},
		{Key: "memory.layers.notes.backend", Value: "git", Source: config.FromDefault, Default: "git"},
	}
	for _, w := range want {
		must.Equal(t, w.Key, valueOf(t, l, w.Key), w)
	}
}

func TestLoadDurationsReadWell(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"30s": "30s", "300s": "5m", "24h": "24h", "90m": "1h30m", "61s": "1m1s", "1500ms": "1.5s", "3605s": "1h0m5s",
		"1d": "24h", "0d5m": "5m", "0d1h30m": "1h30m",
	} {
		l := load(t, config.Input{Flags: map[string]string{"control.queue.lease": text}})
		must.Equal[any](t, text, valueOf(t, l, "control.queue.lease").Value, want)
	}
}

func TestLoadClamps(t *testing.T) {
	t.Parallel()
	l := load(t, fileInput(strings.Join([]string{
		"memory:",
		"  write: {max_batch_size: 257}",
		"  recall: {top_k: 65}",
		"  backends: {sqlite: {busy_timeout: 11m, readers: 16}}",
	}, "\n")))
	want := []amber.Clamp{
		{Key: "memory.backends.sqlite.busy_timeout", Requested: 660_000, Effective: 600_000},
		{Key: "memory.recall.top_k", Requested: 65, Effective: 64},
		{Key: "memory.write.max_batch_size", Requested: 257, Effective: 256},
	}
	must.Equal(t, "clamped", l.Clamped, want)
	must.Equal(t, "clamped in the config", l.Config.Clamped, want)
	must.Equal[any](t, "top_k as it is shown", valueOf(t, l, "memory.recall.top_k").Value, 64)
}

// TestLoadClampCountsOnce checks that a value that was overridden is not
// reported as clamped.
func TestLoadClampCountsOnce(t *testing.T) {
	t.Parallel()
	in := fileInput("memory: {recall: {top_k: 1000}}")
	in.Environ = []string{"AMBER_MEMORY__RECALL__TOP_K=9"}
	if l := load(t, in); l.Clamped != nil || l.Config.Memory.Recall.TopK != 9 {
		t.Errorf("got clamped %v and top_k %d, want none and 9", l.Clamped, l.Config.Memory.Recall.TopK)
	}
}

// TestEveryBound sets each number to its cap, above it and below what is
// allowed, by each way there is.
func TestEveryBound(t *testing.T) {
	t.Parallel()
	for _, k := range config.Keys() {
		if !slices.Contains([]config.Type{config.Int, config.Count, config.Duration, config.Span, config.Size}, k.Type) {
			if k.Cap != nil {
				t.Errorf("%s has a cap and is no number", k.Path)
			}
			continue
		}
		t.Run(k.Path, func(t *testing.T) {
			t.Parallel()
			if k.Cap == nil {
				t.Fatal("it has no cap")
			}
			k.Path = strings.Replace(k.Path, "<name>", "tool", 1)
			for way, in := range waysToSet(k, fmt.Sprint(k.Cap)) {
				if l := load(t, in); l.Clamped != nil {
					t.Errorf("%s: the cap itself is clamped: %v", way, l.Clamped)
				}
			}
			for way, in := range waysToSet(k, aboveCap(k)) {
				l := load(t, in)
				if len(l.Clamped) != 1 || l.Clamped[0].Key != k.Path {
					t.Errorf("%s: got %v, want one clamp of %s", way, l.Clamped, k.Path)
				}
			}
			for _, low := range tooLow(k) {
				for way, in := range waysToSet(k, low) {
					_, err := config.Load(in)
					wantError(t, way+" "+low, err, amber.KindInvalid, k.Path)
				}
			}
		})
	}
}

// waysToSet returns an input for each way to set a key.
func waysToSet(k config.Key, text string) map[string]config.Input {
	inFile := text
	switch k.Type {
	case config.Paths:
		inFile = "[" + strings.Join(filepath.SplitList(text), ", ") + "]"
	case config.Patterns:
		inFile = "['" + strings.Join(strings.Split(text, "\n"), "', '") + "']"
	case config.Recipients, config.Extensions, config.Scopes:
		inFile = "[" + text + "]"
	}
	return map[string]config.Input{
		"file":        fileInput(nested(k.Path, inFile)),
		"environment": {Environ: []string{k.Env() + "=" + text}},
		"flag":        {Flags: map[string]string{k.Path: text}},
	}
}

// nested writes path and value as YAML.
func nested(path, value string) string {
	var b strings.Builder
	names := strings.Split(path, ".")
	for i, name := range names {
		fmt.Fprintf(&b, "%s%s:", strings.Repeat("  ", i), name)
		if i < len(names)-1 {
			b.WriteString("\n")
		}
	}
	return b.String() + " " + value + "\n"
}

func aboveCap(k config.Key) string {
	switch most := k.Cap.(type) {
	case time.Duration:
		return (most + time.Second).String()
	case config.Bytes:
		return fmt.Sprint(int64(most) + 1)
	}
	return fmt.Sprint(k.Cap.(int) + 1)
}

func tooLow(k config.Key) []string {
	switch k.Type {
	case config.Duration:
		return []string{"0s", "0", "-1s", "999us"}
	case config.Span:
		return []string{"-1s", "999us"}
	case config.Size:
		return []string{"0", "0MiB", "-1", "-1MiB", "1023KiB"}
	case config.Count:
		return []string{"-1"}
	}
	return []string{"0", "-1"}
}

// wantError checks the kind of an error, that it says each of the words, and that
// it can be shown on a terminal.
func wantError(t *testing.T, what string, err error, kind amber.Kind, words ...string) {
	t.Helper()
	must.Kind(t, what, err, kind, words...)
	if err != nil && strings.ContainsFunc(err.Error(), unicode.IsControl) {
		t.Errorf("%s: the error %q has control characters", what, err)
	}
}

func TestLoadMissingFile(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "config.yaml")
	l := load(t, config.Input{Path: missing})
	if l.FileFound || l.Path != missing {
		t.Errorf("got found %v, path %q, want false and %q", l.FileFound, l.Path, missing)
	}
	_, err := config.Load(config.Input{Path: missing, Explicit: true})
	wantError(t, "explicit", err, amber.KindNotFound, missing)
	_, err = config.Load(config.Input{Explicit: true})
	wantError(t, "no path", err, amber.KindInvalid, "empty")
}

func TestLoadUnreadableFile(t *testing.T) {
	t.Parallel()
	cause := errors.New("the disk is gone")
	tests := []struct {
		name string
		err  error
		kind amber.Kind
	}{
		{"not permitted", &fs.PathError{Op: "open", Path: testPath, Err: fs.ErrPermission}, amber.KindRefused},
		{"broken disk", cause, amber.KindInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := config.Input{Path: testPath, ReadFile: func(string) ([]byte, error) { return nil, tt.err }}
			_, err := config.Load(in)
			wantError(t, tt.name, err, tt.kind, testPath)
			if !errors.Is(err, tt.err) {
				t.Errorf("%v does not wrap its cause", err)
			}
		})
	}
}

func TestLoadFromDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "config.yaml")
	must.Do(t, os.WriteFile(path, []byte("memory: {enabled: false}\n"), 0o600))
	if l := load(t, config.Input{Path: path, Explicit: true}); !l.FileFound || l.Config.Memory.Enabled {
		t.Errorf("got found %v, enabled %v, want true and false", l.FileFound, l.Config.Memory.Enabled)
	}
	_, err := config.Load(config.Input{Path: dir})
	wantError(t, "directory", err, amber.KindInvalid, dir, "directory")
	must.Do(t, os.WriteFile(path, make([]byte, 2<<20), 0o600))
	_, err = config.Load(config.Input{Path: path})
	wantError(t, "large", err, amber.KindInvalid, path, "1048576")
}

func TestDefaultPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := []struct {
		name string
		env  map[string]string
		want string
	}{
		{"xdg", map[string]string{"XDG_CONFIG_HOME": dir, "HOME": "/nowhere"}, filepath.Join(dir, "amber", "config.yaml")},
		{"home", map[string]string{"HOME": dir}, filepath.Join(dir, ".config", "amber", "config.yaml")},
		{"relative xdg is ignored", map[string]string{"XDG_CONFIG_HOME": "conf", "HOME": dir}, filepath.Join(dir, ".config", "amber", "config.yaml")},
		{"neither", nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, "", config.DefaultPath(func(k string) string { return tt.env[k] }), tt.want)
		})
	}
}
