package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/amber-memory/amber/internal/guard/redact"
)

// SafeID returns an id that can be kept: one that holds a secret is known by
// its digest, "x-" and 32 hex digits, the same one that hooks give it.
func SafeID(r *redact.Redactor, id string) string {
	if out, _ := r.String(id); out == id {
		return id
	}
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, uint64(len(id))), id...))
	return "x-" + hex.EncodeToString(sum[:16])
}
