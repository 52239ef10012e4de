package redact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
)

// surroundings are texts around a secret that its form alone gives away.
var surroundings = []string{
	"%s",
	"the key is %s",
	"the key is `%s`, keep it",
	"%s ends the line\n",
	"one\n%s\nthree",
	"\t%s\t",
	"key=%s;",
	"{\"value\":\"%s\"}",
	"('%s')",
	"<b>%s</b>",
	"ключ %s",
	"[%s]",
	"\xff%s\xfe",
}

func TestEveryRuleRemovesItsSamples(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for i, s := range samples(t, 3) {
		t.Run(fmt.Sprintf("%s/%d", s.Rule, i), func(t *testing.T) {
			t.Parallel()
			around := []string{"%s"}
			if s.Bare() {
				around = surroundings
			}
			for _, format := range around {
				in := strings.Replace(format, "%s", s.Text(), 1)
				want := strings.Replace(format, "%s", s.Redacted(), 1)
				got, report := r.String(in)
				if got != want {
					t.Fatalf("String(%q)\n got %q\nwant %q", in, got, want)
				}
				if report.Total != 1 || report.Counts[s.Rule] != 1 || report.Bytes != len(s.Value) {
					t.Errorf("report of %q: got %+v, want one %s of %d bytes", in, report, s.Rule, len(s.Value))
				}
			}
		})
	}
}

func TestEveryRuleHasSamples(t *testing.T) {
	t.Parallel()
	have := make(map[string]int)
	for _, s := range samples(t, 2) {
		have[s.Rule]++
	}
	for _, name := range redact.Rules() {
		if have[name] < 2 {
			t.Errorf("rule %s: got %d samples, want 2 or more", name, have[name])
		}
	}
}

// TestSamplesInsideJSON writes each sample into a string of a JSON document,
// and that document into a string of another: what decodes must be what the
// plain text becomes.
func TestSamplesInsideJSON(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for i, s := range samples(t, 2) {
		t.Run(fmt.Sprintf("%s/%d", s.Rule, i), func(t *testing.T) {
			t.Parallel()
			text, want := "before\n"+s.Text()+"\nafter", "before\n"+s.Redacted()+"\nafter"
			for depth := 1; depth <= 3; depth++ {
				text, want = encode(t, text), encode(t, want)
				got, _ := r.String(text)
				if !json.Valid([]byte(got)) {
					t.Fatalf("depth %d: String(%q) = %q, not JSON", depth, text, got)
				}
				if got != want {
					t.Fatalf("depth %d: String(%q)\n got %q\nwant %q", depth, text, got, want)
				}
			}
		})
	}
}

func encode(t *testing.T, s string) string {
	t.Helper()
	return string(must.Get(json.Marshal(map[string]string{"text": s}))(t))
}
