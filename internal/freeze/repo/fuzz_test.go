package repo_test

import (
	"bytes"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// looksAt does everything with a target that only reads, and Rebuild. Nothing
// may panic, and no error may say that the host is at fault.
func looksAt(t *testing.T, target *memory) {
	t.Helper()
	r, err := repo.Open(ctx, target, &repo.Options{Identities: []age.Identity{identity(t, alice)}})
	if err != nil {
		if amber.KindOf(err) != amber.KindTooNew {
			t.Fatal(err)
		}
		return
	}
	c := must.Get(r.Check(ctx, true))(t)
	if err := r.Rebuild(ctx); err != nil && amber.KindOf(err) != amber.KindTooNew {
		t.Fatal(err)
	}
	if c.OK() && r.Blobs() < c.Blobs {
		t.Errorf("check found %d blobs in order, rebuild %d", c.Blobs, r.Blobs())
	}
}

// FuzzPack reads packs whose checksums and name are right.
func FuzzPack(f *testing.F) {
	one, two := raw(repo.KindFile, "one", 32), raw(repo.KindTree, "two", 35)
	f.Add([]byte("onetwo"), join(one, two))
	f.Add([]byte("onetwo"), join(two, one))
	f.Add([]byte{}, join(item{id: repo.BlobID(3, nil), kind: 3, offset: 32}))
	page := make([]byte, 512)
	f.Add(page, join(item{
		id: repo.PagesID(512, digests(512, page)), kind: 1, shift: 9, offset: 32, stored: 512, plain: 512, checksum: crc(page),
	}))
	for _, target := range []*memory{newMemory(), newEncrypted(f)} {
		fill(f, open(f, target), few()...)
		for _, name := range target.names("packs/") {
			b := target.objects[name]
			dir := len(b) - 64 - 52*len(few())
			f.Add(b[32:dir], b[dir:len(b)-64])
		}
	}
	keys := newEncrypted(f)
	f.Fuzz(func(t *testing.T, data, dir []byte) {
		target := newMemory()
		pack := packOf(data, dir)
		_, id := target.storePack(pack)
		target.storeIndex(indexOf(indexPack{id, uint64(len(pack)), uint32(len(dir) / 52), dir}))
		looksAt(t, target)
		target.objects["keys/00000001.json"] = keys.objects["keys/00000001.json"]
		looksAt(t, target)
	})
}

// FuzzRawPack reads any bytes as a pack.
func FuzzRawPack(f *testing.F) {
	f.Add(packOf([]byte("one"), join(raw(repo.KindFile, "one", 32))))
	f.Add([]byte("AmberPak"))
	f.Fuzz(func(t *testing.T, b []byte) {
		target := newMemory()
		target.storePack(b)
		looksAt(t, target)
	})
}

// FuzzIndex reads index objects whose header and name are right.
func FuzzIndex(f *testing.F) {
	dir := join(raw(repo.KindFile, "one", 32))
	pack := packOf([]byte("one"), dir)
	good := newMemory()
	_, id := good.storePack(pack)
	p := indexPack{id, uint64(len(pack)), 1, dir}
	f.Add(uint32(1), indexOf(p)[32:])
	f.Add(uint32(2), indexOf(p, indexPack{repo.ID{255}, p.size, 1, dir})[32:])
	f.Add(uint32(0), []byte{})
	f.Fuzz(func(t *testing.T, packs uint32, b []byte) {
		target := good.clone()
		target.storeIndex(append(header("AmberIdx", 1, 0, packs), b...))
		looksAt(t, target)
		r := open(t, target)
		if got, err := r.Get(ctx, repo.BlobID(repo.KindFile, []byte("one"))); err != nil || !bytes.Equal(got.Data, []byte("one")) {
			t.Errorf("after rebuild: %v", err)
		}
	})
}
