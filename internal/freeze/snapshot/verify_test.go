package snapshot_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Verify names the parts that it did not check: databases that are not there, and the checks behind
// one that failed.
func TestVerifyNamesWhatItCouldNotCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("something")
	w.note("a", "text\n")
	good := w.snapshot().ID
	file := filepath.Join(t.TempDir(), "memory.db")
	w.copyDatabase(file)
	change(t, file, "PRAGMA foreign_keys=0", "UPDATE memories SET content = 'something else'", "CREATE TABLE evil(x)")
	for _, tt := range []struct {
		name string
		id   amber.SnapshotID
		ok   bool
		want []string // beginnings of lines
	}{
		{"whole", good, true, nil},
		{"a database lost", w.forge(good, func(_ *repo.Writer, in *repo.Inner) error {
			in.Databases = slices.DeleteFunc(in.Databases, func(d repo.DatabaseEntry) bool { return d.Name == "memory.db" })
			return nil
		}), true, []string{"memory.db: not in this snapshot"}},
		{"another schema", w.forgeDatabase(good, file), false, []string{"memory.db: schema", "memory.db: integrity", "memory.db: foreign_keys", "memory.db: full_text", "memory.db: counters", "memory.db: rows"}},
	} {
		r := w.verify(tt.id)
		must.Hold(t, r.OK() == tt.ok, "%s: %+v", tt.name, r.Damaged)
		must.Hold(t, len(r.NotChecked) == len(tt.want), "%s: not checked are %q", tt.name, r.NotChecked)
		for _, line := range tt.want {
			if !slices.ContainsFunc(r.NotChecked, func(s string) bool { return strings.HasPrefix(s, line) }) {
				t.Errorf("%s: %q does not name %q", tt.name, r.NotChecked, line)
			}
		}
	}
	for _, p := range w.packs() {
		flip(t, p, 60)
	}
	if r := w.verify(good); r.OK() || !slices.ContainsFunc(r.NotChecked, func(s string) bool { return strings.Contains(s, "integrity") }) {
		t.Errorf("damaged packs: %+v", r)
	}
}

// A file that verify may not read does not count as damaged.
func TestWhatMayNotBeReadIsNotDamaged(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"packs", "scratch"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			f := &trouble{FS: fsx.OS()}
			w := newWorld(t, func(o *snapshot.Options) { o.FS = f })
			w.remember("something")
			id := w.snapshot().ID
			f.open = func(name string) error {
				if strings.Contains(name, where) {
					return &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
				}
				return nil
			}
			r, err := w.engine.VerifySnapshot(t.Context(), wire.VerifyRequest{SnapshotRef: ref(id), ReadData: true})
			must.Hold(t, err != nil && r.OK(), "got %v, %+v", err, r.Damaged)
		})
	}
}

// Records of checks by another release, or from before they had a version, are
// not believed.
func TestOldRecordsOfChecksAreNotBelieved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("something")
	id := w.snapshot().ID
	w.mustVerify(id)
	made := w.show(id).Checks
	digest := part(w.show(id), "memory").Digest
	path := filepath.Join(w.home.CacheDir(), "checks", digest)
	for _, body := range []string{
		fmt.Sprintf(`[{"name":"integrity","part":"memory","digest":%q,"at":"2026-01-02T03:04:05.000Z","ok":true}]`, digest),
		fmt.Sprintf(`{"version":0,"checks":[{"name":"integrity","part":"memory","digest":%q,"at":"2026-01-02T03:04:05.000Z","ok":true}]}`, digest),
	} {
		sum := sha256.Sum256([]byte(body))
		must.Do(t, os.WriteFile(path, []byte(hex.EncodeToString(sum[:])+"\n"+body), 0o600))
		for _, c := range w.show(id).Checks {
			must.Hold(t, c.Digest != digest, "believed: %+v", c)
		}
	}
	w.mustVerify(id)
	if now := w.show(id).Checks; len(now) != len(made) || len(made) != 11 {
		t.Errorf("%d checks, before %d", len(now), len(made))
	}
}
