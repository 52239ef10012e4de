package snapshot_test

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/journal"
	"github.com/amber-memory/amber/repo"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/store/sqlite"
)

// check checks the repository with all its data.
func (w *world) check() amber.CheckReport {
	w.t.Helper()
	r, err := w.engine.CheckRepository(w.t.Context(), amber.CheckRequest{Tenant: "default", ReadData: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// verify verifies a snapshot with all its data.
func (w *world) verify(id amber.SnapshotID) amber.VerifyReport {
	w.t.Helper()
	r, err := w.engine.VerifySnapshot(w.t.Context(), amber.VerifyRequest{SnapshotRef: ref(id), ReadData: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func TestARepositoryThatIsGoneIsDamage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if r := w.check(); !r.OK() {
		t.Errorf("before the first snapshot: %+v", r.Damaged)
	}
	meta := w.snapshot()
	if err := os.RemoveAll(w.home.RepoDir("default")); err != nil {
		t.Fatal(err)
	}
	r := w.check()
	if len(r.Damaged) != 1 || !strings.Contains(r.Damaged[0].Object, "agent default") || !slices.Equal(r.Damaged[0].Snapshots, []amber.SnapshotID{meta.ID}) {
		t.Errorf("%+v", r.Damaged)
	}
	_, err := w.engine.VerifySnapshot(t.Context(), amber.VerifyRequest{SnapshotRef: ref(meta.ID)})
	wantKind(t, "verify", err, amber.KindNotFound)
}

// trouble is a file system that answers for some files itself.
type trouble struct {
	fsx.FS
	lstat   func(name string)
	readDir func(name string) error
	open    func(name string) error
}

func (f *trouble) Lstat(name string) (fs.FileInfo, error) {
	info, err := f.FS.Lstat(name)
	if f.lstat != nil {
		f.lstat(name)
	}
	return info, err
}

func (f *trouble) ReadDir(name string) ([]fs.DirEntry, error) {
	if f.readDir != nil {
		if err := f.readDir(name); err != nil {
			return nil, err
		}
	}
	return f.FS.ReadDir(name)
}

func (f *trouble) OpenFile(name string, flag int, perm os.FileMode) (fsx.File, error) {
	if f.open != nil {
		if err := f.open(name); err != nil {
			return nil, err
		}
	}
	return f.FS.OpenFile(name, flag, perm)
}

// withSource takes a snapshot with a source, which must not fail.
func (w *world) withSource() amber.SnapshotMeta {
	w.t.Helper()
	w.remember("the agent's own")
	meta, err := w.engine.Snapshot(w.t.Context(), amber.SnapshotRequest{Tenant: "default", Agent: "default", Sources: []string{"other"}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.mustVerify(meta.ID)
	return meta
}

// What is wrong with somebody else's files keeps nobody from taking a snapshot
// of the agent: it is listed, with a warning.
func TestTroubleOfASourceIsListed(t *testing.T) {
	t.Parallel()
	denied := &fs.PathError{Op: "open", Path: "it", Err: fs.ErrPermission}
	for _, tt := range []struct {
		name string
		make func(t *testing.T, path string) // what is there
		fs   func(path string) *trouble
		src  func(path string) snapshot.Source
		want string
	}{
		{
			name: "a folder vanishes",
			make: func(t *testing.T, path string) { mkdir(t, path) },
			fs: func(path string) *trouble {
				return &trouble{FS: fsx.OS(), lstat: func(name string) {
					if name == path {
						_ = os.Remove(path)
					}
				}}
			},
			src:  func(path string) snapshot.Source { return snapshot.Source{Files: []string{path}} },
			want: amber.SkipMissing,
		},
		{
			name: "a folder that may not be read",
			make: func(t *testing.T, path string) { mkdir(t, path) },
			fs: func(path string) *trouble {
				return &trouble{FS: fsx.OS(), readDir: func(name string) error {
					if name == path {
						return denied
					}
					return nil
				}}
			},
			src:  func(path string) snapshot.Source { return snapshot.Source{Files: []string{path}} },
			want: amber.SkipUnreadable,
		},
		{
			name: "a repository that may not be read",
			make: func(t *testing.T, path string) { mkdir(t, filepath.Join(path, ".git")) },
			fs: func(path string) *trouble {
				return &trouble{FS: fsx.OS(), open: func(name string) error {
					if strings.HasPrefix(name, path) {
						return denied
					}
					return nil
				}}
			},
			src:  func(path string) snapshot.Source { return snapshot.Source{Git: path} },
			want: amber.SkipUnreadable,
		},
		{
			name: "a database that is cut off",
			make: func(t *testing.T, path string) {
				change(t, path, "CREATE TABLE t(x)", "INSERT INTO t VALUES(randomblob(100000))")
				if err := os.Truncate(path, 20<<10+100); err != nil {
					t.Fatal(err)
				}
			},
			fs:   func(string) *trouble { return nil },
			src:  func(path string) snapshot.Source { return snapshot.Source{SQLite: []string{path}} },
			want: "", // it is captured as it is
		},
		{
			name: "a database that is none",
			make: func(t *testing.T, path string) {
				if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
					t.Fatal(err)
				}
			},
			fs:   func(string) *trouble { return nil },
			src:  func(path string) snapshot.Source { return snapshot.Source{SQLite: []string{path}} },
			want: amber.SkipUnreadable,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "it")
			tt.make(t, path)
			w := newWorld(t, func(o *snapshot.Options) {
				o.Sources = map[string]snapshot.Source{"other": tt.src(path)}
				if f := tt.fs(path); f != nil {
					o.FS = f
				}
			})
			meta := w.withSource()
			if got := skipped(meta.Skipped, path); got != tt.want || len(meta.Warnings) == 0 {
				t.Errorf("skipped is %q, want %q: %+v, %v", got, tt.want, meta.Skipped, meta.Warnings)
			}
		})
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

// A database of somebody else that changes while it is read is read again, and
// skipped when it never rests.
func TestAChangingDatabaseOfASource(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		times int64
		want  string
	}{{1, ""}, {1000, amber.SkipTorn}} {
		t.Run(fmt.Sprint(tt.times), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "other.db")
			change(t, path, "PRAGMA journal_mode=WAL", "CREATE TABLE t(x)", "INSERT INTO t VALUES(1)")
			var n atomic.Int64
			w := newWorld(t, func(o *snapshot.Options) {
				o.Sources = map[string]snapshot.Source{"other": {SQLite: []string{path}}}
				o.Progress = func(step string, _, _ int64) {
					if i := n.Load(); step == "capture other.db" && i < tt.times {
						n.Add(1)
						at := time.UnixMilli(1e12 + i)
						if err := os.Chtimes(path, at, at); err != nil {
							t.Error(err)
						}
					}
				}
			})
			meta := w.withSource()
			if got := skipped(meta.Skipped, path); got != tt.want {
				t.Errorf("skipped is %q, want %q: %+v", got, tt.want, meta.Skipped)
			}
		})
	}
}

// A disk that is full is no matter of the source.
func TestTheRepositorysTroubleIsNotTheSources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "other.db")
	change(t, db, "CREATE TABLE t(x)", "INSERT INTO t VALUES(randomblob(10000000))")
	full := &trouble{FS: fsx.OS()}
	w := newWorld(t, func(o *snapshot.Options) {
		o.Sources = map[string]snapshot.Source{"other": {SQLite: []string{db}}}
		o.FS = full
	})
	w.snapshot()
	full.open = func(name string) error {
		if strings.Contains(name, "packs") {
			return errors.New("the disk is full")
		}
		return nil
	}
	_, err := w.engine.Snapshot(t.Context(), amber.SnapshotRequest{Tenant: "default", Agent: "default", Sources: []string{"other"}})
	if err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("got %v", err)
	}
}

func TestTheListCountsWhatWasSkipped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := newWorld(t, func(o *snapshot.Options) {
		o.Sources = map[string]snapshot.Source{"other": {Files: []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}}}
	})
	meta := w.withSource()
	for _, m := range []amber.SnapshotMeta{meta, w.list()[0], w.show(meta.ID).SnapshotMeta} {
		if m.SkippedCount != 2 || m.WarningCount != 2 {
			t.Errorf("%d skipped, %d warnings", m.SkippedCount, m.WarningCount)
		}
	}
}

// Journal entries that cannot be captured are listed; those that can are
// counted.
func TestDamagedJournalEntriesAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	j, err := journal.Open(w.agent.SpoolDir(), journal.Options{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	keep := func(s journal.Session, n int) {
		for i := range n {
			event := fmt.Sprintf(`{"schema":1,"kind":"prompt","host":"claude-code","session_id":%q,"text":"entry %d %s"}`, s.ID, i, strings.Repeat("x", 100))
			if _, err := j.Append(t.Context(), s, journal.Entry{Payload: []byte(event)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole, spoiled := journal.Session{Host: "claude-code", ID: "whole"}, journal.Session{Host: "claude-code", ID: "spoiled"}
	keep(whole, 3)
	meta := w.snapshot()
	if p := part(w.show(meta.ID), "journal"); p == nil || p.Count != 3 || len(meta.Skipped) != 0 {
		t.Errorf("%+v, %+v", p, meta.Skipped)
	}
	keep(spoiled, 3)
	segment := filepath.Join(w.agent.SpoolDir(), string(spoiled.Key()), "000001.seg")
	info, err := os.Stat(segment)
	if err != nil {
		t.Fatal(err)
	}
	flip(t, segment, int(info.Size()/2))
	meta = w.snapshot()
	if len(meta.Skipped) != 1 || meta.Skipped[0].Part != "journal" || meta.Skipped[0].Path != string(spoiled.Key()) || len(meta.Warnings) != 1 {
		t.Errorf("%+v, %v", meta.Skipped, meta.Warnings)
	}
	if p := part(w.show(meta.ID), "journal"); p == nil || p.Count != 5 {
		t.Errorf("%+v", p)
	}
	w.mustVerify(meta.ID)
}

// What verify has not looked at is named: databases that are not there, and
// the checks behind one that failed.
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
		}), true, []string{"memory.db: it is not in this snapshot"}},
		{"another schema", w.forgeDatabase(good, file), false, []string{"memory.db: schema", "memory.db: integrity", "memory.db: foreign_keys", "memory.db: full_text", "memory.db: counters", "memory.db: rows"}},
	} {
		r := w.verify(tt.id)
		if r.OK() != tt.ok {
			t.Errorf("%s: %+v", tt.name, r.Damaged)
		}
		if len(r.NotChecked) != len(tt.want) {
			t.Errorf("%s: not checked are %q", tt.name, r.NotChecked)
		}
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

// What may not be read is not damaged.
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
			r, err := w.engine.VerifySnapshot(t.Context(), amber.VerifyRequest{SnapshotRef: ref(id), ReadData: true})
			if err == nil || !r.OK() {
				t.Errorf("got %v, %+v", err, r.Damaged)
			}
		})
	}
}

// History that was rewritten away is not in later snapshots.
func TestRewrittenHistoryIsLeftBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("a", "one\n")
	w.note("a", "a secret\n")
	first := w.snapshot()
	objects := func() int64 {
		return int64(len(strings.Fields(w.git("rev-list", "--objects", "--no-object-names", "--all"))))
	}
	if p := part(w.show(first.ID), "git"); p == nil || p.Count != objects() {
		t.Errorf("first: %+v, want %d", p, objects())
	}
	w.note("b", "two\n")
	if p := part(w.show(w.snapshot().ID), "git"); p == nil || p.Count != objects() {
		t.Errorf("one more: %+v, want %d", p, objects())
	}
	w.git("reset", "--hard", "HEAD~2")
	w.note("c", "three\n")
	meta := w.snapshot()
	if p := part(w.show(meta.ID), "git"); p == nil || p.Count != objects() {
		t.Errorf("rewritten: %+v, want %d", p, objects())
	}
	w.mustVerify(meta.ID)
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
		if err := os.WriteFile(path, []byte(hex.EncodeToString(sum[:])+"\n"+body), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range w.show(id).Checks {
			if c.Digest == digest {
				t.Errorf("believed: %+v", c)
			}
		}
	}
	w.mustVerify(id)
	if now := w.show(id).Checks; len(now) != len(made) || len(made) != 11 {
		t.Errorf("%d checks, before %d", len(now), len(made))
	}
}

// One agent that cannot be settled keeps no other from being swept.
func TestSweepGoesOnBehindADamagedAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("something")
	w.snapshot()
	other, err := w.home.Agent("default", "zoe")
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), other, sqlite.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{w.agent.Dir(), other.Dir()} {
		if err := os.WriteFile(filepath.Join(agent, "RESTORING"), []byte("no note"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err = w.engine.CollectGarbage(t.Context(), amber.GCRequest{Tenant: "default"})
	if err == nil || !strings.Contains(err.Error(), "default") || !strings.Contains(err.Error(), "zoe") {
		t.Errorf("got %v", err)
	}
}

// What a snapshot costs does not grow with those that were taken before it.
func TestASnapshotReadsNoOldManifests(t *testing.T) {
	t.Parallel()
	var reads atomic.Int64
	f := &trouble{FS: fsx.OS(), open: func(name string) error {
		if strings.Contains(name, string(filepath.Separator)+"snapshots"+string(filepath.Separator)) || strings.Contains(name, string(filepath.Separator)+"stubs"+string(filepath.Separator)) {
			reads.Add(1)
		}
		return nil
	}}
	w := newWorld(t, func(o *snapshot.Options) { o.FS = f })
	var cost []int64
	for n := range 8 {
		before := reads.Load()
		w.remember(fmt.Sprint("memory ", n))
		w.snapshot()
		cost = append(cost, reads.Load()-before)
	}
	if cost[7] != cost[1] {
		t.Errorf("snapshots open %v manifests and stubs", cost)
	}
	w.mustCheck()
	// Without the cache the chain goes on all the same.
	if err := os.RemoveAll(w.home.CacheDir()); err != nil {
		t.Fatal(err)
	}
	w.snapshot()
	w.mustCheck()
}
