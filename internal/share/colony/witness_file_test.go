package colony

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestFileWitness(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "vaults")
	w := NewFileWitness(dir, VaultOf{URL: "https://example.org/api/v1", Tenant: "t", Agent: "a"}, "l")
	must.Equal(t, "seen before anything was", must.Get(w.Seen(t.Context()))(t), (Sighting{}))
	must.Is(t, "the folder after a look", must.Err(os.Lstat(dir)), os.ErrNotExist)
	want := Sighting{ID: "20260813T101112131415Z-a1b2c3", Counter: 7, Documents: "sha256:00", Recipients: "sha256:01"}
	must.Do(t, w.Update(t.Context(), becomes(want)))
	must.Equal(t, "seen", must.Get(w.Seen(t.Context()))(t), want)
	// An older one, too: that is how the newest is deleted.
	want.ID, want.Counter = "20260812T101112131415Z-a1b2c3", 6
	must.Do(t, w.Update(t.Context(), becomes(want)))
	must.Equal(t, "seen", must.Get(w.Seen(t.Context()))(t), want)
	other := w
	other.of.Label = "m"
	must.Fail(other.Seen(t.Context()))(t, "about another label", amber.KindDamaged)
	for name, text := range map[string]string{
		"empty": "", "half": `{"format":"amber-vault-se`, "another format": `{"format":"amber-vault-seen/2"}`,
		"no id": `{"format":"amber-vault-seen/1","url":"https://example.org/api/v1","tenant":"t","agent":"a","label":"l","snapshot_id":"soon"}`,
	} {
		must.Do(t, os.WriteFile(w.path, []byte(text), 0o600))
		_, err := w.Seen(t.Context())
		if amber.KindOf(err) != amber.KindDamaged || amber.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// becomes makes a change that ignores what was seen before.
func becomes(s Sighting) func(Sighting) Sighting {
	return func(Sighting) Sighting { return s }
}

// TestFileWitnessLosesNoUpdate has several writers count at once: none of them overwrites what another has written
// since.
func TestFileWitnessLosesNoUpdate(t *testing.T) {
	t.Parallel()
	w := NewFileWitness(filepath.Join(t.TempDir(), "vaults"), VaultOf{}, "l")
	const writers, each = 4, 5
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for range each {
				err := w.Update(t.Context(), func(s Sighting) Sighting {
					s.Counter++
					return s
				})
				must.NoError(t, err)
			}
		})
	}
	all.Wait()
	must.Equal(t, "counted", must.Get(w.Seen(t.Context()))(t).Counter, writers*each)
}
