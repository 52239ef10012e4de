package repo_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

func join(items ...item) []byte {
	var b []byte
	for _, e := range items {
		b = append(b, e.bytes()...)
	}
	return b
}

// zeros compresses n zero bytes.
func zeros(t *testing.T, n int) []byte {
	t.Helper()
	return must.Get(zstd.NewWriter(nil))(t).EncodeAll(make([]byte, n), nil)
}

// TestHostileDirectoriesAreDamage makes packs with right checksums and names
// whose directories lie, and index objects that repeat the lie.
func TestHostileDirectoriesAreDamage(t *testing.T) {
	t.Parallel()
	one, two := raw(repo.KindFile, "one", 32), raw(repo.KindTree, "two", 35)
	with := func(e item, change func(e *item)) item { change(&e); return e }
	tests := []struct {
		name string
		dir  []byte
	}{
		{"no blobs", nil},
		{"half an entry", join(one, two)[:80]},
		{"overlapping", join(one, with(two, func(e *item) { e.offset = 34 }))},
		{"gap", join(one, with(two, func(e *item) { e.offset = 36 }))},
		{"in the header", join(with(one, func(e *item) { e.offset = 0 }), two)},
		{"behind the end", join(one, with(two, func(e *item) { e.stored, e.plain = 4000, 4000 }))},
		{"all of 32 bits", join(one, with(two, func(e *item) { e.offset, e.stored, e.plain = 1<<32-1, 1<<32-1, 1<<32-1 }))},
		{"wraps around", join(with(one, func(e *item) { e.stored, e.plain = 1<<32-32, 1<<32-32 }), two)},
		{"same id twice", join(one, with(two, func(e *item) { e.id = one.id }))},
		{"kind 0", join(one, with(two, func(e *item) { e.kind = 0 }))},
		{"kind 7", join(one, with(two, func(e *item) { e.kind = 7 }))},
		{"compression 2", join(one, with(two, func(e *item) { e.compression = 2 }))},
		{"not zero", join(one, with(two, func(e *item) { e.zero = 1 }))},
		{"longer without compression", join(one, with(two, func(e *item) { e.plain = 4 }))},
		{"longer by compression", join(one, with(two, func(e *item) { e.compression, e.plain = 1, 3 }))},
		{"too long a plaintext", join(one, with(two, func(e *item) { e.compression, e.plain = 1, repo.MaxBlobBytes+1 }))},
		{"page size of a tree", join(one, with(two, func(e *item) { e.shift = 9 }))},
		{"pages without a size", join(one, with(two, func(e *item) { e.kind = 1 }))},
		{"pages too large", join(one, with(two, func(e *item) { e.kind, e.shift = 1, 17 }))},
		{"half a page", join(one, with(two, func(e *item) { e.kind, e.shift = 1, 9 }))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := newMemory()
			pack := packOf([]byte("onetwo"), tt.dir)
			name, id := target.storePack(pack)
			index := target.storeIndex(indexOf(indexPack{id, uint64(len(pack)), uint32(len(tt.dir) / 52), tt.dir}))
			r := open(t, target)
			if p := r.Problems(); len(p) != 1 || p[0].Object != index || p[0].Kind != amber.KindDamaged {
				t.Errorf("problems %v", p)
			}
			for _, readData := range []bool{false, true} {
				if c := must.Get(r.Check(ctx, readData))(t); len(c.Problems) != 2 || c.Problems[0].Object != name {
					t.Errorf("check: %v", c.Problems)
				}
			}
			must.Do(t, r.Rebuild(ctx))
			must.Equal(t, "blobs", r.Blobs(), 0)
		})
	}
}

func TestHostileFootersAndHeaders(t *testing.T) {
	t.Parallel()
	dir := join(raw(repo.KindFile, "one", 32))
	body := append(header("AmberPak", 1, 0, 0), "one"...)
	pack := func(head []byte, offset uint64, count, version, flags uint32) []byte {
		b := append(slices.Clone(head), "one"...)
		b = append(b, dir...)
		return append(b, footerOf(offset, count, version, flags, dir)...)
	}
	tests := []struct {
		name string
		pack []byte
		want amber.Kind
	}{
		{"right", pack(body[:32], 35, 1, 1, 0), ""},
		{"huge count", pack(body[:32], 35, 1<<32-1, 1, 0), amber.KindDamaged},
		{"no blobs", pack(body[:32], 35, 0, 1, 0), amber.KindDamaged},
		{"offset behind the end", pack(body[:32], 1<<40, 1, 1, 0), amber.KindDamaged},
		{"offset that wraps", pack(body[:32], 1<<64-1, 1, 1, 0), amber.KindDamaged},
		{"offset off by one", pack(body[:32], 34, 1, 1, 0), amber.KindDamaged},
		{"version 0", pack(body[:32], 35, 1, 0, 0), amber.KindDamaged},
		{"version 2", pack(body[:32], 35, 1, 2, 0), amber.KindTooNew},
		{"flags", pack(body[:32], 35, 1, 1, 1), amber.KindTooNew},
		{"header of version 2", pack(header("AmberPak", 2, 0, 0), 35, 1, 1, 0), amber.KindTooNew},
		{"header with flags", pack(header("AmberPak", 1, 8, 0), 35, 1, 1, 0), amber.KindTooNew},
		{"header not zero", pack(header("AmberPak", 1, 0, 5), 35, 1, 1, 0), amber.KindDamaged},
		{"header of an index", pack(header("AmberIdx", 1, 0, 0), 35, 1, 1, 0), amber.KindDamaged},
	}
	for _, tt := range tests {
		target := newMemory()
		target.storePack(tt.pack)
		r := open(t, target)
		for _, readData := range []bool{false, true} {
			c, err := r.Check(ctx, readData)
			var got amber.Kind
			if len(c.Problems) > 0 {
				got = c.Problems[0].Kind
			}
			must.Hold(t, err == nil && got == tt.want, "%s: %v, %q %v, want %q", tt.name, err, got, c.Problems, tt.want)
		}
	}
}

func TestHostileIndexObjects(t *testing.T) {
	t.Parallel()
	dir := join(raw(repo.KindFile, "one", 32))
	p := indexPack{repo.ID{1}, 32 + 3 + 52 + 64, 1, dir}
	q := indexPack{repo.ID{2}, 32 + 3 + 52 + 64, 1, dir}
	with := func(p indexPack, change func(p *indexPack)) indexPack { change(&p); return p }
	count := func(b []byte, n uint32) []byte { return append(header("AmberIdx", 1, 0, n), b[32:]...) }
	tests := []struct {
		name string
		b    []byte
	}{
		{"huge number of packs", count(indexOf(p), 1<<32-1)},
		{"many packs", count(indexOf(p), 1<<17)},
		{"no packs", indexOf()},
		{"one pack too few", count(indexOf(p, q), 1)},
		{"out of order", indexOf(q, p)},
		{"pack twice", indexOf(p, p)},
		{"huge number of blobs", indexOf(with(p, func(p *indexPack) { p.count = 1<<32 - 1 }))},
		{"no blobs", indexOf(with(p, func(p *indexPack) { p.count, p.dir = 0, nil }))},
		{"another size", indexOf(with(p, func(p *indexPack) { p.size++ }))},
		{"huge size", indexOf(with(p, func(p *indexPack) { p.size = 1<<64 - 1 }))},
		{"cut", indexOf(p)[:100]},
	}
	for _, tt := range tests {
		target := newMemory()
		name := target.storeIndex(tt.b)
		r := open(t, target)
		if got := r.Problems(); len(got) != 1 || got[0].Object != name || got[0].Kind != amber.KindDamaged || r.Blobs() != 0 {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
	for _, b := range [][]byte{
		append(header("AmberIdx", 2, 0, 1), indexOf(p)[32:]...),
		append(header("AmberIdx", 1, 1, 1), indexOf(p)[32:]...),
	} {
		target := newMemory()
		target.storeIndex(b)
		if _, err := repo.Open(ctx, target, nil); amber.KindOf(err) != amber.KindTooNew || amber.HintOf(err) == "" {
			t.Errorf("open: %v", err)
		}
	}
}

func TestExpansionIsBoundedByTheDirectory(t *testing.T) {
	t.Parallel()
	bomb := zeros(t, 40<<20)
	for _, plain := range []uint32{uint32(len(bomb)) + 1, 40<<20 - 1, 40<<20 + 1} {
		target := newMemory()
		e := item{
			id: repo.BlobID(repo.KindFile, make([]byte, 40<<20)), kind: byte(repo.KindFile), compression: 1,
			offset: 32, stored: uint32(len(bomb)), plain: plain, checksum: crc(bomb),
		}
		pack := packOf(bomb, e.bytes())
		_, id := target.storePack(pack)
		target.storeIndex(indexOf(indexPack{id, uint64(len(pack)), 1, e.bytes()}))
		r := open(t, target)
		must.Fail(r.Get(ctx, e.id))(t, fmt.Sprintf("plain length %d", plain), amber.KindDamaged)
		if c, err := r.Check(ctx, true); err != nil || len(c.Problems) != 1 || c.Problems[0].Blob != e.id {
			t.Errorf("plain length %d: %v, %v", plain, err, c.Problems)
		}
	}
}

// TestALyingIndexCannotHideABlob gives a pack two descriptions: the one that
// is right is used.
func TestALyingIndexCannotHideABlob(t *testing.T) {
	t.Parallel()
	for lie := range 40 {
		target := newMemory()
		samples := []sample{{repo.KindFile, 0, []byte("one")}, {repo.KindFile, 0, []byte{byte(lie), 1, 2}}}
		fill(t, open(t, target), samples...)
		name := target.names("packs/")[0]
		pack := target.objects[name]
		id := must.Get(repo.ParseID(name[len("packs/00/") : len(name)-len(".pack")]))(t)
		a, b := samples[0].id(), samples[1].id()
		// The blobs have changed places.
		dir := bytes.Clone(pack[38 : 38+104])
		copy(dir, b[:])
		copy(dir[52:], a[:])
		liar := target.storeIndex(indexOf(indexPack{id, uint64(len(pack)), 2, dir}))
		r := open(t, target)
		must.Hold(t, len(r.Problems()) == 1, "problems %v", r.Problems())
		readAll(t, r, samples)
		if c := must.Get(r.Check(ctx, false))(t); len(c.Problems) != 1 || c.Problems[0].Object != liar {
			t.Errorf("check: %v", c.Problems)
		}
		must.Do(t, r.Rebuild(ctx))
		readAll(t, r, samples)
	}
}
