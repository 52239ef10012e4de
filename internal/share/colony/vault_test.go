package colony_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// clock is a time that moves only when a test moves it.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// memo is a witness in memory.
type memo struct {
	mu   sync.Mutex
	seen colony.Sighting
}

func (m *memo) Seen(context.Context) (colony.Sighting, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen, nil
}

func (m *memo) Update(_ context.Context, change func(colony.Sighting) colony.Sighting) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = change(m.seen)
	return nil
}

// randomness is a source that is the same for the same number.
func randomness(n uint64) *rand.ChaCha8 {
	var seed [32]byte
	for i := range 8 {
		seed[i] = byte(n >> (8 * i))
	}
	return rand.NewChaCha8(seed)
}

// bench is a vault in memory and a clock.
type bench struct {
	t *testing.T
	*clock
	fake *colonytest.Fake
	n    uint64
}

func newBench(t *testing.T) *bench {
	c := newClock()
	return &bench{t: t, clock: c, fake: &colonytest.Fake{Clock: c.now}}
}

// open returns a label of the vault as change has it.
func (b *bench) open(change func(*colony.Options)) *colony.Vault {
	b.t.Helper()
	return b.openOn(b.fake, change)
}

func (b *bench) openOn(on colony.Backend, change func(*colony.Options)) *colony.Vault {
	b.t.Helper()
	b.n++
	o := colony.Options{Label: "x", Clock: b.now, Random: randomness(b.n)}
	if change != nil {
		change(&o)
	}
	return must.Get(colony.Open(on, o))(b.t)
}

// backup makes a backup that must succeed, a second after what was before.
func (b *bench) backup(v *colony.Vault, docs colony.Documents, o colony.BackupOptions) colony.BackupReport {
	b.t.Helper()
	b.pass(time.Second)
	return must.Get(v.Backup(b.t.Context(), docs, o))(b.t)
}

// restore reads the newest, which must be docs.
func (b *bench) restore(v *colony.Vault, docs colony.Documents) colony.Restored {
	b.t.Helper()
	r := must.Get(v.Restore(b.t.Context(), ""))(b.t)
	sameDocuments(b.t, r.Documents, docs)
	return r
}

func sameDocuments(t *testing.T, got, want colony.Documents) {
	t.Helper()
	a, aerr := got.Digest()
	b, berr := want.Digest()
	if aerr != nil || berr != nil || a != b {
		t.Fatalf("documents are %.200q, want %.200q", got, want)
	}
}

// doc is documents that hold one text.
func doc(text string) colony.Documents { return colony.Documents{"MEMORY.md": text} }

// bulky is a text that compresses badly.
func bulky(seed uint64, bytes int) string {
	r := rand.New(randomness(seed))
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ+-"
	var b strings.Builder
	for range bytes {
		b.WriteByte(letters[r.IntN(len(letters))])
	}
	return b.String()
}

// count returns how many requests were of an operation.
func count(requests []colonytest.Request, op string) int {
	n := 0
	for _, r := range requests {
		if r.Op == op {
			n++
		}
	}
	return n
}

// names returns the names of the files that begin so.
func names(f *colonytest.Fake, prefix string) []string {
	var all []string
	for name := range f.Files() {
		if strings.HasPrefix(name, prefix) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// complete returns the snapshots of a label that are all there, the oldest first,
// and what the pointer names.
func complete(files map[string]string, label string) (ids []colony.SnapshotID, named colony.SnapshotID) {
	if p, err := colony.ParsePointer(files[colony.LatestName(label)]); err == nil {
		named = p.ID
	}
	for name, content := range files {
		n, ok := colony.ParseName(name)
		if !ok || n.Label != label || n.Kind != colony.ManifestFile {
			continue
		}
		m, err := colony.ParseManifest(content)
		there := err == nil
		for _, part := range m.PartFiles {
			_, ok := files[part]
			there = there && ok
		}
		if there {
			ids = append(ids, n.ID)
		}
	}
	slices.Sort(ids)
	return ids, named
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	good := colony.Options{Clock: newClock().now, Random: randomness(1)}
	for name, change := range map[string]func(*colony.Options){
		"no clock":             func(o *colony.Options) { o.Clock = nil },
		"no randomness":        func(o *colony.Options) { o.Random = nil },
		"required, unverified": func(o *colony.Options) { o.RequireSigned, o.NoVerify = true, true },
		"a label of 207":       func(o *colony.Options) { o.Label = strings.Repeat("x", 207) },
	} {
		o := good
		change(&o)
		must.Fail(colony.Open(&colonytest.Fake{}, o))(t, name, amber.KindInvalid)
	}
	good.Label = strings.Repeat("x", 206)
	must.Get(colony.Open(&colonytest.Fake{}, good))(t)
}

func TestBackupsAreRestored(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	for _, docs := range []colony.Documents{
		doc("one"), {"a": "", "": "no name", "é/ü": "x\u2028\U0001F9E0"}, doc(bulky(1, 900_000)), doc("one"),
	} {
		r := b.backup(v, docs, colony.BackupOptions{})
		if r.Unchanged || r.SupersededBy != "" || len(r.Warnings) > 0 {
			t.Errorf("report is %+v", r)
		}
		got := b.restore(v, docs)
		if got.ID != r.ID || got.Fallback != "" || len(got.Warnings) > 0 || got.Checks.Signature != colony.SignatureNone {
			t.Errorf("restored is %+v, report was %+v", got.Info, r.Info)
		}
		l, err := v.Latest(t.Context())
		if err != nil || l.ID != r.ID || !l.Latest || l.Damage != "" {
			t.Errorf("latest is %+v, %v", l, err)
		}
	}
	all := must.Get(v.List(t.Context()))(t)
	must.Equal(t, "listed", len(all), 4)
	for i, l := range all[:3] {
		if l.Parent != all[i+1].ID || l.Counter != int64(4-i) || l.ID < all[i+1].ID {
			t.Errorf("number %d is %+v after %+v", i, l.Info, all[i+1].Info)
		}
	}
	must.Equal(t, "parts of the long one", all[1].PartCount, 2)
}

// An empty vault, and one that is not asked, are told apart.
func TestAbsentIsSaidAfterAListing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.Fill(map[string]string{"cmem.other.latest.json": "{}", "cmem.x.note.md": "mine", "x": "y"})
	v := b.open(nil)
	must.Fail(v.Restore(t.Context(), ""))(t, "", amber.KindNotFound)
	must.Fail(v.Latest(t.Context()))(t, "", amber.KindNotFound)
	must.Fail(v.Delete(t.Context(), "20260619T051643039000Z-abc027", false))(t, "", amber.KindNotFound)
	must.Equal(t, "listed", len(must.Get(v.List(t.Context()))(t)), 0)
	r := must.Get(v.Prune(t.Context(), 1, false))(t)
	must.Equal(t, "what was pruned", len(r.Deleted)+len(r.Failed)+len(r.Orphans), 0)
	must.Equal(t, "files", len(b.fake.Files()), 3)
}
