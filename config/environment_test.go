package config_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestEnvironmentBooleans(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"1": true, "true": true, "yes": true, "on": true, "TRUE": true, "Yes": true, "oN": true, " true ": true,
		"0": false, "false": false, "no": false, "off": false, "False": false, "NO": false, "Off": false,
	}
	for text, want := range tests {
		// The switch stands the other way in the file, so that each is seen.
		in := fileInput("memory: {enabled: true}")
		if want {
			in = fileInput("memory: {enabled: false}")
		}
		in.Environ = []string{"AMBER_MEMORY__ENABLED=" + text}
		must.Equal(t, text, load(t, in).Config.Memory.Enabled, want)
	}
}

func TestEnvironmentAccepts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		environ []string
		want    int // memory.recall.top_k
	}{
		{"set", []string{"AMBER_MEMORY__RECALL__TOP_K=12"}, 12},
		{"blank is unset", []string{"AMBER_MEMORY__RECALL__TOP_K="}, 8},
		{"spaces are blank", []string{"AMBER_MEMORY__RECALL__TOP_K= \t"}, 8},
		{"blank unknown is unset", []string{"AMBER_MEMORY__TYPO="}, 8},
		{"spaces around", []string{"AMBER_MEMORY__RECALL__TOP_K= 12 "}, 12},
		{"no configuration", []string{"AMBER_HOME=/srv/amber", "AMBER_DEBUG=1"}, 8},
		{"of others", []string{"OTHER_MEMORY__RECALL=1", "X_AMBER_MEMORY__Y=1", "=C:=C:\\", "lonely"}, 8},
		{"the later counts", []string{"AMBER_MEMORY__RECALL__TOP_K=12", "AMBER_MEMORY__RECALL__TOP_K=13"}, 13},
		{"a later blank unsets", []string{"AMBER_MEMORY__RECALL__TOP_K=12", "AMBER_MEMORY__RECALL__TOP_K="}, 8},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := load(t, config.Input{Environ: tt.environ})
			must.Equal(t, "top_k", l.Config.Memory.Recall.TopK, tt.want)
		})
	}
}

func TestEnvironmentRejects(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, variable, value string
		words                 []string
	}{
		{"unknown", "AMBER_MEMORY__RECALL__TOPK", "1", []string{`"topk"`, "memory.recall", "top_k"}},
		{"removed", "AMBER_MEMORY__BACKENDS__OPENVIKING__SESSIONS", "off", []string{"memory.backends.openviking.sessions was removed", "delete the key"}},
		{"unknown section", "AMBER_VALUTS__LABEL", "1", []string{`"valuts"`}},
		{"a section", "AMBER_MEMORY__RECALL", "1", []string{"memory.recall", "section"}},
		{"below a key", "AMBER_MEMORY__ENABLED__REALLY", "1", []string{"memory.enabled", `"really"`}},
		{"dots", "AMBER_MEMORY__RECALL.TOP_K", "1", []string{`"recall.top_k"`}},
		{"not in capitals", "AMBER_memory__enabled", "1", []string{"AMBER_MEMORY__ENABLED"}},
		{"no name", "AMBER__", "1", []string{"unknown key"}},
		{"not a bool", "AMBER_MEMORY__ENABLED", "maybe", []string{"memory.enabled", `"maybe"`}},
		{"not a number", "AMBER_MEMORY__RECALL__TOP_K", "12.5", []string{"memory.recall.top_k", "whole number"}},
		{"too many digits", "AMBER_MEMORY__RECALL__TOP_K", "99999999999999999999", []string{"memory.recall.top_k"}},
		{"no unit", "AMBER_CONTROL__QUEUE__LEASE", "30", []string{"control.queue.lease", "unit"}},
		{"not a name", "AMBER_MEMORY__BACKEND", "../sqlite", []string{"memory.backend"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(config.Input{Environ: []string{tt.variable + "=" + tt.value}})
			wantError(t, tt.name, err, amber.KindInvalid, append(tt.words, tt.variable)...)
		})
	}
}

func TestFlagsReject(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path, value string
		words             []string
	}{
		{"unknown", "memory.recall.topk", "1", []string{`"topk"`, "memory.recall"}},
		{"a section", "memory", "1", []string{"memory", "section"}},
		{"no path", "", "1", []string{`""`}},
		{"blank is not unset", "memory.recall.top_k", "", []string{"memory.recall.top_k"}},
		{"not a bool", "memory.enabled", "2", []string{"memory.enabled"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(config.Input{Flags: map[string]string{tt.path: tt.value}})
			wantError(t, tt.name, err, amber.KindInvalid, append(tt.words, "flag")...)
		})
	}
}

// TestNamesAreCanonical checks that a backend has one spelling inside.
func TestNamesAreCanonical(t *testing.T) {
	t.Parallel()
	for way, in := range map[string]config.Input{
		"file":        fileInput("memory: {backend: SQLite}"),
		"environment": {Environ: []string{"AMBER_MEMORY__BACKEND= SQLite "}},
		"flag":        {Flags: map[string]string{"memory.backend": "SQLITE"}},
	} {
		must.Equal(t, way, load(t, in).Config.Memory.Backend, "sqlite")
	}
}

func TestEnvironmentNames(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, k := range config.Keys() {
		if other, ok := seen[k.Env()]; ok {
			t.Errorf("%s and %s share %s", k.Path, other, k.Env())
		}
		seen[k.Env()] = k.Path
	}
	must.Equal(t, "what the variable sets", seen["AMBER_MEMORY__LAYERS__LONG_TERM__BACKEND"], "memory.layers.long_term.backend")
}
