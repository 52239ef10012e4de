package gitsync_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// failure is what ends a history; see [history.run].
type failure struct{ error }

// world is clones around one repository.
type world struct {
	t       *testing.T
	seed    uint64
	dir     string
	parties []*party
	central map[string][]byte // files of the repository, by name
	known   *oracle
	done    tally
	step    string
	written int

	hostile  []amber.SyncRecord          // what the adversary wrote
	erasures map[string][]amber.MemoryID // in the files that were read, by name
}

func (w *world) failf(format string, args ...any) {
	panic(failure{fmt.Errorf("%s: %w", w.step, fmt.Errorf(format, args...))})
}

func (w *world) check(err error) {
	if err != nil {
		w.failf("%w", err)
	}
}

// text returns a text that no clone wrote before.
func (w *world) text(by *party) string {
	w.written++
	return fmt.Sprintf("thought %d of %d", w.written, by.n)
}

func (w *world) close() {
	for _, p := range w.parties {
		p.store.Close()
	}
}

// party is a clone that lives in a history.
type party struct {
	*world
	n      int
	dir    string
	folder string
	homes  int // how many it had
	clock  *wrist
	random *rand.ChaCha8
	home   *home.Home
	agent  *home.Agent
	store  *sqlite.Store
	sync   *gitsync.Sync
	engine *snapshot.Engine

	base      map[string]bool // the files at the last merge
	snapshots []amber.SnapshotID
	made      made
	mine      map[*version]bool       // versions that this home made
	erased    map[amber.MemoryID]bool // in the folder, as an import told
	forgetful bool                    // it does not know what it exported
	last      amber.Stamp             // of what this home made before this step
	newest    amber.Stamp             // of what it made
}

// join adds a clone to the world.
func (w *world) join(n int) *party {
	var key [32]byte
	copy(key[:], fmt.Sprintf("%016x%016x", w.seed, n))
	p := &party{
		world: w, n: n, dir: filepath.Join(w.dir, fmt.Sprint(n)), clock: newWrist(), random: rand.NewChaCha8(key),
		base: map[string]bool{}, made: newMade(), mine: map[*version]bool{}, erased: map[amber.MemoryID]bool{},
	}
	p.folder = filepath.Join(p.dir, "tree", ".amber")
	w.check(os.MkdirAll(filepath.Dir(p.folder), 0o755))
	p.open()
	w.parties = append(w.parties, p)
	return p
}

func (p *party) open() {
	var err error
	p.home, _, err = home.Open(filepath.Join(p.dir, fmt.Sprint("home", p.homes)), home.Options{Clock: p.clock.now, Random: p.random})
	p.check(err)
	p.agent, err = p.home.Agent(amber.DefaultTenant, amber.DefaultAgent)
	p.check(err)
	p.store, err = sqlite.Open(p.t.Context(), p.agent, sqlite.Options{Clock: p.clock.now, Random: p.random, Readers: 1})
	p.check(err)
	p.sync, err = gitsync.Options{Prompts: true, Redact: rules}.Open(p.store, p.folder)
	p.check(err)
	p.engine, err = snapshot.New(snapshot.Options{Home: p.home, Clock: p.clock.now, Random: p.random})
	p.check(err)
}

// loseHome begins anew beside the folder that is there.
func (p *party) loseHome() {
	p.check(p.store.Close())
	p.check(os.RemoveAll(filepath.Join(p.dir, fmt.Sprint("home", p.homes))))
	p.homes++
	p.open()
	p.snapshots, p.made, p.last, p.newest = nil, newMade(), 0, 0
	p.mine, p.erased, p.forgetful = map[*version]bool{}, map[amber.MemoryID]bool{}, false
}

// loseState removes rows that remember what was synced. A chunk that is to be
// applied again brings the relations that wait, so those go along with it.
func (p *party) loseState(r *rand.Rand) {
	queries := [][]string{
		{"sync_places"},
		{"sync_imports"},
		{"sync_chunks"},
		{"sync_places", "sync_imports", "sync_chunks", "sync_waiting", "sync_quarantine", "sync_links", "sync_held", "sync_spared"},
	}
	tables := queries[r.IntN(len(queries))]
	p.forgetful = p.forgetful || len(tables) > 1
	db := p.database()
	defer db.Close()
	for _, table := range tables {
		p.check(must.Err(db.Exec("DELETE FROM " + table)))
	}
}

// setClock turns the clock by hours or by years, to and fro.
func (p *party) setClock(r *rand.Rand) {
	by := time.Duration(1+r.IntN(72)) * time.Hour
	if r.IntN(2) == 0 {
		by = time.Duration(1+r.IntN(9)) * 365 * 24 * time.Hour
	}
	if now := p.clock.now().Year(); now > 2000 && r.IntN(2) == 0 || now > 2080 {
		by = -by
	}
	p.clock.turn(by)
}

// files returns the chunk files of the working tree. A file has the name of
// its bytes, so two of one name are the same.
func (p *party) files() map[string][]byte {
	out := map[string][]byte{}
	dir := filepath.Join(p.folder, "chunks")
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return out
	}
	p.check(err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		p.check(err)
		sum := sha256.Sum256(b)
		if want := hex.EncodeToString(sum[:]) + ".jsonl.zst"; e.Name() != want {
			p.failf("a file called %s holds the bytes of %s", e.Name(), want)
		}
		out[e.Name()] = b
	}
	return out
}

// pull merges what the repository has into the working tree, as git does:
// what either side added stays, what either side removed goes.
func (p *party) pull() {
	ours, theirs := p.files(), p.central
	merged := map[string][]byte{}
	for name, b := range ours {
		if _, there := theirs[name]; there || !p.base[name] {
			merged[name] = b
		}
	}
	for name, b := range theirs {
		if mine, there := ours[name]; there && !bytes.Equal(mine, b) {
			p.failf("git would see two files called %s", name)
		} else if !there && !p.base[name] {
			merged[name] = b
		}
	}
	dir := filepath.Join(p.folder, "chunks")
	p.check(os.MkdirAll(dir, 0o755))
	for name := range ours {
		if _, stays := merged[name]; !stays {
			p.check(os.Remove(filepath.Join(dir, name)))
		}
	}
	for name, b := range merged {
		if _, there := ours[name]; !there {
			p.check(os.WriteFile(filepath.Join(dir, name), b, 0o644))
		}
	}
	p.base = map[string]bool{}
	for name := range theirs {
		p.base[name] = true
	}
}

// merge pulls, and gives the repository what it got together.
func (p *party) merge() {
	p.pull()
	p.central = p.files()
	p.base = map[string]bool{}
	for name := range p.central {
		p.base[name] = true
	}
}

func (p *party) exports(project string) wire.SyncExport {
	before := p.reading()
	r, err := p.sync.Export(p.t.Context(), gitsync.ExportOptions{CreatedBy: fmt.Sprint("clone ", p.n), Project: project})
	p.check(err)
	for _, held := range r.Withheld {
		if held.Ref.Scope != amber.ChangeMemory || !p.erased[amber.MemoryID(held.Ref.ID)] {
			p.failf("the export withheld %v", r.Withheld)
		}
	}
	if len(r.Redacted) > 0 {
		p.failf("the export redacted %v", r.Redacted)
	}
	p.known.exported(p, before, project)
	return r
}

func (p *party) imports() wire.SyncImport {
	own := p.owns()
	r, err := p.sync.Import(p.t.Context())
	p.check(err)
	p.readErasures()
	p.mustStillOwn(own)
	if len(r.Quarantined) > 0 || len(r.Missing) > 0 {
		p.failf("the import put %v in quarantine and misses %v", r.Quarantined, r.Missing)
	}
	return r
}

func (p *party) compact() {
	p.check(must.Err(p.sync.Compact(p.t.Context())))
}

// settle lets everybody export, merge and import, twice.
func (w *world) settle() {
	w.step = "settle"
	for range 2 {
		for _, p := range w.parties {
			p.exports("")
			p.merge()
		}
		for _, p := range w.parties {
			p.merge()
			p.imports()
		}
	}
}

// verify checks what must be true once all is settled, also after the folder was compacted, and for a clone that joins
// then.
func (w *world) verify() {
	w.step = "settled"
	for _, p := range w.parties {
		w.known.verify(p)
		p.mustBeStill()
	}
	w.step = "compacted"
	w.parties[0].compact()
	for range 2 {
		for _, p := range w.parties {
			p.merge()
			p.imports()
		}
	}
	w.mustHoldNothingErased()
	for _, p := range w.parties {
		w.known.verify(p)
		p.mustBeStill()
	}
	w.step = "somebody joined"
	p := w.join(len(w.parties))
	p.merge()
	p.imports()
	w.known.verify(p)
	p.mustBeStill()
	w.known.sameConflicts(w.parties)
}

// mustBeStill checks that importing and exporting once more does nothing.
func (p *party) mustBeStill() {
	ctx := p.t.Context()
	head, err := p.store.Head(ctx)
	p.check(err)
	files := p.files()
	in := p.imports()
	if in.Skipped == 0 && len(files) > 0 {
		p.failf("a second import skipped nothing")
	}
	in.Skipped, in.Dir, in.Quarantined = 0, "", nil
	if fmt.Sprint(in) != fmt.Sprint(wire.SyncImport{}) {
		p.failf("a second import of clone %d did %+v", p.n, in)
	}
	if out := p.exports(""); !out.IsEmpty || len(out.ChunkIDs) > 0 {
		p.failf("a second export of clone %d wrote %+v", p.n, out)
	}
	after, err := p.store.Head(ctx)
	p.check(err)
	if after != head {
		p.failf("a second import and export of clone %d moved the change log from %s to %s", p.n, head, after)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(files)), slices.Sorted(maps.Keys(p.files()))) {
		p.failf("a second import and export of clone %d changed the folder", p.n)
	}
	st, err := p.sync.Status(ctx, "")
	p.check(err)
	if st.PendingExport+st.PendingImport+st.Damaged != 0 || len(st.Quarantined)+len(st.Missing) > 0 {
		p.failf("the status of clone %d is %+v", p.n, st)
	}
}
