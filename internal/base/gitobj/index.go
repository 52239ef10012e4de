package gitobj

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// IndexEntry is what the index of git says of one path: what the next commit by hand has there, and what the file was like when it was
// the same. An index is a cache: git makes one of the branch.
type IndexEntry struct {
	Path string
	OID  string
	Stat IndexStat

	flags, extended uint16
}

// IndexStat is by what a file is known that has not changed since its content was looked at; a zero one is no file's.
type IndexStat struct {
	ChangedSeconds, ChangedNanos   uint32
	ModifiedSeconds, ModifiedNanos uint32
	Device, Inode                  uint32
	Mode                           uint32 // of the entry, not of the file
	User, Group                    uint32
	Size                           uint32
}

// Bits of the flags of an entry.
const (
	indexNameBits   = 0x0fff
	indexStages     = 0x3000
	indexIsExtended = 0x4000
)

const indexSignature = "DIRC"

// IndexOf returns the entry of a file of a tree that no work tree was compared with.
func IndexOf(path string, e TreeEntry) IndexEntry {
	mode, err := strconv.ParseUint(e.Mode, 8, 32)
	if err != nil || e.IsFile() && e.Mode != modeExecutable {
		mode = 0o100644
	}
	return IndexEntry{Path: path, OID: e.OID, Stat: IndexStat{Mode: uint32(mode)}}
}

// NewIndexEntry returns the entry of a regular file.
func NewIndexEntry(path, oid string, stat IndexStat) IndexEntry {
	e := IndexOf(path, TreeEntry{Mode: modeFile, OID: oid})
	stat.Mode = e.Stat.Mode
	e.Stat = stat
	return e
}

// Modified is when the file was changed, as far as the index knows.
func (s IndexStat) Modified() time.Time {
	return time.Unix(int64(s.ModifiedSeconds), int64(s.ModifiedNanos))
}

// IsFile reports whether the entry is a regular file.
func (e IndexEntry) IsFile() bool { return e.Stat.Mode>>12 == 0o10 }

// IsUnmerged reports whether the entry is one side of a merge that is not finished.
func (e IndexEntry) IsUnmerged() bool { return e.flags&indexStages != 0 }

// ReadIndex reads an index of version 2, 3 or 4 with ids by SHA-1. Caches that may follow the entries are left out. The error is of
// kind damaged; it is also that of an index with entries in other files.
func ReadIndex(text []byte) ([]IndexEntry, error) {
	bad := amberError(amber.KindDamaged, "read index", errors.New("the index cannot be read"))
	head, end := len(indexSignature)+8, len(text)-sha1.Size
	if end < head || string(text[:len(indexSignature)]) != indexSignature {
		return nil, bad
	}
	sum := text[end:] // zeros where git was asked to leave it out
	if is := sha1.Sum(text[:end]); !bytes.Equal(sum, is[:]) && !bytes.Equal(sum, make([]byte, sha1.Size)) {
		return nil, bad
	}
	r := indexReader{version: binary.BigEndian.Uint32(text[4:]), rest: text[head:end]}
	if r.version < 2 || r.version > 4 {
		return nil, bad
	}
	var entries []IndexEntry
	for range binary.BigEndian.Uint32(text[8:]) {
		e, ok := r.entry()
		if !ok {
			return nil, bad
		}
		entries = append(entries, e)
	}
	if !r.extensions() {
		return nil, bad
	}
	return entries, nil
}

type indexReader struct {
	version uint32
	rest    []byte
	last    string // the path before
}

// indexFixed is what precedes the path of an entry.
type indexFixed struct {
	Stat  IndexStat
	OID   [sha1.Size]byte
	Flags uint16
}

func (r *indexReader) entry() (IndexEntry, bool) {
	var fixed indexFixed
	size, err := binary.Decode(r.rest, binary.BigEndian, &fixed)
	if err != nil {
		return IndexEntry{}, false
	}
	e := IndexEntry{OID: hex.EncodeToString(fixed.OID[:]), Stat: fixed.Stat, flags: fixed.Flags &^ indexNameBits}
	if e.flags&indexIsExtended != 0 {
		if r.version < 3 || len(r.rest) < size+2 {
			return IndexEntry{}, false
		}
		e.extended = binary.BigEndian.Uint16(r.rest[size:])
		size += 2
	}
	keep := "" // of the path before
	if r.version == 4 {
		cut, n := packedOffset(r.rest[size:])
		if n == 0 || cut > int64(len(r.last)) {
			return IndexEntry{}, false
		}
		keep, size = r.last[:len(r.last)-int(cut)], size+n
	}
	n := bytes.IndexByte(r.rest[size:], 0)
	if n < 0 {
		return IndexEntry{}, false
	}
	e.Path = keep + string(r.rest[size:size+n])
	size += n + 1
	if r.version < 4 {
		size = (size + 7) &^ 7 // zeros, so that the next entry begins at a multiple of eight
	}
	if size > len(r.rest) || e.Path == "" {
		return IndexEntry{}, false
	}
	r.rest, r.last = r.rest[size:], e.Path
	return e, true
}

// extensions passes over what follows. One whose name begins with a small letter must be understood.
func (r *indexReader) extensions() bool {
	for len(r.rest) > 0 {
		if len(r.rest) < 8 || r.rest[0] >= 'a' {
			return false
		}
		size := int64(binary.BigEndian.Uint32(r.rest[4:])) + 8
		if size > int64(len(r.rest)) {
			return false
		}
		r.rest = r.rest[size:]
	}
	return true
}

// WriteIndex returns an index of entries, which it sorts as git does.
func WriteIndex(entries []IndexEntry) []byte {
	slices.SortFunc(entries, func(a, b IndexEntry) int { return strings.Compare(a.Path, b.Path) })
	version := uint32(2)
	if slices.ContainsFunc(entries, func(e IndexEntry) bool { return e.extended != 0 }) {
		version = 3
	}
	b := []byte(indexSignature)
	b = binary.BigEndian.AppendUint32(b, version)
	b = binary.BigEndian.AppendUint32(b, uint32(len(entries)))
	for _, e := range entries {
		b = e.append(b)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}

func (e IndexEntry) append(b []byte) []byte {
	begin := len(b)
	fixed := indexFixed{Stat: e.Stat, Flags: e.flags&^indexIsExtended | uint16(min(len(e.Path), indexNameBits))}
	if e.extended != 0 {
		fixed.Flags |= indexIsExtended
	}
	oid, _ := hex.DecodeString(e.OID) // made here, or read from an index
	copy(fixed.OID[:], oid)
	b, _ = binary.Append(b, binary.BigEndian, fixed) // its size is fixed
	if e.extended != 0 {
		b = binary.BigEndian.AppendUint16(b, e.extended)
	}
	b = append(b, e.Path...)
	return append(b, make([]byte, 8-(len(b)-begin)%8)...)
}
