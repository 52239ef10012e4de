package agent

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
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

// Every key that names a backend has to name one that there is.
func TestDoctorFailsForNamesOfNoBackend(t *testing.T) {
	t.Parallel()
	a, asked := opened(t), 0
	for _, key := range config.Keys() {
		if key.Type != config.Name {
			continue
		}
		asked++
		loaded := must.Get(config.Load(config.Input{Flags: map[string]string{key.Path: "nosuch"}}))(t)
		o := a.o
		o.Config = &loaded.Config
		found := Examine(t.Context(), o, Examination{})
		must.Equal(t, key.Path+": well", found.OK, false)
		f := found.Checks[0]
		must.Equal(t, "check", f.Code, "config")
		for _, word := range []string{key.Path, "nosuch", "sqlite"} {
			if key.Path == "memory.layers.notes.backend" && word == "sqlite" {
				word = "git"
			}
			must.Says(t, key.Path, f.Detail+" "+f.Hint, word)
		}
	}
	must.Hold(t, asked >= 8, "%d keys name a backend", asked)
}

// The file that marks a consolidation is Amber's own, so the doctor does not report it as odd.
func TestDoctorKnowsTheMarkOfAConsolidation(t *testing.T) {
	t.Parallel()
	a := opened(t)
	must.Get(must.Get(a.Snapshots(t.Context()))(t).(wire.Consolidator).BeginConsolidation(t.Context(), wire.ConsolidationBegin{Tenant: a.Tenant(), Agent: a.ID()}))(t)
	for _, f := range a.Doctor(t.Context(), false).Checks {
		if f.Code == stateCode {
			must.Equal(t, "state", f.Status, wire.FindingOK)
		}
	}
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
