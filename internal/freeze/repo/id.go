package repo

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"

	"github.com/amber-memory/amber"
)

// ID names a blob, a pack or an index object: a SHA-256, or for a blob that is
// encrypted an HMAC of it. Ids order as bytes. The zero ID names nothing.
type ID [sha256.Size]byte

// ParseID reads what [ID.String] writes. The error is of kind invalid.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) == hex.EncodedLen(len(id)) {
		// Upper case is refused: a name has one spelling.
		if _, err := hex.Decode(id[:], []byte(s)); err == nil && id.String() == s {
			return id, nil
		}
	}
	return ID{}, amber.Errorf(amber.KindInvalid, "parse id", "", "the id is not 64 lower-case hexadecimal digits")
}

// String returns 64 lower-case hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether id names nothing.
func (id ID) IsZero() bool { return id == ID{} }

// Compare orders ids as bytes: -1, 0 or 1.
func (id ID) Compare(other ID) int { return bytes.Compare(id[:], other[:]) }

// MarshalText implements [encoding.TextMarshaler].
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (id *ID) UnmarshalText(b []byte) error {
	p, err := ParseID(string(b))
	if err == nil {
		*id = p
	}
	return err
}

// Kind says what a blob holds. It is one byte on disk; the list only grows.
type Kind uint8

// The kinds.
const (
	KindPages    Kind = 1 // pages of a database, one behind another
	KindMap      Kind = 2 // where the pages of a database lie
	KindFile     Kind = 3 // a file
	KindTree     Kind = 4 // a folder, or a part of a set of git objects
	KindGit      Kind = 5 // a git object
	KindManifest Kind = 6 // what a snapshot holds
)

var kindNames = [...]string{"", "pages", "map", "file", "tree", "git", "manifest"}

func (k Kind) valid() bool { return k >= KindPages && k <= KindManifest }

// String returns the name of k, "kind 9" for one this build does not know.
func (k Kind) String() string {
	if k.valid() {
		return kindNames[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// PageDigest is SHA-256 of the bytes of one page of a database.
type PageDigest [sha256.Size]byte

// DigestPage returns the digest of a page.
func DigestPage(page []byte) PageDigest { return sha256.Sum256(page) }

// Each is hashed before the plaintext, so that no blob of pages has the id of another kind of blob.
const (
	blobDomain  = "amber blob 1\x00"
	pagesDomain = "amber pages 1\x00"
)

// BlobID returns the id of a blob of any kind but pages, in a repository that
// is not encrypted. See [Repo.BlobID].
func BlobID(kind Kind, plain []byte) ID { return blobID(sha256.New(), kind, plain) }

// blobID makes an id with SHA-256, or with HMAC-SHA-256 and a key.
func blobID(h hash.Hash, kind Kind, plain []byte) ID {
	h.Write(append([]byte(blobDomain), byte(kind)))
	h.Write(plain)
	return ID(h.Sum(nil))
}

func pagesID(h hash.Hash, pageSize int, digests []PageDigest) ID {
	h.Write(binary.LittleEndian.AppendUint32([]byte(pagesDomain), uint32(pageSize)))
	for i := range digests {
		h.Write(digests[i][:])
	}
	return ID(h.Sum(nil))
}
