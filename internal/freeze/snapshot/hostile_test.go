package snapshot_test

import (
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// forge publishes a snapshot that no engine would take, as an attacker can who may write to the
// repository. It is a copy of another snapshot with something changed.
func (w *world) forge(from amber.SnapshotID, change func(wr *repo.Writer, in *repo.Inner) error) amber.SnapshotID {
	w.t.Helper()
	return must.Get(w.forged(from, change))(w.t)
}

func (w *world) forged(from amber.SnapshotID, change func(wr *repo.Writer, in *repo.Inner) error) (amber.SnapshotID, error) {
	ctx := w.t.Context()
	target, err := dir.Open(repoDir(w.dir), dir.Options{})
	if err != nil {
		return "", err
	}
	// The attacker has the key of the home, or the signature alone would give it
	// away.
	signer, err := keyring.Open(w.home.KeysDir(), keyring.Options{Random: rand.Reader}).Signer(ctx)
	if err != nil {
		return "", err
	}
	r, err := repo.Open(ctx, target, &repo.Options{Signer: signer})
	if err != nil {
		return "", err
	}
	catalog := r.Catalog("default")
	entry, err := catalog.Get(ctx, "default", from)
	if err != nil {
		return "", err
	}
	m := entry.Manifest
	inner, err := r.Inner(ctx, m)
	if err != nil {
		return "", err
	}
	wr := r.NewWriter(ctx)
	defer wr.Close()
	if err := change(wr, &inner); err != nil {
		return "", err
	}
	if m.Inner, err = wr.PutInner(ctx, inner); err != nil {
		return "", err
	}
	if _, err := wr.Flush(ctx); err != nil {
		return "", err
	}
	seen, err := catalog.TipSince(ctx, "default", m.Device, repo.Seen{})
	if err != nil {
		return "", err
	}
	tip := seen.Tip
	id, err := amber.NewUUID(time.Now(), rand.Reader)
	if err != nil {
		return "", err
	}
	m.ID, m.Counter, m.Parent, m.ParentID = amber.SnapshotID(id), tip.Counter+1, tip.Digest, tip.ID
	_, err = catalog.Publish(ctx, mayAct(), m)
	return m.ID, err
}

// outside lists everything around and in a home but for the repository and the
// cache.
func (w *world) outside() (names []string) {
	w.t.Helper()
	must.Do(w.t, filepath.WalkDir(filepath.Dir(w.dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "repo" || d.Name() == "cache") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "-shm") && !strings.HasSuffix(path, "-wal") {
			names = append(names, path)
		}
		return nil
	}))
	return names
}

// mustRefuse restores a snapshot, which must be refused and leave no trace; and
// it must not verify, which leaves none either.
func (w *world) mustRefuse(id amber.SnapshotID, kinds ...amber.Kind) {
	w.t.Helper()
	before, names, snapshots := w.all(), w.outside(), len(w.list())
	withControl := func(r *wire.RestoreRequest) { r.WithControl = true }
	for _, err := range []error{w.tryRestore(id, withControl), w.tryRestore(id, asNew("fork"))} {
		if !slices.Contains(kinds, amber.KindOf(err)) {
			w.t.Errorf("the restore: kind %q, want one of %v: %v", amber.KindOf(err), kinds, err)
		}
	}
	_ = os.RemoveAll(filepath.Join(w.dir, "tenants", "default", "agents", "fork")) // its lock
	if r := w.verify(id); r.OK() {
		w.t.Errorf("the snapshot verifies: %+v", r)
	}
	w.mustBe(before)
	must.Equal(w.t, "files around the home", w.outside(), names)
	must.Equal(w.t, "snapshots", len(w.list()), snapshots)
}

// rawFile is an entry of a tree as its bytes may say it.
type rawFile struct {
	mode byte // 1 file, 2 executable, 3 folder
	name string
	size int
	id   repo.ID // of its only part, or of the folder
}

// rawTree writes a tree that no writer would.
func rawTree(files ...rawFile) []byte {
	le := binary.LittleEndian
	b := le.AppendUint32(le.AppendUint32(le.AppendUint32([]byte("AmberDir"), 1), 0), uint32(len(files)))
	for _, f := range files {
		b = le.AppendUint16(append(b, f.mode, byte(len(f.name))), 0)
		b = le.AppendUint64(le.AppendUint64(b, 0), uint64(f.size))
		b = append(append(b, f.name...), f.id[:]...)
	}
	return b
}

// Trees whose names lead elsewhere, or are there twice, are refused.
func TestHostileTreesAreRefused(t *testing.T) {
	t.Parallel()
	const evil = "#!/bin/sh\necho evil\n"
	file := func(name string) rawFile { return rawFile{mode: 2, name: name, size: len(evil)} }
	for _, tt := range []struct {
		name  string
		files []rawFile
		below string // the files are in a folder of that name
		state bool   // the second time it is the state, not the notes
	}{
		{"parent", []rawFile{file("..")}, "", false},
		{"path to the parent", []rawFile{file("../evil")}, "", true},
		{"path to above the home", []rawFile{file("../../../../../../../evil")}, "", false},
		{"absolute", []rawFile{file("/tmp/evil")}, "", false},
		{"this folder", []rawFile{file(".")}, "", false},
		{"empty", []rawFile{file("")}, "", false},
		{"nul", []rawFile{file("a\x00b")}, "", false},
		{"not UTF-8", []rawFile{file("\xff")}, "", false},
		{"folder that is the parent", []rawFile{file("evil")}, "..", false},
		{"git folder", []rawFile{file("post-checkout")}, ".git", true},
		{"git folder, in capitals", []rawFile{file("post-checkout")}, ".GIT", false},
		{"git file", []rawFile{file(".git")}, "", false},
		{"two of one name", []rawFile{file("a"), file("a")}, "", true},
		{"names that differ in case", []rawFile{file("A"), file("a")}, "", false},
		{"names that differ in case, not ASCII", []rawFile{file("É"), file("é")}, "", false},
		{"out of order", []rawFile{file("b"), file("a")}, "", false},
		{"unknown mode", []rawFile{{mode: 4, name: "link", size: len(evil)}}, "", false},
		{"larger than its parts", []rawFile{{mode: 1, name: "a", size: len(evil) + 1}}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.remember("one")
			w.note("a", "one\n")
			good := w.snapshot().ID
			for _, state := range slices.Compact([]bool{false, tt.state}) {
				id := w.forge(good, func(wr *repo.Writer, in *repo.Inner) error {
					part, err := wr.Put(t.Context(), repo.KindFile, []byte(evil))
					if err != nil {
						return err
					}
					files := slices.Clone(tt.files)
					for i := range files {
						files[i].id = part
					}
					tree, err := wr.Put(t.Context(), repo.KindTree, rawTree(files...))
					if err == nil && tt.below != "" {
						tree, err = wr.Put(t.Context(), repo.KindTree, rawTree(rawFile{mode: 3, name: tt.below, id: tree}))
					}
					entry := &repo.FilesEntry{Tree: tree, Files: int64(len(files)), Bytes: int64(len(files) * len(evil))}
					if in.Notes = entry; state {
						in.Notes, in.State = nil, entry
					}
					return err
				})
				w.mustRefuse(id, amber.KindDamaged, amber.KindRefused)
			}
			w.restore(good)
		})
	}
}

// An inner manifest that names other databases, or has one in the place of the
// other, is refused. Its names become no paths.
func TestHostileDatabaseNamesAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(in *repo.Inner)
	}{
		{"exchanged", func(in *repo.Inner) {
			in.Databases[0].Name, in.Databases[1].Name = in.Databases[1].Name, in.Databases[0].Name
		}},
		{"another name", func(in *repo.Inner) { in.Databases[0].Name = "evil.db" }},
		{"one more", func(in *repo.Inner) {
			more := in.Databases[0]
			more.Name = "evil.db"
			in.Databases = append(in.Databases, more)
		}},
		{"path to the parent", func(in *repo.Inner) {
			more := in.Databases[0]
			more.Name = "../../../evil.db"
			in.Databases = append(in.Databases, more)
		}},
		{"absolute path", func(in *repo.Inner) {
			more := in.Databases[0]
			more.Name = filepath.ToSlash(filepath.Join(os.TempDir(), "amber-evil.db"))
			in.Databases = append(in.Databases, more)
		}},
		{"none", func(in *repo.Inner) { in.Databases = nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.remember("one")
			id := w.forge(w.snapshot().ID, func(_ *repo.Writer, in *repo.Inner) error {
				tt.change(in)
				return nil
			})
			if tt.name == "none" { // parts that could not be captured are no damage
				must.Kind(t, "restore", w.tryRestore(id), amber.KindDamaged)
				return
			}
			w.mustRefuse(id, amber.KindDamaged, amber.KindRefused)
		})
	}
}

// A manifest of another agent or tenant in this agent's place is damage.
func TestForeignManifestsAreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("one")
	w.snapshot()
	for _, other := range []struct {
		tenant amber.TenantID
		agent  amber.AgentID
	}{{"default", "other"}, {"strangers", "default"}} {
		agent := must.Get(w.home.Agent(other.tenant, other.agent))(t)
		store := must.Get(sqlite.Open(t.Context(), agent, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(t)
		defer store.Close()
		must.Get(store.Write(t.Context(), amber.WriteRequest{Content: "the secret of another", Scope: amber.ScopeGlobal}))(t)
		meta := must.Get(w.engine.Snapshot(t.Context(), wire.SnapshotRequest{Tenant: other.tenant, Agent: other.agent}))(t)
		from := filepath.Join(w.dir, "tenants", string(other.tenant), "repo")
		want := amber.KindCrossTenant
		if other.tenant != "default" {
			want = amber.KindNotFound // this tenant knows nothing of it
		}
		must.Kind(t, "restore of a snapshot of another", w.tryRestore(meta.ID), want)
		// Everything of it, and the manifest to where this agent's are.
		copyMissing(t, from, repoDir(w.dir))
		name := string(meta.ID) + ".json"
		b := must.Get(os.ReadFile(filepath.Join(from, "snapshots", string(other.agent), name)))(t)
		place := filepath.Join(repoDir(w.dir), "snapshots", "default", name)
		must.Do(t, os.WriteFile(place, b, 0o600))
		must.Kind(t, "restore of a manifest that was copied", w.tryRestore(meta.ID), amber.KindCrossTenant)
		must.Do(t, os.Remove(place))
	}
}

// copyMissing copies the files of a folder that another does not have.
func copyMissing(t *testing.T, from, to string) {
	t.Helper()
	must.Do(t, filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, b, 0o600)
	}))
}

// A restore refuses a database that would run the code of its author, or that has another schema.
func TestHostileDatabasesAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		statements []string
	}{
		{"trigger", []string{`CREATE TRIGGER evil AFTER INSERT ON memories BEGIN DELETE FROM memories; END`}},
		{"trigger on the log", []string{`CREATE TRIGGER evil AFTER INSERT ON changes BEGIN UPDATE memories SET content = 'evil'; END`}},
		{"view in the place of a table", []string{`ALTER TABLE memories RENAME TO hidden`, `CREATE VIEW memories AS SELECT * FROM hidden`}},
		{"one more view", []string{`CREATE VIEW evil AS SELECT load_extension('evil')`}},
		{"one more table", []string{`CREATE TABLE evil (a)`}},
		{"one more index", []string{`CREATE INDEX evil ON memories (content)`}},
		{"one more column", []string{`ALTER TABLE memories ADD COLUMN evil TEXT DEFAULT 'x'`}},
		{"no table", []string{`DROP TABLE changes`}},
		{"another program's", []string{`PRAGMA application_id = 1`}},
		{"newer schema", []string{`PRAGMA user_version = 99999`}},
		{"no schema", []string{`PRAGMA user_version = 0`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.remember("one")
			good := w.snapshot().ID
			file := filepath.Join(t.TempDir(), "memory.db")
			w.copyDatabase(file)
			change(t, file, tt.statements...)
			id := w.forgeDatabase(good, file)
			w.mustRefuse(id, amber.KindDamaged, amber.KindRefused, amber.KindTooNew)
			w.restore(good)
		})
	}
}

// copyDatabase writes the live memory.db as one file.
func (w *world) copyDatabase(to string) {
	w.t.Helper()
	change(w.t, filepath.Join(w.gen(), "memory.db"), fmt.Sprintf("VACUUM INTO '%s'", to))
}

// change runs statements on a database as any program may.
func change(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := must.Get(sql.Open("sqlite", "file:"+path))(t)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// forgeDatabase publishes a snapshot with a file in the place of memory.db.
func (w *world) forgeDatabase(from amber.SnapshotID, file string) amber.SnapshotID {
	w.t.Helper()
	data := must.Get(os.ReadFile(file))(w.t)
	return w.forge(from, func(wr *repo.Writer, in *repo.Inner) error {
		size := int(binary.BigEndian.Uint16(data[16:]))
		d, err := wr.NewDatabase(w.t.Context(), size, nil)
		if err != nil {
			return err
		}
		defer d.Abort()
		if err := d.Write(data); err != nil {
			return err
		}
		ref, _, err := d.Finish(w.t.Context())
		for i := range in.Databases {
			if in.Databases[i].Name == "memory.db" {
				in.Databases[i].Ref = ref
			}
		}
		return err
	})
}

// A manifest of a newer Amber is told apart from damage.
func TestNewerManifestsAreTold(t *testing.T) {
	t.Parallel()
	w, meta := frozen(t, "one")
	w.snapshot()
	path := filepath.Join(repoDir(w.dir), "snapshots", "default", string(meta.ID)+".json")
	b := must.Get(os.ReadFile(path))(t)
	body, _, _ := strings.Cut(strings.TrimPrefix(string(b), `{"body":`), `,"digest":"`)
	body = strings.Replace(body, `"version":1`, `"version":2,"colour":"blue"`, 1)
	sum := sha256.Sum256([]byte(body))
	text := `{"body":` + body + `,"digest":"` + hex.EncodeToString(sum[:]) + `","signatures":[]}` + "\n"
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	w.mustRefuse(meta.ID, amber.KindTooNew)
	_, err := w.engine.ShowSnapshot(t.Context(), ref(meta.ID))
	must.Kind(t, "show", err, amber.KindTooNew)
	must.Hold(t, amber.HintOf(err) != "", "no hint: %v", err)
	if got := w.list(); len(got) != 2 || !slices.ContainsFunc(got, func(m wire.SnapshotMeta) bool { return m.ID == meta.ID && m.Damage != "" }) {
		t.Errorf("listed is %+v", got)
	}
	report, err := w.engine.PruneSnapshots(t.Context(), wire.PruneRequest{Tenant: "default", Agent: "default", KeepLast: 1})
	must.Hold(t, err == nil && len(report.Deleted) == 0, "prune: %v, %+v", err, report)
}

// spoil overwrites the middle of every page of a database but the first.
func spoil(t *testing.T, path string) {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	size := int(binary.BigEndian.Uint16(b[16:]))
	for at := size; at < len(b); at += size {
		copy(b[at:], noise(size/2))
	}
	must.Do(t, os.WriteFile(path, b, 0o600))
}

// A database that is damaged at the source is captured as it is, with a loud
// warning; the check that failed is in the manifest; it does not verify; and it
// is not restored over a live agent.
func TestADatabaseDamagedAtTheSourceIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 50 {
		w.remember(fmt.Sprint("memory ", i))
	}
	good := w.snapshot().ID
	want := w.all()
	must.Do(t, w.store.Close())
	spoil(t, filepath.Join(w.gen(), "memory.db"))
	meta := w.snapshot()
	if len(meta.Warnings) == 0 || !strings.Contains(strings.Join(meta.Warnings, "\n"), "memory.db") {
		t.Errorf("warnings are %q", meta.Warnings)
	}
	d := w.show(meta.ID)
	held := part(d, "memory") != nil
	switch checked := slices.ContainsFunc(d.Checks, func(c wire.Check) bool { return !c.OK && c.Part == "memory.db" }); {
	case held && !checked:
		t.Errorf("it was captured, and no failed check is recorded: %+v", d.Checks)
	case !held && skipped(d.Skipped, "memory.db") == "":
		t.Errorf("it was not captured, and is not listed as skipped: %+v", d.Skipped)
	}
	if r := w.verify(meta.ID); held && r.OK() {
		t.Errorf("verified: %+v", r)
	}
	must.Kind(t, "restore", w.tryRestore(meta.ID), amber.KindDamaged)
	if held {
		imported, err := newWorld(t).take(w.export(meta.ID, exact).File)
		must.Hold(t, amber.KindOf(err) == amber.KindDamaged || err == nil && len(imported.Warnings) > 0, "import: %v, %+v", err, imported)
	}

	report := w.restore(good)
	must.Hold(t, len(report.Warnings) > 0, "the live database was damaged, and the restore does not say so")
	w.openStore()
	w.mustBe(want)
}

// A restore brings back an agent whose database is missing or garbage. It keeps the damaged
// generation.
func TestRestoreOverADamagedAgent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, path string)
	}{
		{"garbage", func(t *testing.T, path string) {
			must.Do(t, os.WriteFile(path, noise(40<<10), 0o600))
		}},
		{"truncated", func(t *testing.T, path string) {
			info, err := os.Stat(path)
			if err == nil {
				err = os.Truncate(path, info.Size()/2+100)
			}
			must.Do(t, err)
		}},
		{"empty", func(t *testing.T, path string) {
			must.Do(t, os.Truncate(path, 0))
		}},
		{"missing", func(t *testing.T, path string) {
			must.Do(t, os.Remove(path))
		}},
		{"a folder", func(t *testing.T, path string) {
			must.Do(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
		}},
	} {
		for _, name := range []string{"memory.db", "control.db"} {
			t.Run(tt.name+" "+name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.remember("one")
				w.note("a", "one\n")
				want := w.all()
				meta := w.snapshot()
				w.note("a", "two\n")
				old := w.gen()
				must.Do(t, w.store.Close())
				for _, suffix := range []string{"-wal", "-shm"} {
					_ = os.Remove(filepath.Join(old, name+suffix))
				}
				tt.damage(t, filepath.Join(old, name))
				report := w.restore(meta.ID, func(r *wire.RestoreRequest) { r.WithControl = true })
				must.Hold(t, len(report.Warnings) > 0, "there is no warning")
				must.Equal(t, "the old generation", report.OldGeneration, 1)
				must.Kind(t, "files of the old generation", must.Err(os.Stat(old)), "")
				w.openStore()
				w.mustBe(want)
				w.mustLiveOn()
				w.mustCheck()
			})
		}
	}
}

// A restore takes over only the objects and refs of a history.
func TestHooksAndSettingsOfAHistoryAreNotTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("a", "one\n")
	good := w.snapshot().ID
	w.put(".git/hooks/post-checkout", "#!/bin/sh\ntouch evil\n", 0o700)
	w.put(".git/hooks/pre-commit", "#!/bin/sh\ntouch evil\n", 0o700)
	w.put(".git/info/attributes", "* filter=evil\n", 0o600)
	config := filepath.Join(w.gen(), "memdir", ".git", "config")
	f := must.Get(os.OpenFile(config, os.O_APPEND|os.O_WRONLY, 0))(t)
	_, err := f.WriteString("[core]\n\tfsmonitor = touch evil\n\thooksPath = /evil\n[filter \"evil\"]\n\tsmudge = touch evil\n[alias]\n\tx = !touch evil\n")
	must.Do(t, errors.Join(err, f.Close()))
	meta := w.snapshot()
	w.restore(meta.ID)
	live := filepath.Join(w.gen(), "memdir", ".git")
	if b, err := os.ReadFile(filepath.Join(live, "config")); err != nil || strings.Contains(string(b), "evil") {
		t.Errorf("the settings are %q, %v", b, err)
	}
	for _, name := range []string{"hooks/post-checkout", "hooks/pre-commit", "info/attributes"} {
		must.Is(t, name, must.Err(os.Lstat(filepath.Join(live, filepath.FromSlash(name)))), fs.ErrNotExist)
	}
	w.note("a", "two\n")
	if got := w.all().Log["a"]; got < 2 {
		t.Errorf("the history of the note has %d commits", got)
	}
	if found := must.Get(filepath.Glob(filepath.Join(w.gen(), "memdir", "evil*")))(t); len(found) > 0 {
		t.Errorf("somebody's program ran: %v", found)
	}
	w.restore(good)
}

// A .git that is a file, and so names a repository elsewhere, is listed and does
// not make a snapshot that cannot be restored.
func TestAGitFileIsListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a.md", "one\n", 0o600)
	w.put(".git", "gitdir: /somewhere/else\n", 0o600)
	meta := w.snapshot()
	must.Hold(t, skipped(meta.Skipped, ".git") != "", "skipped is %+v", meta.Skipped)
	w.mustVerify(meta.ID)
	w.restore(meta.ID)
	must.Equal(t, "the note", string(must.Get(os.ReadFile(filepath.Join(w.gen(), "memdir", "a.md")))(t)), "one\n")
}
