package snapshot_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/test/must"
)

// Snapshots that one home has in two places can be brought together: neither
// place looks damaged for it.
func TestTwoRepositoriesOfOneHomeCanBeBroughtTogether(t *testing.T) {
	t.Parallel()
	w, first := frozen(t, "a")
	place := filepath.Join(t.TempDir(), "offsite")
	elsewhere := func(o *snapshot.Options) { o.Root = place }
	must.Do(t, os.MkdirAll(filepath.Join(place, "default"), 0o700))
	there := must.Get(dir.Open(filepath.Join(place, "default"), dir.Options{}))(t)
	bring := func() {
		t.Helper()
		must.Get(w.engine.CopyTo(t.Context(), "default", there, false))(t)
	}
	bring()
	w.remember("b")
	other := openWorld(t, w.dir, elsewhere)
	report := other.restore(first.ID) // its safety snapshot lies over there
	w.snapshot()
	bring()
	other.mustCheck()
	other.mustVerify(report.SafetySnapshot)
	must.Get(w.engine.CopyFrom(t.Context(), "default", there))(t)
	w.mustCheck()
	w.mustVerify(report.SafetySnapshot)
}

// The snapshot before a restore is signed even if it is the first that a home
// ever takes.
func TestTheFirstSnapshotOfAHomeIsSignedWhateverTakesIt(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "shared")
	shared := func(o *snapshot.Options) { o.Root = root }
	_, meta := frozen(t, "a", shared)
	fresh := newWorld(t, shared)
	fresh.remember("live")
	report := fresh.restore(meta.ID)
	for _, m := range fresh.list() {
		if m.ID == report.SafetySnapshot && m.SignedBy == "" {
			t.Error("the safety snapshot is not signed")
		}
	}
}

var (
	signer   = regexp.MustCompile(`,"signer":"[^"]*"`)
	envelope = regexp.MustCompile(`^\{"body":(.*),"digest":"[0-9a-f]{64}","signatures":\[.*\]\}\n$`)
)

// unsigned removes the signature from a signed manifest and returns a whole manifest without one.
func unsigned(b []byte) []byte {
	body := signer.ReplaceAll(envelope.FindSubmatch(b)[1], nil)
	sum := sha256.Sum256(body)
	return []byte(`{"body":` + string(body) + `,"digest":"` + hex.EncodeToString(sum[:]) + `","signatures":[]}` + "\n")
}

// A manifest that took the place of another is not restored: this home has noted
// the last it wrote, and each names the one before it.
func TestAManifestInThePlaceOfAnotherIsNotRestored(t *testing.T) {
	t.Parallel()
	w, first := frozen(t, "a")
	w.remember("b")
	last := w.snapshot()
	for name, id := range map[string]amber.SnapshotID{"the first": first.ID, "the last": last.ID} {
		was := must.Get(os.ReadFile(w.manifestPath(id)))(t)
		w.rewrite(id, unsigned)
		for _, to := range []amber.AgentID{"", "copy"} {
			must.Kind(t, fmt.Sprintf("%s, to %q", name, to), w.tryRestore(id, asNew(to)), amber.KindUntrusted)
		}
		w.rewrite(id, func([]byte) []byte { return was })
	}
	w.restore(first.ID)
}

// A killed restore to a new agent leaves files, and a collection removes them.
func TestAnAgentThatWasNeverMadeIsSwept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("a")
	w.snapshot()
	folder := filepath.Join(w.dir, "tenants", "default", "agents", "half")
	gen := filepath.Join(folder, "gen", "1")
	must.Do(t, os.MkdirAll(gen, 0o700))
	for path, text := range map[string]string{filepath.Join(folder, "CREATING"): "x", filepath.Join(gen, "memory.db"): "plain"} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	w.gc()
	must.Is(t, "the half-made agent", must.Err(os.Stat(gen)), fs.ErrNotExist)
	w.mustCheck()
}
