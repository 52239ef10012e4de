package repo

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/amber-memory/amber"
)

// GitObject is an object of a git repository.
type GitObject struct {
	OID string // 40 hexadecimal digits, or 64 in a repository of SHA-256
	Raw []byte // as git hashes it: "commit 123", a zero byte, 123 bytes
}

// A set of git objects is a blob of kind tree, the root, that names shards:
// blobs of kind tree with the objects whose ids begin with one byte. So a few
// new objects change a few shards. Header of both:
//
//	 0   8  magic "AmberGit"
//	 8   4  version, 1
//	12   4  flags, 0
//	16   1  1 root, 2 shard
//	17   1  bytes of an object id: 20 or 32; 0 in the root of an empty set
//	18   1  of a shard: the first byte of its object ids; otherwise 0
//	19   1  zero
//	20   4  number of entries
//	24      entries, in order
//
// An entry of the root is the first byte of the object ids, three zero bytes,
// the number of objects (4) and the id of the shard (32). An entry of a shard is
// the id of the object and the id of its blob (32).
const (
	gitMagic       = "AmberGit"
	gitHeaderBytes = 24
	gitShardBytes  = 40
	gitRoot        = 1
	gitShard       = 2
	// maxGitObjects bounds a set: a quarter of what its shards could hold.
	maxGitObjects = 1 << 24
)

// gitID is the id of a git object as bytes; of those of SHA-1 the last twelve
// are zero.
type gitID [sha256.Size]byte

// parseGitID reads an object id and returns its length, too: 20 or 32.
func parseGitID(oid string) (id gitID, length int, err error) {
	length = len(oid) / 2
	if len(oid)%2 == 0 && (length == sha1.Size || length == sha256.Size) {
		if _, err := hex.Decode(id[:], []byte(oid)); err == nil && id.string(length) == oid {
			return id, length, nil
		}
	}
	return gitID{}, 0, amber.Errorf(amber.KindInvalid, "parse git id", "", "the id is not 40 or 64 lower-case hexadecimal digits")
}

func (id gitID) string(length int) string { return hex.EncodeToString(id[:length]) }

func (id gitID) compare(other gitID) int { return bytes.Compare(id[:], other[:]) }

// gitIDOf computes the id of an object from its bytes.
func gitIDOf(raw []byte, length int) (id gitID) {
	if length == sha1.Size {
		sum := sha1.Sum(raw)
		copy(id[:], sum[:])
		return id
	}
	return sha256.Sum256(raw)
}

// checkGitRaw checks the form of an object: a type that git has, and the
// length of what follows.
func checkGitRaw(raw []byte) error {
	head, _, ok := bytes.Cut(raw[:min(len(raw), 32)], []byte{0})
	kind, size, _ := bytes.Cut(head, []byte{' '})
	if ok && string(size) == strconv.Itoa(len(raw)-len(head)-1) {
		switch string(kind) {
		case "commit", "tree", "blob", "tag":
			return nil
		}
	}
	return errors.New("the bytes do not have the form of a git object")
}

// gitEntry is an object of a set.
type gitEntry struct {
	oid  gitID
	blob ID
}

// gitShardRef is a shard as the root names it.
type gitShardRef struct {
	objects uint32
	id      ID // zero: no object
}

// gitShards is what a root says.
type gitShards struct {
	length int // of object ids; 0 for an empty set
	shard  [256]gitShardRef
}

// objects returns how many objects the set has.
func (g *gitShards) objects() (n int64) {
	for _, s := range g.shard {
		n += int64(s.objects)
	}
	return n
}

func gitHeader(kind, length, first byte, entries int) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(gitMagic), packVersion)
	b = append(b, 0, 0, 0, 0, kind, length, first, 0)
	return binary.LittleEndian.AppendUint32(b, uint32(entries))
}

// parseGitHeader checks what root and shard have in common.
func parseGitHeader(b []byte, kind byte) (length int, first byte, entries uint32, err error) {
	if len(b) < gitHeaderBytes || string(b[:8]) != gitMagic {
		return 0, 0, 0, errors.New("the header of a set of git objects is missing")
	}
	if err := checkVersion(binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])); err != nil {
		return 0, 0, 0, err
	}
	if b[16] != kind || b[19] != 0 {
		return 0, 0, 0, fmt.Errorf("the part has kind %d, want %d", b[16], kind)
	}
	return int(b[17]), b[18], binary.LittleEndian.Uint32(b[20:]), nil
}

func (g *gitShards) marshal() []byte {
	var entries []byte
	n := 0
	for first, s := range g.shard {
		if s.objects == 0 {
			continue
		}
		n++
		entries = append(entries, byte(first), 0, 0, 0)
		entries = binary.LittleEndian.AppendUint32(entries, s.objects)
		entries = append(entries, s.id[:]...)
	}
	return append(gitHeader(gitRoot, byte(g.length), 0, n), entries...)
}

// parseGitRoot reads a root.
func parseGitRoot(b []byte) (*gitShards, error) {
	length, first, n, err := parseGitHeader(b, gitRoot)
	if err != nil {
		return nil, err
	}
	if n > 256 || len(b) != gitHeaderBytes+int(n)*gitShardBytes || first != 0 || !validGitLength(length, n) {
		return nil, fmt.Errorf("%d shards of %d-byte ids do not fit in %d bytes", n, length, len(b))
	}
	g := &gitShards{length: length}
	last := -1
	for b = b[gitHeaderBytes:]; len(b) > 0; b = b[gitShardBytes:] {
		s := gitShardRef{binary.LittleEndian.Uint32(b[4:]), ID(b[8:gitShardBytes])}
		if int(b[0]) <= last || b[1]|b[2]|b[3] != 0 || s.objects == 0 {
			return nil, fmt.Errorf("shard %d is not sorted or has no objects (%d)", b[0], s.objects)
		}
		last = int(b[0])
		g.shard[last] = s
	}
	if g.objects() > maxGitObjects {
		return nil, fmt.Errorf("the set has %d objects, too many", g.objects())
	}
	return g, nil
}

// validGitLength reports whether ids may have a length in a set of shards.
func validGitLength(length int, shards uint32) bool {
	if shards == 0 {
		return length == 0
	}
	return length == sha1.Size || length == sha256.Size
}

func marshalGitShard(length int, entries []gitEntry) []byte {
	b := gitHeader(gitShard, byte(length), entries[0].oid[0], len(entries))
	for i := range entries {
		b = append(b, entries[i].oid[:length]...)
		b = append(b, entries[i].blob[:]...)
	}
	return b
}

// parseGitShard reads a shard: objects in the order of their ids, all of which
// begin with one byte, as many as the root says.
func parseGitShard(b []byte, length int, first byte, objects uint32) ([]gitEntry, error) {
	l, f, n, err := parseGitHeader(b, gitShard)
	if err != nil {
		return nil, err
	}
	size := length + len(ID{})
	if l != length || f != first || n != objects || uint64(len(b)) != gitHeaderBytes+uint64(n)*uint64(size) {
		return nil, fmt.Errorf("the shard has %d objects below %02x with ids of %d bytes, the root says %d below %02x of %d bytes", n, f, l, objects, first, length)
	}
	b = b[gitHeaderBytes:]
	entries := make([]gitEntry, n)
	for i := range entries {
		e := &entries[i]
		copy(e.oid[:], b[:length])
		e.blob, b = ID(b[length:size]), b[size:]
		if e.oid[0] != first || i > 0 && entries[i-1].oid.compare(e.oid) >= 0 {
			return nil, fmt.Errorf("object %d is out of order", i)
		}
	}
	return entries, nil
}
