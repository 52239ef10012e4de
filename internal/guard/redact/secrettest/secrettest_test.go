package secrettest_test

import (
	"slices"
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/guard/redact/secrettest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestCorpusIsRemovedAndWhatIsAroundItStays(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for seed := range uint64(3) {
		rules := map[string]bool{}
		values := map[string]bool{}
		for _, s := range secrettest.Corpus(seed) {
			rules[s.Rule], values[s.Value] = true, true
			in := "some words before\n" + s.Text() + "\nsome words after"
			got, report := r.String(in)
			must.Equal(t, s.Rule, got, "some words before\n"+s.Redacted()+"\nsome words after")
			if report.Total != 1 || report.Counts[s.Rule] != 1 {
				t.Errorf("%s: the report is %+v", s.Rule, report)
			}
		}
		if len(rules) < 60 || len(values) < 200 {
			t.Errorf("there are %d secrets of %d rules", len(values), len(rules))
		}
	}
}

func TestCorpusDependsOnItsSeedAlone(t *testing.T) {
	t.Parallel()
	one, again, other := secrettest.Corpus(1), secrettest.Corpus(1), secrettest.Corpus(2)
	must.Equal(t, "the same seed", again, one)
	for _, s := range one {
		if slices.Contains(other, s) {
			t.Errorf("both seeds give a secret of %s", s.Rule)
		}
	}
}
