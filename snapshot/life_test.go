package snapshot_test

import (
	"testing"

	"github.com/amber-memory/amber"
)

// A snapshot brings back what was there, and nothing else.
func TestRestoreBringsBackTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.remember("the build needs Go 1.26")
	w.note("decisions/database", "SQLite, because it is one file.\n")
	w.state("extract_cursor", `{"at":7}`)
	before := w.all()
	meta := w.snapshot()
	w.mustVerify(meta.ID)

	w.remember("something newer")
	if err := w.store.Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	w.note("decisions/database", "PostgreSQL after all.\n")
	w.note("later", "added later\n")
	w.state("last_consolidation", `{"run":1}`)
	after := w.all()

	report := w.restore(meta.ID)
	w.mustBe(before)
	if report.Generation != 2 || report.SafetySnapshot == "" {
		t.Errorf("report is %+v, want generation 2 and a safety snapshot", report)
	}
	w.mustVerify(report.SafetySnapshot)
	w.mustCheck()

	w.restore(report.SafetySnapshot)
	w.mustBe(after)
	w.remember("life goes on")
	w.note("later", "still writable\n")
	w.restore(meta.ID)
	w.restore(meta.ID)
	w.mustBe(before)
	w.mustCheck()
	var _ amber.SnapshotMeta = meta
}
