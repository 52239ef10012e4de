package analyze_test

import (
	"slices"
	"testing"

	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestParseRelated(t *testing.T) {
	q := analyze.Parse("which database did we pick and why")
	for _, w := range []string{"chose", "postgresql"} {
		if !slices.Contains(q.Related, w) {
			t.Errorf("Related = %q, want %q among them", q.Related, w)
		}
	}
	for _, w := range append(q.Words, "we", "why") {
		if slices.Contains(q.Related, w) {
			t.Errorf("Related holds %q, a word of the question", w)
		}
	}
	must.Equal(t, "words related to a word without kin", len(analyze.Parse("quagga").Related), 0)
}
