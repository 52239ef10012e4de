package snapshot_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// A plan does not promise what a restore would not do.
func TestAPlanKnowsWhatWasErasedAndWhatWouldBeGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gone := w.remember("to be erased")
	w.note("a", "one\n")
	meta := w.snapshot()
	must.Get(w.store.Erase(t.Context(), gone))(t)
	must.Do(t, os.WriteFile(filepath.Join(w.gen(), "memdir", "con.md"), []byte("x\n"), 0o600))
	report := w.restore(meta.ID, func(r *wire.RestoreRequest) { r.DryRun = true })
	must.Equal(t, "erased memories that the plan brings back", report.Plan.Store.Table("memories").Added, 0)
	must.Equal(t, "notes that the plan removes", report.Plan.Notes.Removed, 1)
}

// A plan can be made when the live database cannot be read: that is when it is
// needed.
func TestADryRunWorksOverADamagedAgent(t *testing.T) {
	t.Parallel()
	w, meta := frozen(t, "then")
	must.Do(t, w.store.Close())
	must.Do(t, os.WriteFile(filepath.Join(w.gen(), "memory.db"), []byte("this is no database"), 0o600))
	report := w.restore(meta.ID, func(r *wire.RestoreRequest) { r.DryRun = true })
	must.Hold(t, len(report.Warnings) > 0 && report.Plan.SpaceNeeded != 0, "the plan is %+v", report)
}
