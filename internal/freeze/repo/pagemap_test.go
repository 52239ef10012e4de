package repo_test

import (
	"encoding/binary"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// This is the format of maps once more, from the document.

type mapRun struct{ first, pages, chunk, place uint32 }

// rawMap is a map with any content.
type rawMap struct {
	version, flags, kind, pageSize uint32
	pages                          uint64
	chunks                         []repo.ID
	runs                           []mapRun
	addChunks, addRuns             uint32 // said and not there
}

func (m rawMap) bytes() []byte {
	le := binary.LittleEndian
	b := []byte("AmberMap")
	for _, n := range []uint32{m.version, m.flags, m.kind, m.pageSize} {
		b = le.AppendUint32(b, n)
	}
	b = le.AppendUint64(b, m.pages)
	b = le.AppendUint32(b, uint32(len(m.chunks))+m.addChunks)
	b = le.AppendUint32(b, uint32(len(m.runs))+m.addRuns)
	for _, id := range m.chunks {
		b = append(b, id[:]...)
	}
	for _, r := range m.runs {
		for _, n := range []uint32{r.first, r.pages, r.chunk, r.place} {
			b = le.AppendUint32(b, n)
		}
	}
	return b
}

// mapped is a repository with two chunks of four pages of 512 bytes.
type mapped struct {
	target *memory
	a, b   repo.ID
	data   []byte // of a and b
}

func newMapped(t testing.TB) mapped {
	m := mapped{target: newMemory(), data: noise(1, 8*512)}
	a, b := sample{repo.KindPages, 512, m.data[:4*512]}, sample{repo.KindPages, 512, m.data[4*512:]}
	fill(t, open(t, m.target), a, b)
	m.a, m.b = a.id(), b.id()
	return m
}

// whole and change are maps that are in order.
func (m mapped) whole() rawMap {
	return rawMap{
		version: 1, kind: 1, pageSize: 512, pages: 8, chunks: []repo.ID{m.a, m.b},
		runs: []mapRun{{1, 4, 0, 0}, {5, 4, 1, 0}},
	}
}

func (m mapped) change() rawMap {
	return rawMap{
		version: 1, kind: 2, pageSize: 512, pages: 9, chunks: []repo.ID{m.b},
		runs: []mapRun{{2, 2, 0, 1}, {9, 1, 0, 3}},
	}
}

// changed is what whole and change make.
func (m mapped) changed() []byte {
	page := func(n int) []byte { return m.data[n*512 : (n+1)*512] }
	var b []byte
	for _, n := range []int{0, 5, 6, 3, 4, 5, 6, 7, 7} {
		b = append(b, page(n)...)
	}
	return b
}

// ref stores maps and returns a reference to a database they should make.
func (m mapped) ref(t testing.TB, data []byte, maps ...[]byte) (*repo.Repo, repo.DatabaseRef) {
	t.Helper()
	target := m.target.clone()
	r := open(t, target)
	ref := repo.DatabaseRef{PageSize: 512, Pages: int64(len(data) / 512), Digest: repo.DatabaseDigest(512, digests(512, data))}
	var samples []sample
	for _, b := range maps {
		s := sample{repo.KindMap, 0, b}
		samples = append(samples, s)
		ref.Maps = append(ref.Maps, s.id())
	}
	fill(t, r, samples...)
	return r, ref
}

func TestMapsOfTheDocumentAreRead(t *testing.T) {
	t.Parallel()
	m := newMapped(t)
	r, ref := m.ref(t, m.data, m.whole().bytes())
	isDatabase(t, r, ref, m.data)
	r, ref = m.ref(t, m.changed(), m.whole().bytes(), m.change().bytes())
	isDatabase(t, r, ref, m.changed())
	// A change may drop pages, and the next one must bring them all back.
	cut := rawMap{version: 1, kind: 2, pageSize: 512, pages: 3}
	r, ref = m.ref(t, m.data[:3*512], m.whole().bytes(), cut.bytes())
	isDatabase(t, r, ref, m.data[:3*512])
	empty := rawMap{version: 1, kind: 1, pageSize: 512}
	r, ref = m.ref(t, nil, empty.bytes())
	isDatabase(t, r, ref, nil)
	// The same chunk in both maps, and the same page for two.
	twice := m.change()
	twice.runs = []mapRun{{1, 1, 0, 0}, {2, 1, 0, 0}}
	twice.pages = 8
	want := append(append([]byte{}, m.data[4*512:5*512]...), m.data[4*512:5*512]...)
	r, ref = m.ref(t, append(want, m.data[2*512:]...), m.whole().bytes(), twice.bytes())
	isDatabase(t, r, ref, append(want, m.data[2*512:]...))
}

func TestHostileMapsAreDamage(t *testing.T) {
	t.Parallel()
	m := newMapped(t)
	whole := func(change func(*rawMap)) [][]byte {
		w := m.whole()
		change(&w)
		return [][]byte{w.bytes()}
	}
	change := func(change func(*rawMap)) [][]byte {
		c := m.change()
		change(&c)
		return [][]byte{m.whole().bytes(), c.bytes()}
	}
	many := [][]byte{m.whole().bytes()}
	for range 17 {
		many = append(many, rawMap{version: 1, kind: 2, pageSize: 512, pages: 8}.bytes())
	}
	tests := []struct {
		name string
		maps [][]byte
		kind amber.Kind
	}{
		{"no map", nil, amber.KindDamaged},
		{"eighteen maps", many, amber.KindDamaged},
		{"nothing", [][]byte{nil}, amber.KindDamaged},
		{"other magic", [][]byte{append([]byte("AmberPam"), m.whole().bytes()[8:]...)}, amber.KindDamaged},
		{"version 0", whole(func(r *rawMap) { r.version = 0 }), amber.KindDamaged},
		{"version 2", whole(func(r *rawMap) { r.version = 2 }), amber.KindTooNew},
		{"flags", whole(func(r *rawMap) { r.flags = 1 }), amber.KindTooNew},
		{"kind 0", whole(func(r *rawMap) { r.kind = 0 }), amber.KindDamaged},
		{"kind 3", whole(func(r *rawMap) { r.kind = 3 }), amber.KindDamaged},
		{"a change alone", [][]byte{m.change().bytes()}, amber.KindDamaged},
		{"two whole maps", [][]byte{m.whole().bytes(), m.whole().bytes()}, amber.KindDamaged},
		{"pages of 513 bytes", whole(func(r *rawMap) { r.pageSize = 513 }), amber.KindDamaged},
		{"pages of 1024 bytes", whole(func(r *rawMap) { r.pageSize = 1024 }), amber.KindDamaged},
		{"pages of 1024 bytes in a change", change(func(r *rawMap) { r.pageSize = 1024 }), amber.KindDamaged},
		{"all of 64 bits", whole(func(r *rawMap) { r.pages = 1<<64 - 1 }), amber.KindDamaged},
		{"more pages than runs", whole(func(r *rawMap) { r.pages = 9 }), amber.KindDamaged},
		{"fewer pages than runs", whole(func(r *rawMap) { r.pages = 7 }), amber.KindDamaged},
		{"pages that are in no map", change(func(r *rawMap) { r.pages = 10 }), amber.KindDamaged},
		{"behind the end of the change", change(func(r *rawMap) { r.pages = 8 }), amber.KindDamaged},
		{"page 0", whole(func(r *rawMap) { r.runs[0] = mapRun{0, 5, 0, 0} }), amber.KindDamaged},
		{"page 0 in a change", change(func(r *rawMap) { r.runs[0].first = 0 }), amber.KindDamaged},
		{"a gap", whole(func(r *rawMap) { r.runs[0].pages = 3 }), amber.KindDamaged},
		{"not from the first on", whole(func(r *rawMap) { r.runs, r.chunks = r.runs[1:], r.chunks[:1]; r.runs[0].chunk = 0 }), amber.KindDamaged},
		{"an overlap", whole(func(r *rawMap) { r.runs[1].first = 4 }), amber.KindDamaged},
		{"an overlap in a change", change(func(r *rawMap) { r.runs[1].first = 3 }), amber.KindDamaged},
		{"out of order", change(func(r *rawMap) { r.runs[0], r.runs[1] = r.runs[1], r.runs[0] }), amber.KindDamaged},
		{"no pages", change(func(r *rawMap) { r.runs[0].pages = 0 }), amber.KindDamaged},
		{"all pages of 32 bits", change(func(r *rawMap) { r.runs[0].pages = 1<<32 - 1 }), amber.KindDamaged},
		{"all pages of 32 bits from there on", change(func(r *rawMap) { r.runs[1] = mapRun{1<<32 - 1, 1<<32 - 1, 0, 0} }), amber.KindDamaged},
		{"a chunk that is not there", whole(func(r *rawMap) { r.runs[1].chunk = 2 }), amber.KindDamaged},
		{"chunks out of order", whole(func(r *rawMap) { r.runs[0].chunk, r.runs[1].chunk = 1, 0 }), amber.KindDamaged},
		{"an unused chunk", whole(func(r *rawMap) { r.chunks = append(r.chunks, m.a) }), amber.KindDamaged},
		{"behind the end of the chunk", change(func(r *rawMap) { r.runs[1].place = 4 }), amber.KindDamaged},
		{"half behind the end of the chunk", change(func(r *rawMap) { r.runs[0].place = 3 }), amber.KindDamaged},
		{"behind the end of any chunk", change(func(r *rawMap) { r.runs[0].place = 1<<32 - 1 }), amber.KindDamaged},
		{"a chunk that is not in the repository", change(func(r *rawMap) { r.chunks[0][0]++ }), amber.KindNotFound},
		{"a chunk that is a map", change(func(r *rawMap) { r.chunks[0] = repo.BlobID(repo.KindMap, m.whole().bytes()) }), amber.KindDamaged},
		{"more chunks", whole(func(r *rawMap) { r.addChunks = 1 }), amber.KindDamaged},
		{"all chunks of 32 bits", whole(func(r *rawMap) { r.addChunks = 1<<32 - 3 }), amber.KindDamaged},
		{"more runs", whole(func(r *rawMap) { r.addRuns = 1 }), amber.KindDamaged},
		{"all runs of 32 bits", whole(func(r *rawMap) { r.addRuns = 1<<32 - 3 }), amber.KindDamaged},
		{"a byte more", [][]byte{append(m.whole().bytes(), 0)}, amber.KindDamaged},
		{"a byte fewer", [][]byte{m.whole().bytes()[:40+64+31]}, amber.KindDamaged},
		{"another database", change(func(r *rawMap) { r.runs[1].place = 2 }), amber.KindDamaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			data := m.data
			if len(tt.maps) == 2 {
				data = m.changed()
			}
			r, ref := m.ref(t, data, tt.maps...)
			must.Fail(thaw(r, ref))(t, "", tt.kind)
			d, err := r.OpenDatabase(ctx, ref, 0)
			if err == nil {
				_, err = d.ReadAt(make([]byte, len(data)), 0)
			}
			// Only the whole knows that a page is another one.
			if amber.KindOf(err) != tt.kind && tt.name != "another database" {
				t.Errorf("open: got %v, want %s", err, tt.kind)
			}
		})
	}
}

func TestHostileReferencesToDatabasesAreDamage(t *testing.T) {
	t.Parallel()
	m := newMapped(t)
	for name, change := range map[string]func(*repo.DatabaseRef){
		"page size 0":        func(r *repo.DatabaseRef) { r.PageSize = 0 },
		"page size -512":     func(r *repo.DatabaseRef) { r.PageSize = -512 },
		"another page size":  func(r *repo.DatabaseRef) { r.PageSize = 1024 },
		"a negative number":  func(r *repo.DatabaseRef) { r.Pages = -8 },
		"a page more":        func(r *repo.DatabaseRef) { r.Pages++ },
		"pages of 63 bits":   func(r *repo.DatabaseRef) { r.Pages = 1<<63 - 1 },
		"another digest":     func(r *repo.DatabaseRef) { r.Digest[0]++ },
		"a map that is data": func(r *repo.DatabaseRef) { r.Maps[0] = m.a },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, ref := m.ref(t, m.data, m.whole().bytes())
			change(&ref)
			must.Kind(t, "read database", r.ReadDatabase(ctx, ref, func(int64, []byte) error { return nil }), amber.KindDamaged)
		})
	}
}

// FuzzMaps reads two maps, whose chunks may be there, and compares what the
// repository makes of them with the plainest way to apply them.
func FuzzMaps(f *testing.F) {
	m := newMapped(f)
	f.Add(m.whole().bytes(), m.change().bytes(), uint8(9))
	f.Add(m.whole().bytes(), []byte{}, uint8(8))
	f.Add(m.whole().bytes(), rawMap{version: 1, kind: 2, pageSize: 512, pages: 3}.bytes(), uint8(3))
	f.Add(rawMap{version: 1, kind: 1, pageSize: 512}.bytes(), m.change().bytes(), uint8(9))
	f.Fuzz(func(t *testing.T, whole, change []byte, pages uint8) {
		maps := [][]byte{whole}
		if len(change) > 0 {
			maps = append(maps, change)
		}
		r, ref := m.ref(t, make([]byte, int(pages)*512), maps...)
		got := map[int64][]byte{}
		err := r.ReadDatabase(ctx, ref, func(offset int64, b []byte) error {
			for i := range len(b) / 512 {
				n := offset/512 + int64(i)
				must.Hold(t, got[n] == nil && n < ref.Pages, "page %d twice, or behind the end", n)
				got[n] = append([]byte{}, b[i*512:(i+1)*512]...)
			}
			return nil
		})
		if err == nil && len(got) != int(pages) {
			t.Errorf("%d of %d pages and no error", len(got), pages)
		}
		if pages == 0 || len(got) != int(pages) {
			return // and otherwise only the digest is wrong
		}
		for n, page := range m.plainly(maps) {
			if n < int64(pages) && string(got[n]) != string(page) {
				t.Errorf("page %d is another one", n)
			}
		}
	})
}

// plainly applies maps that are in order, page by page.
func (m mapped) plainly(maps [][]byte) map[int64][]byte {
	le := binary.LittleEndian
	out := map[int64][]byte{}
	for _, b := range maps {
		chunks, runs := le.Uint32(b[32:]), le.Uint32(b[36:])
		ids, b := b[40:], b[40+32*chunks:]
		for range runs {
			id := repo.ID(ids[32*le.Uint32(b[8:]):][:32])
			data := m.data[:4*512]
			if id == m.b {
				data = m.data[4*512:]
			}
			for i := range le.Uint32(b[4:]) {
				place := le.Uint32(b[12:]) + i
				out[int64(le.Uint32(b)+i)-1] = data[place*512 : (place+1)*512]
			}
			b = b[16:]
		}
	}
	return out
}
