package config_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestFileAccepts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       int // memory.recall.top_k
	}{
		{"empty", "", 8},
		{"comments", "# nothing yet\n\n# memory:\n", 8},
		{"document marks", "---\nmemory: {recall: {top_k: 5}}\n...\n", 5},
		{"null document", "---\n~\n", 8},
		{"empty section", "memory:\n  recall:\n    # top_k: 5\ncontrol:\n", 8},
		{"empty flow section", "memory: {recall: {}}", 8},
		{"block", "memory:\n  recall:\n    top_k: 5 # few\n", 5},
		{"flow", "{memory: {recall: {top_k: 5, enabled: true}}}", 5},
		{"quoted keys", "\"memory\":\n  'recall':\n    \"top_k\": 5\n", 5},
		{"windows line ends", "memory:\r\n  recall:\r\n    top_k: 5\r\n", 5},
		{"byte order mark", "\uFEFFmemory:\n  recall:\n    top_k: 5\n", 5},
		{"leading zero is decimal", "memory: {recall: {top_k: 010}}", 10},
		{"json", `{"memory": {"recall": {"top_k": 5}}}`, 5},
		{"many comments", strings.Repeat("# why\n", 10_000) + "memory: {recall: {top_k: 5}}", 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := load(t, fileInput(tt.text))
			must.Equal(t, "top_k", l.Config.Memory.Recall.TopK, tt.want)
			if !l.FileFound {
				t.Error("the file was not found")
			}
		})
	}
}

func TestFileRejects(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		words      []string // what the error names
	}{
		{"unknown top key", "memori:\n  enabled: true\n", []string{":1", `"memori"`, "control, digest, events, export, journal, memory"}},
		{"unknown key", "memory:\n  recall:\n    topk: 5\n", []string{":3", `"topk"`, "memory.recall", "enabled, top_k"}},
		{"key of a later release", "openviking: {url: x}\n", []string{":1", `"openviking"`}},
		{"removed key", "memory:\n  backends:\n    openviking:\n      sessions: mirror\n", []string{":4", "memory.backends.openviking.sessions was removed", "no conversations", "delete the key"}},
		{"unknown layer", "memory: {layers: {dreams: {backend: sqlite}}}", []string{`"dreams"`, "memory.layers", "long_term"}},
		{"unknown backend options", "memory: {backends: {tape: {reel: x}}}", []string{`"tape"`, "memory.backends"}},
		{"dotted key", "memory.recall.top_k: 5\n", []string{`"memory.recall.top_k"`}},
		{"dotted key below", "memory:\n  recall.top_k: 5\n", []string{":2", `"recall.top_k"`}},
		{"key in capitals", "Memory: {enabled: true}", []string{`"Memory"`}},
		{"number as key", "1: 2", []string{`"1"`}},
		{"key below a key", "memory:\n  enabled:\n    really: true\n", []string{":2", "memory.enabled", "a section"}},
		{"empty key", "memory: {\"\": 1}", []string{`""`}},

		{"duplicate key", "memory:\n  enabled: true\n  backend: sqlite\n  enabled: false\n", []string{":4", "memory.enabled", "twice", "line 2"}},
		{"duplicate section", "memory: {enabled: true}\n\nmemory: {enabled: true}\n", []string{":3", "memory", "twice", "line 1"}},
		{"duplicate quoted", "memory: {enabled: true, \"enabled\": true}", []string{"memory.enabled", "twice"}},

		{"text for a number", "memory:\n  recall:\n    top_k: many\n", []string{":3", "memory.recall.top_k", "whole number", `"many"`}},
		{"quoted number", "memory: {recall: {top_k: \"5\"}}", []string{"memory.recall.top_k", "whole number", "text"}},
		{"fraction", "memory: {recall: {top_k: 5.0}}", []string{"memory.recall.top_k", "whole number"}},
		{"hexadecimal", "memory: {recall: {top_k: 0x10}}", []string{"memory.recall.top_k", "whole number"}},
		{"not a number", "memory: {recall: {top_k: .nan}}", []string{"memory.recall.top_k", "whole number"}},
		{"too many digits", "memory: {recall: {top_k: 99999999999999999999}}", []string{"memory.recall.top_k", "whole number"}},
		{"bool for a number", "memory: {recall: {top_k: true}}", []string{"memory.recall.top_k", "whole number"}},
		{"nothing for a number", "memory:\n  recall:\n    top_k:\n", []string{":3", "memory.recall.top_k", "nothing"}},
		{"list for a number", "memory: {recall: {top_k: [5]}}", []string{"memory.recall.top_k", "a list"}},
		{"number for a bool", "memory: {enabled: 1}", []string{"memory.enabled", "true or false"}},
		{"yes for a bool", "memory: {enabled: yes}", []string{"memory.enabled", "true or false"}},
		{"number without unit", "control: {queue: {lease: 30}}", []string{"control.queue.lease", "unit"}},
		{"unknown unit", "control: {queue: {lease: 30w}}", []string{"control.queue.lease", "unit"}},
		{"fraction of a size", "journal: {max_bytes: 1.5GiB}", []string{"journal.max_bytes", "64MiB"}},
		{"size with an unclear unit", "journal: {max_bytes: 64MB}", []string{"journal.max_bytes", "64MiB"}},
		{"size beyond numbers", "journal: {max_bytes: 9999999999TiB}", []string{"journal.max_bytes"}},
		{"size without a number", "journal: {max_bytes: MiB}", []string{"journal.max_bytes", "64MiB"}},
		{"bool for a size", "journal: {max_bytes: true}", []string{"journal.max_bytes", "size"}},
		{"bool for a name", "memory: {backend: true}", []string{"memory.backend", "name"}},
		{"name with spaces", "memory: {backend: my store}", []string{"memory.backend", "name"}},
		{"empty name", "memory: {backend: \"\"}", []string{"memory.backend", "name"}},
		{"block text for a name", "memory:\n  backend: |\n    sqlite\n", []string{"memory.backend", "name"}},
		{"value for a section", "memory: true", []string{":1", "memory", "section"}},
		{"list for a section", "memory:\n  - enabled: true\n", []string{"memory", "section", "a list"}},
		{"anchor", "memory: {recall: {top_k: &k 5}}", []string{"memory.recall.top_k", "anchor"}},
		{"alias", "memory: {recall: &r {top_k: 5}, write: *r}", []string{"memory.recall", "anchor"}},
		{"merge key", "memory:\n  <<: {enabled: false}\n", []string{":2", `"<<"`}},
		{"tag", "memory: {recall: {top_k: !!int 5}}", []string{"memory.recall.top_k", "tag"}},
		{"explicit key", "? memory\n: enabled: true\n", []string{"unknown key"}},

		{"list", "- memory\n", []string{":1", "the file", "a list"}},
		{"text", "memory\n", []string{":1", "the file"}},
		{"two documents", "memory: {enabled: true}\n---\ncontrol: {}\n", []string{":3", "second document"}},
		{"tab", "memory:\n\tenabled: true\n", []string{":2"}},
		{"escape character", "memory:\n  @\x1b[2J: 1\n", []string{":2"}},
		{"open brace", "memory: {enabled: true\n", []string{testPath}},
		{"open quote", "memory: {backend: \"sqlite}\n", []string{testPath}},
		{"not UTF-8", "memory: \xff\xfe\n", []string{"UTF-8"}},
		{"too large", "# " + strings.Repeat("x", 1<<20), []string{"1048576"}},
		{"deep lists", strings.Repeat("[", 1<<20), []string{"4096"}},
		{"deep sections", strings.Repeat("{a: ", 1<<18), []string{"4096"}},
		{"deep dashes", strings.Repeat("- ", 1<<19), []string{"4096"}},
		{"as deep as parsed", strings.Repeat("[", 4096), []string{testPath}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(fileInput(tt.text))
			wantError(t, tt.name, err, amber.KindInvalid, append(tt.words, testPath)...)
		})
	}
}

// TestFileErrorIsShort checks that a long value does not flood a terminal.
func TestFileErrorIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 10_000)
	for _, text := range []string{long + ": 1", "memory: {backend: " + long + "}", "memory: {enabled: " + long + "}"} {
		_, err := config.Load(fileInput(text))
		if err == nil {
			t.Errorf("%.30q passes", text)
		} else if n := len(err.Error()); n > 300 {
			t.Errorf("got an error of %d bytes for %.30q, want a short one", n, text)
		}
	}
}
