package chunk

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// ID names a chunk or a pack: the SHA-256 of the bytes of its file, in 64
// lower-case hexadecimal digits. It is safe as a part of a path.
type ID string

const nameSuffix = ".jsonl.zst"

// IDOf returns the id of a file with the bytes b.
func IDOf(b []byte) ID {
	sum := sha256.Sum256(b)
	return ID(hex.EncodeToString(sum[:]))
}

// ParseID checks that s is an id. The error is of kind invalid.
func ParseID(s string) (ID, error) {
	if len(s) != 2*sha256.Size || strings.Trim(s, "0123456789abcdef") != "" {
		return "", amber.Errorf(amber.KindInvalid, "parse chunk id", "", "%q is not 64 lower-case hexadecimal digits", clip.Name(s))
	}
	return ID(s), nil
}

// FileName returns the name of the file, "<id>.jsonl.zst".
func (id ID) FileName() string { return string(id) + nameSuffix }

// ParseFileName returns the id that a file is named after, and whether it is
// named after one.
func ParseFileName(name string) (ID, bool) {
	s, found := strings.CutSuffix(name, nameSuffix)
	id, err := ParseID(s)
	return id, found && err == nil
}
