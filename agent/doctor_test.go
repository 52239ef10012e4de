package agent

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/must"
	"github.com/amber-memory/amber/wire"
)

// TestDoctorTellsOfAnInterruptedDeletion: what a deletion has left is neither a
// damaged agent nor one that was never made.
func TestDoctorTellsOfAnInterruptedDeletion(t *testing.T) {
	t.Parallel()
	a := opened(t)
	say(t, a, "s", "a prompt that is not drained")
	must.Do(t, a.Close())
	dir := a.Folder().Dir()
	must.Do(t, os.Rename(filepath.Join(dir, "CURRENT"), filepath.Join(dir, "DELETING")))
	found := a.Doctor(t.Context(), false)
	i := slices.IndexFunc(found.Checks, func(f wire.Finding) bool { return f.Code == "current" })
	if i < 0 || i != len(found.Checks)-1 {
		t.Fatalf("%+v", found.Checks)
	}
	f := found.Checks[i]
	if f.Status != wire.FindingWarning || !strings.Contains(f.Detail, "deletion of agent default was interrupted") || !strings.Contains(f.Hint, "amber agent delete default") {
		t.Errorf("%+v", f)
	}
	must.Do(t, must.Err(a.Delete(t.Context(), true)))
	must.Is(t, "folder that the hint removes", must.Err(os.Lstat(dir)), fs.ErrNotExist)
}

// On a system without modes, the doctor does not say that it has looked at them.
func TestDoctorWithoutModes(t *testing.T) {
	t.Parallel()
	a := opened(t)
	must.Do(t, os.Chmod(a.Home().Dir(), 0o755))
	found := Examine(t.Context(), a.o, Examination{NoModes: true})
	must.Equal(t, "well", found.OK, true)
	for _, code := range []string{"home_modes", "key_modes"} {
		i := slices.IndexFunc(found.Checks, func(f wire.Finding) bool { return f.Code == code })
		must.Hold(t, i >= 0, "%s is missing: %+v", code, found.Checks)
		must.Equal(t, code, found.Checks[i].Status, wire.FindingNotChecked)
	}
}
