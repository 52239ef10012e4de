package foreign

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// A document of nothing but beginnings is read again from each of them, but not without end.
func TestBrokenElementsAreReadAgainWithinBounds(t *testing.T) {
	t.Parallel()
	const lines = 40_000
	var r readDoc
	must.Do(t, ReadJSON(strings.NewReader("["+strings.Repeat("\n{", lines)), r.document()))
	must.Equal(t, "elements", len(r.got), 0)
	must.Hold(t, len(r.skipped) > 1 && len(r.skipped) < lines, "%d of %d lines are read again", len(r.skipped), lines)
}

// An element that is a lone quote, and a comma that is missing, cost no other element.
func TestTheNextElementIsFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"[\n {\"n\": 1},\n \",\n {\"n\": 2},\n {\"n\": 3}\n]",
		"[\n {\"n\": 1}\n {\"n\": 2},\n {\"n\": 3}\n]",
		"[\n {\"n\": 1},\n {\"n\": 2} x\n {\"n\": 3}\n]",
	} {
		var r readDoc
		must.Do(t, ReadJSON(strings.NewReader(text), r.document()))
		must.Hold(t, len(r.got) == 3 && len(r.skipped) > 0, "%q: %q, skipped %q; want three elements and a place", text, r.got, r.skipped)
	}
}
