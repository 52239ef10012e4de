package repo_test

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// This is the format once more, from docs/format/repository.md and not from
// the code, so that tests can make objects that no writer makes.

func crc(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

type item struct {
	id                              repo.ID
	kind, compression, shift, zero  byte
	offset, stored, plain, checksum uint32
}

func (e item) bytes() []byte {
	b := append(e.id[:], e.kind, e.compression, e.shift, e.zero)
	for _, n := range []uint32{e.offset, e.stored, e.plain, e.checksum} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

func header(magic string, version, flags, third uint32) []byte {
	b := append([]byte(magic), make([]byte, 20)...)
	binary.LittleEndian.PutUint32(b[8:], version)
	binary.LittleEndian.PutUint32(b[12:], flags)
	binary.LittleEndian.PutUint32(b[16:], third)
	return binary.LittleEndian.AppendUint32(b, crc(b))
}

// packOf makes a pack of blobs and any directory.
func packOf(data, dir []byte) []byte {
	b := append(header("AmberPak", 1, 0, 0), data...)
	return append(append(b, dir...), footerOf(uint64(len(b)), uint32(len(dir)/52), 1, 0, dir)...)
}

func footerOf(offset uint64, count, version, flags uint32, dir []byte) []byte {
	sum := sha256.Sum256(dir)
	f := binary.LittleEndian.AppendUint64(nil, offset)
	f = binary.LittleEndian.AppendUint32(f, count)
	f = binary.LittleEndian.AppendUint32(f, version)
	f = append(f, sum[:]...)
	f = binary.LittleEndian.AppendUint32(f, flags)
	f = binary.LittleEndian.AppendUint32(f, crc(f))
	return append(f, "AmberEnd"...)
}

// indexPack is a pack in an index object.
type indexPack struct {
	id    repo.ID
	size  uint64
	count uint32
	dir   []byte
}

func indexOf(packs ...indexPack) []byte {
	b := header("AmberIdx", 1, 0, uint32(len(packs)))
	for _, p := range packs {
		b = append(b, p.id[:]...)
		b = binary.LittleEndian.AppendUint64(b, p.size)
		b = binary.LittleEndian.AppendUint32(b, p.count)
		b = append(append(b, 0, 0, 0, 0), p.dir...)
	}
	return b
}

// store puts an object under the name its bytes ask for.
func (m *memory) store(b []byte, prefix, suffix string) (name string, id repo.ID) {
	id = sha256.Sum256(b)
	name = prefix + id.String() + suffix
	if prefix == "packs/" {
		name = prefix + id.String()[:2] + "/" + id.String() + suffix
	}
	m.objects[name] = b
	return name, id
}

func (m *memory) storePack(b []byte) (string, repo.ID) { return m.store(b, "packs/", ".pack") }

func (m *memory) storeIndex(b []byte) string {
	name, _ := m.store(b, "index/", ".idx")
	return name
}

// raw makes a blob without compression.
func raw(kind repo.Kind, data string, offset int) item {
	return item{
		id: repo.BlobID(kind, []byte(data)), kind: byte(kind), offset: uint32(offset),
		stored: uint32(len(data)), plain: uint32(len(data)), checksum: crc([]byte(data)),
	}
}

func TestThePackOfTheDocumentIsThePackOfTheWriter(t *testing.T) {
	t.Parallel()
	target := newMemory()
	fill(t, open(t, target), sample{repo.KindFile, 0, []byte("one")}, sample{repo.KindTree, 0, []byte("two")})
	byHand := newMemory()
	dir := append(raw(repo.KindFile, "one", 32).bytes(), raw(repo.KindTree, "two", 35).bytes()...)
	pack := packOf([]byte("onetwo"), dir)
	_, id := byHand.storePack(pack)
	byHand.storeIndex(indexOf(indexPack{id, uint64(len(pack)), 2, dir}))
	must.Equal(t, "objects", target.names(""), byHand.names(""))
	clean(t, open(t, byHand))
}
