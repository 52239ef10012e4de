package snapshot_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

const nexoVectors = "../bundle/testdata/nexo"

// nexoVector is a bundle that the original program has written, and what is in
// it.
type nexoVector struct {
	File       string   `json:"file"`
	Identities []string `json:"identities"`
	Duplicates []string `json:"duplicates"`
	Rows       map[string]map[string]int64
	Manifest   struct {
		ID  amber.SnapshotID `json:"snapshot_id"`
		Git struct {
			OID string `json:"head_oid"`
		} `json:"git"`
		Artifacts []struct {
			Path string `json:"path_in_bundle"`
			Kind string `json:"kind"`
			Size int64  `json:"size_bytes"`
		} `json:"artifacts"`
	} `json:"manifest"`
}

func readNexoVectors(t *testing.T) []nexoVector {
	t.Helper()
	b := must.Get(os.ReadFile(filepath.Join(nexoVectors, "index.json")))(t)
	var index struct {
		Vectors []nexoVector `json:"vectors"`
	}
	must.Do(t, json.Unmarshal(b, &index))
	if len(index.Vectors) < 8 {
		t.Fatalf("%d vectors", len(index.Vectors))
	}
	return index.Vectors
}

// identities copies the identities of the vectors to where only their owner can
// read them.
func identities(t *testing.T) (files []string) {
	t.Helper()
	for _, name := range []string{"ana.identity", "ben.identity"} {
		b := must.Get(os.ReadFile(filepath.Join(nexoVectors, name)))(t)
		file := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(file, b, 0o600))
		files = append(files, file)
	}
	return files
}

// TestBundlesOfTheOriginalAreRestored restores what nexo-memory-snapshot itself
// has written: memories, notes with their history, state; and nothing of its git
// settings.
func TestBundlesOfTheOriginalAreRestored(t *testing.T) {
	t.Parallel()
	for _, v := range readNexoVectors(t) {
		t.Run(v.File, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *snapshot.Options) { o.Keys.Identities = identities(t) })
			file := filepath.Join(nexoVectors, v.File)
			r := wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{Tenant: "default", Agent: "ana"}}
			report, err := w.engine.RestoreBundle(t.Context(), file, r)
			if len(v.Duplicates) > 0 {
				if amber.KindOf(err) != amber.KindDamaged && amber.KindOf(err) != amber.KindInvalid {
					t.Errorf("a bundle with one path twice: %v", err)
				}
				w.nothingLeft()
				return
			}
			must.Do(t, err)
			must.Equal(t, "from", report.From, v.Manifest.ID)
			agent := must.Get(w.home.Agent("default", "ana"))(t)
			ana := &world{t: t, dir: w.dir, home: w.home, agent: agent}
			ana.openStore()
			ana.mustHaveRows(v)
			ana.mustHaveFiles(v)
			w.nothingLeft()
		})
	}
}

// mustHaveRows compares the memories with the rows of the agent.
func (w *world) mustHaveRows(v nexoVector) {
	w.t.Helper()
	n, q := 0, amber.ListQuery{All: true, Limit: amber.MaxPageSize}
	page := must.Get(w.store.List(w.t.Context(), q))(w.t)
	for _, m := range page.Items {
		n++
		if m.Trust != amber.TrustImported || m.Content == "" {
			w.t.Errorf("memory %s has trust %s and %d bytes", m.ID, m.Trust, len(m.Content))
		}
	}
	if rows := v.Rows["sqlite/long_term.sqlite"]["memories"]; int64(n) > rows || rows > 0 && n == 0 {
		w.t.Errorf("%d memories of %d rows", n, rows)
	}
}

// mustHaveFiles compares notes, state and history with the artifacts.
func (w *world) mustHaveFiles(v nexoVector) {
	w.t.Helper()
	notes := filepath.Join(w.gen(), "memdir")
	for _, a := range v.Manifest.Artifacts {
		if rel, ok := strings.CutPrefix(a.Path, "memory_files/"); ok {
			must.Equal(w.t, "note "+rel, must.Get(os.Stat(filepath.Join(notes, filepath.FromSlash(rel))))(w.t).Size(), a.Size)
		}
	}
	if _, err := os.Stat(filepath.Join(w.gen(), "state", amber.StateLastConsolidation+".json")); err != nil &&
		slices.ContainsFunc(v.Manifest.Artifacts, func(a struct {
			Path string `json:"path_in_bundle"`
			Kind string `json:"kind"`
			Size int64  `json:"size_bytes"`
		},
		) bool {
			return a.Kind == "state_dream_run"
		}) {
		w.t.Error(err)
	}
	if strings.Trim(v.Manifest.Git.OID, "0") == "" {
		return
	}
	out, err := exec.Command("git", "-C", notes, "rev-parse", "HEAD").Output()
	if err != nil || strings.TrimSpace(string(out)) != v.Manifest.Git.OID {
		w.t.Errorf("HEAD is %s, want %s (%v)", out, v.Manifest.Git.OID, err)
	}
	if out, err := exec.Command("git", "-C", notes, "fsck", "--strict").CombinedOutput(); err != nil {
		w.t.Errorf("git fsck: %v\n%s", err, out)
	}
	for _, hostile := range []string{"hooks/post-checkout", "objects/info/alternates", "index.lock"} {
		must.Is(w.t, hostile, must.Err(os.Stat(filepath.Join(notes, ".git", hostile))), fs.ErrNotExist)
	}
	config, err := os.ReadFile(filepath.Join(notes, ".git", "config"))
	if err != nil || strings.Contains(string(config), "Command") || strings.Contains(string(config), "fsmonitor") {
		w.t.Errorf("the settings are %s, %v", config, err)
	}
}

// TestNexoBundlesOfOursComeBack writes a bundle in that format and reads it.
func TestNexoBundlesOfOursComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plant(w)
	before := w.all()
	report := w.export(w.snapshot().ID, exact, nexo)
	must.Hold(t, report.Format == wire.FormatNexo && len(report.LeftOut) > 0, "the report is %+v", report)
	other := newWorld(t)
	imported := must.Get(other.take(report.File))(t)
	other.mustVerify(imported.Snapshot.ID)
	other.restore(imported.Snapshot.ID)
	got := other.all()
	for id, m := range before.Memories {
		must.Equal(t, "memory "+string(id), got.Memories[id], m)
	}
	must.Equal(t, "notes", got.Notes, before.Notes)
	must.Equal(t, "state", got.State, before.State)
}
