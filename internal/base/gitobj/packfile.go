package gitobj

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/klauspost/compress/zlib"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// A list of a pack (a file .idx) of version 2: its header, how many ids begin with at most each byte, the ids in order, a checksum of
// each, then where each object is in the pack: in 32 bits, or where the first of these is set, in a table of 64 bits.
const (
	packListHeader = "\xfftOc\x00\x00\x00\x02"
	packListFanout = 256 * 4
	packListIDs    = int64(len(packListHeader) + packListFanout)
)

// The types of entries of a pack that say how to make an object from another one.
const (
	entryOffsetDelta = 6
	entryIDDelta     = 7
	maxDeltas        = 4096 // in a row
)

// typesOfPack are the types by their numbers in a pack.
var typesOfPack = [...]string{1: typeCommit, 2: typeTree, 3: typeBlob, 4: typeTag}

// packFile is a pack with its list.
type packFile struct {
	list, pack fsx.File
	size       int64 // of the pack
	fanout     [256]uint32
	bases      map[int64]packedObject // by place, those that others were made from
	held       int                    // bytes in bases
}

// packedObject is an object of a pack.
type packedObject struct {
	kind    string
	content []byte
}

// maxBases bounds how many bytes are kept of a pack for what is made from them.
const maxBases = 16 << 20

// openPack opens the pack at a path, and the list beside it. The error is of kind damaged for a list of another form.
func openPack(fsys fsx.FS, path string) (*packFile, error) {
	list, err := fsys.OpenFile(strings.TrimSuffix(path, ".pack")+".idx", os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	p := &packFile{list: list}
	if p.pack, err = fsys.OpenFile(path, os.O_RDONLY, 0); err != nil {
		return nil, errors.Join(err, list.Close())
	}
	if err := p.begin(); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

func (p *packFile) begin() error {
	info, err := p.pack.Stat()
	if err != nil {
		return err
	}
	p.size = info.Size()
	if info, err = p.list.Stat(); err != nil {
		return err
	}
	head := make([]byte, packListIDs)
	if err := readAt(p.list, head, 0); err != nil {
		return err
	}
	if !bytes.HasPrefix(head, []byte(packListHeader)) {
		return badPack("the list of a pack has an unknown form")
	}
	for i := range p.fanout {
		p.fanout[i] = binary.BigEndian.Uint32(head[len(packListHeader)+4*i:])
	}
	if packListIDs+p.count()*int64(len(ZeroOID)/2+8) > info.Size() {
		return badPack("the list of a pack is cut off")
	}
	return nil
}

func (p *packFile) close() error { return errors.Join(p.list.Close(), p.pack.Close()) }

// count is how many objects the pack has.
func (p *packFile) count() int64 { return int64(p.fanout[255]) }

// find returns where an object begins. The error is errNoObject where the pack does not have it.
func (p *packFile) find(oid string) (int64, error) {
	id, err := hex.DecodeString(oid)
	if err != nil {
		return 0, err
	}
	first, end := 0, int(p.fanout[id[0]])
	if id[0] > 0 {
		first = int(p.fanout[id[0]-1])
	}
	if first > end || int64(end) > p.count() {
		return 0, badPack("the list of a pack is damaged")
	}
	size := int64(len(id))
	ids := make([]byte, int64(end-first)*size)
	if err := readAt(p.list, ids, packListIDs+int64(first)*size); err != nil {
		return 0, err
	}
	at, found := sort.Find(end-first, func(i int) int { return bytes.Compare(id, ids[int64(i)*size:int64(i+1)*size]) })
	if !found {
		return 0, errNoObject
	}
	return p.offset(int64(first+at), packListIDs+p.count()*(size+4))
}

// offset returns where the nth object is, from the tables at a place of the list.
func (p *packFile) offset(n, tables int64) (int64, error) {
	var b [8]byte
	if err := readAt(p.list, b[:4], tables+4*n); err != nil {
		return 0, err
	}
	at := binary.BigEndian.Uint32(b[:])
	if at&(1<<31) == 0 {
		return int64(at), nil
	}
	if err := readAt(p.list, b[:], tables+4*p.count()+8*int64(at&^(1<<31))); err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(b[:])), nil
}

// read returns an object. Objects of other packs may be what it is made from.
func (p *packFile) read(oid string, all *Folder) ([]byte, error) {
	at, err := p.find(oid)
	if err != nil {
		return nil, err
	}
	kind, content, err := p.entry(at, all, maxDeltas)
	if err != nil {
		return nil, err
	}
	return append([]byte(objectHeader(kind, int64(len(content)))), content...), nil
}

// entry returns the object that begins at a place. It is made from at most that many others.
func (p *packFile) entry(at int64, all *Folder, most int) (kind string, content []byte, err error) {
	if at < packHeader || at >= p.size || most == 0 {
		return "", nil, badPack("a pack has an object in a place that cannot be")
	}
	r := bufio.NewReaderSize(io.NewSectionReader(p.pack, at, p.size-at), 4<<10)
	number, size, err := readEntryHeader(r)
	if err != nil {
		return "", nil, err
	}
	switch {
	case number == entryOffsetDelta:
		back, err := readOffset(r)
		if err == nil {
			kind, content, err = p.base(at-back, all, most-1)
		}
		if err != nil {
			return "", nil, err
		}
	case number == entryIDDelta:
		if kind, content, err = p.byID(r, all, most-1); err != nil {
			return "", nil, err
		}
	case int(number) < len(typesOfPack) && number > 0:
		content, err = inflateEntry(r, size)
		return typesOfPack[number], content, err
	default:
		return "", nil, badPack("a pack has an object of an unknown type")
	}
	delta, err := inflateEntry(r, size)
	if err == nil {
		content, err = applyDelta(content, delta)
	}
	return kind, content, err
}

// base is entry for an object that others are made from. It keeps some.
func (p *packFile) base(at int64, all *Folder, most int) (kind string, content []byte, err error) {
	if known, ok := p.bases[at]; ok {
		return known.kind, known.content, nil
	}
	kind, content, err = p.entry(at, all, most)
	if err != nil {
		return "", nil, err
	}
	if p.held += len(content); p.bases == nil || p.held > maxBases {
		p.bases, p.held = map[int64]packedObject{}, len(content)
	}
	p.bases[at] = packedObject{kind, content}
	return kind, content, nil
}

// byID returns the object whose id comes next: in this pack, or anywhere.
func (p *packFile) byID(r io.Reader, all *Folder, most int) (string, []byte, error) {
	id := make([]byte, all.idSize)
	if _, err := io.ReadFull(r, id); err != nil {
		return "", nil, badPack("a pack is cut off")
	}
	oid := hex.EncodeToString(id)
	at, err := p.find(oid)
	if err == nil {
		return p.base(at, all, most)
	}
	raw, err := all.read(oid)
	if errors.Is(err, errNoObject) {
		err = badPack("a pack has a difference from an object that is missing")
	}
	if err != nil {
		return "", nil, err
	}
	return splitRaw(oid, raw)
}

// readEntryHeader reads what [entryHeader] writes.
func readEntryHeader(r io.ByteReader) (number byte, size int64, err error) {
	b, err := r.ReadByte()
	if err != nil {
		return 0, 0, badPack("a pack is cut off")
	}
	number, size = b>>4&7, int64(b&0x0f)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = r.ReadByte(); err != nil || shift > 32 {
			return 0, 0, badPack("a pack has an object of an impossible size")
		}
		size |= int64(b&0x7f) << shift
	}
	if size > MaxObjectBytes {
		return 0, 0, amberError(amber.KindQuota, "", fmt.Errorf("an object has more than %d bytes", MaxObjectBytes))
	}
	return number, size, nil
}

// maxOffset is how many bytes an offset has at most.
const maxOffset = 8

// readOffset reads how far back an object lies.
func readOffset(r *bufio.Reader) (int64, error) {
	next, _ := r.Peek(maxOffset)
	back, n := packedOffset(next)
	if n == 0 {
		return 0, badPack("a pack has an offset that is not valid")
	}
	_, err := r.Discard(n)
	return back, err
}

// packedOffset reads a number and returns how many bytes it has, 0 where there is none: seven bits in each, the largest first, and one
// more for each byte that follows.
func packedOffset(b []byte) (v int64, n int) {
	for n < len(b) && n < maxOffset {
		v |= int64(b[n] & 0x7f)
		if n++; b[n-1]&0x80 == 0 {
			return v, n
		}
		v = (v + 1) << 7
	}
	return 0, 0
}

// inflateEntry returns size bytes that are packed from here on.
func inflateEntry(r io.Reader, size int64) ([]byte, error) {
	zip, err := zlib.NewReader(r)
	if err != nil {
		return nil, badPack("a pack has an object that cannot be unpacked")
	}
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(zip, size+1))
	if err != nil || n != size {
		return nil, badPack("a pack has an object that cannot be unpacked")
	}
	return b.Bytes(), nil
}

// applyDelta makes an object from another one: the sizes of both, then pieces, each a place in the other one or bytes.
func applyDelta(base, delta []byte) ([]byte, error) {
	bad := badPack("a pack has a difference that does not fit")
	from, delta, ok := deltaSize(delta)
	if !ok || from != uint64(len(base)) {
		return nil, bad
	}
	size, delta, ok := deltaSize(delta)
	if !ok || size > MaxObjectBytes {
		return nil, bad
	}
	var out []byte
	for len(delta) > 0 {
		op := delta[0]
		var piece []byte
		if delta = delta[1:]; op&0x80 != 0 {
			piece, delta, ok = copied(base, delta, op)
		} else if ok = op > 0 && int(op) <= len(delta); ok {
			piece, delta = delta[:op], delta[op:]
		}
		if !ok || uint64(len(out)+len(piece)) > size {
			return nil, bad
		}
		out = append(out, piece...)
	}
	if uint64(len(out)) != size {
		return nil, bad
	}
	return out, nil
}

// copied returns a piece of base. The low bits of op say which bytes of its place (four) and of its length (three) follow.
func copied(base, delta []byte, op byte) (piece, rest []byte, ok bool) {
	var v uint64
	for i := range 7 {
		if op>>i&1 == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, false
		}
		v |= uint64(delta[0]) << (8 * i)
		delta = delta[1:]
	}
	at, size := v&0xffffffff, v>>32
	if size == 0 {
		size = 0x10000
	}
	if at+size > uint64(len(base)) {
		return nil, nil, false
	}
	return base[at : at+size], delta, true
}

// deltaSize reads a size: seven bits in each byte, the least first.
func deltaSize(delta []byte) (size uint64, rest []byte, ok bool) {
	size, n := binary.Uvarint(delta)
	if n <= 0 {
		return 0, nil, false
	}
	return size, delta[n:], true
}

// readAt fills b from a place of a file that is not trusted.
func readAt(f io.ReaderAt, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case errors.Is(err, io.EOF):
		return badPack("the list of a pack is cut off")
	}
	return err
}

func badPack(why string) error { return amberError(amber.KindDamaged, "", errors.New(why)) }
