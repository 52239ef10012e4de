package contextblock_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// found stores what a rule found in a session.
func found(t *testing.T, s amber.Store, id amber.SessionID, kind amber.MemoryKind, title, text string) {
	t.Helper()
	r := inShop(kind, amber.TrustDerived, text)
	r.SessionID, r.Title = id, title
	must.Do(t, must.Err(s.LongTerm.Write(t.Context(), r)))
}

// A bar inside a text of a summary, as that of a pipe, parts nothing.
func TestSummaryWithABar(t *testing.T) {
	t.Parallel()
	for summary, want := range map[string]string{
		"Task: run `cat log | grep error` / count them | Outcome: a | b is clean | Files changed: x | y": "asked: run `cat log | grep error` / count them\n  outcome: a | b is clean\n",
		"We use cat | grep: it works":  "session: summary: We use cat | grep: it works\n",
		"Outcome: done | Unfinished: ": "session: outcome: done\n",
	} {
		s := newStore()
		talk(t, s, "before", "shop")
		must.Do(t, must.Err(s.Names.EndSession(t.Context(), amber.SessionEnd{ID: "before", Summary: summary})))
		text := build(t, s, shop(wire.OccasionStart, "")).Text
		must.Says(t, summary, text, want)
		must.Equal(t, summary+": lines", strings.Count(text, "\n  "), strings.Count(want, "\n  "))
	}
}

// A block shows the last items of a session with several digests, in the order they were said.
func TestTheLastItemsOfASession(t *testing.T) {
	t.Parallel()
	s := newStore()
	talk(t, s, "before", "shop", askedCoupons, saidCoupons)
	for i := range 7 {
		found(t, s, "before", amber.SessionSummary, fmt.Sprintf("Unfinished: part %d", i), fmt.Sprintf("part %d waits", i))
	}
	must.Says(t, "start", build(t, s, shop(wire.OccasionStart, "")).Text, "unfinished: part 2 waits / part 3 waits / part 4 waits / part 5 waits / part 6 waits\n")
}

// A title that says how the text begins is not said twice, whatever is bold in the text.
func TestTitleOfABoldText(t *testing.T) {
	t.Parallel()
	s := newStore()
	found(t, s, "before", amber.ProjectFact, "Decision: SQLite holds the carts", "**SQLite** holds the carts, since one file is enough.")
	text := build(t, s, shop(wire.OccasionStart, "")).Text
	must.Says(t, "start", text, "] **SQLite** holds the carts, since one file is enough.\n")
	must.Hides(t, "start", text, "Decision: ")
}

// A session in which nothing was said has the day on which it began.
func TestCompactionOfASilentSession(t *testing.T) {
	t.Parallel()
	s := newStore()
	began := amber.At(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))
	must.Get(s.Ingest.Ingest(t.Context(), amber.Ingestion{Journal: strings.Repeat("0", 32), Host: "generic", Session: "now", Through: 1, LastAt: began, Steps: []amber.IngestStep{{
		At: began, Start: amber.SessionStart{ID: "now", Project: "shop"},
		Activity: []amber.Activity{{SessionID: "now", Kind: amber.ActivityFile, Name: "cart.go", Status: "modified", Count: 1, FirstAt: began, LastAt: began}},
	}}}))(t)
	must.Says(t, "compaction", build(t, s, shop(wire.OccasionCompaction, "")).Text, "So far in this session:\n- 2026-03-04, session: changed: cart.go\n")
}
