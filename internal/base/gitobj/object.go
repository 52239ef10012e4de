package gitobj

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// The types of objects.
const (
	typeCommit = "commit"
	typeTree   = "tree"
	typeBlob   = "blob"
	typeTag    = "tag"
)

// ZeroOID is the id that git writes where there is no object, by SHA-1.
const ZeroOID = "0000000000000000000000000000000000000000"

// BlobID returns the id that git gives to a file, by SHA-1.
func BlobID(content []byte) string {
	h := newHash(len(ZeroOID))
	h.Write([]byte(objectHeader(typeBlob, int64(len(content)))))
	h.Write(content)
	return hex.EncodeToString(h.Sum(nil))
}

func objectHeader(kind string, size int64) string {
	return kind + " " + strconv.FormatInt(size, 10) + "\x00"
}

// newHash returns the hash of a repository whose ids have n hex digits.
func newHash(n int) hash.Hash {
	if n == 64 {
		return sha256.New()
	}
	return sha1.New()
}

// checkOID checks that raw has the id oid.
func checkOID(oid string, raw []byte) error {
	h := newHash(len(oid))
	h.Write(raw)
	if hex.EncodeToString(h.Sum(nil)) != oid {
		return badObject(oid, "does not match its id")
	}
	return nil
}

// splitRaw splits an object into type and content.
func splitRaw(oid string, raw []byte) (kind string, content []byte, err error) {
	head, content, found := bytes.Cut(raw[:min(len(raw), 32)], []byte{0})
	if found {
		content = raw[len(head)+1:]
	}
	kind, size, _ := bytesCut(head)
	n, err := strconv.ParseInt(size, 10, 64)
	if !found || err != nil || n != int64(len(content)) || strconv.FormatInt(n, 10) != size {
		return "", nil, badObject(oid, "has a damaged header")
	}
	switch kind {
	case typeCommit, typeTree, typeBlob, typeTag:
		return kind, content, nil
	}
	return "", nil, badObject(oid, "is of an unknown type")
}

func bytesCut(head []byte) (before, after string, found bool) {
	b, a, found := bytes.Cut(head, []byte(" "))
	return string(b), string(a), found
}

func badObject(oid, why string) error {
	return amberError(amber.KindDamaged, "", fmt.Errorf("the object %s %s", clip.Name(oid), why))
}
