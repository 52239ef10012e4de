package foreign

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// idName begins every digest that makes an id.
const idName = "amber import 1"

// Digest hashes strings, each with its length before it as eight bytes, big-endian.
func Digest(parts ...string) [sha256.Size]byte {
	h := sha256.New()
	for _, part := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		io.WriteString(h, part)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// Hex returns the first 32 hexadecimal digits of a digest.
func Hex(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:16]) }

func keyed(format, what string, key Key) [sha256.Size]byte {
	return Digest(append([]string{idName, format, what}, key...)...)
}

// Fingerprint names a row of a format: 64 hexadecimal digits.
func Fingerprint(format, what string, key Key) string {
	sum := keyed(format, what, key)
	return hex.EncodeToString(sum[:])
}

// MemoryID returns the id of the memory that a row becomes, a UUID of version 8. It is the same on every machine, and
// never an id that a file names: a stranger's file could name a memory that is here.
func MemoryID(format string, key Key) amber.MemoryID {
	return amber.MemoryID(UUID(keyed(format, "memory", key)))
}

// TurnID returns the id of the turn that a message becomes.
func TurnID(format string, key Key) amber.TurnID {
	return amber.TurnID(format + "-" + Hex(keyed(format, "turn", key)))
}

// RelationID returns the id of a relation.
func RelationID(format string, from, to amber.MemoryID, typ string) string {
	return UUID(keyed(format, "relation", Key{string(from), string(to), typ}))
}

// UUID makes a UUID of version 8 of a digest.
func UUID(sum [sha256.Size]byte) string {
	b := sum[:16]
	b[6] = b[6]&0x0f | 0x80
	b[8] = b[8]&0x3f | 0x80
	s := hex.EncodeToString(b)
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// Stamp orders versions that a program made: the low bits, which count the events of a millisecond, come from a digest
// and make the order the same everywhere.
func Stamp(t amber.Time, sum [sha256.Size]byte) amber.Stamp {
	return amber.StampAt(time.UnixMilli(max(t.UnixMilli(), 0))) | amber.Stamp(binary.BigEndian.Uint16(sum[:2]))
}

// Raw returns v as JSON for a foreign field; nil for nil, and for what JSON cannot hold.
func Raw(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

// Slug returns s as a short name: lower-case letters and digits, everything else one "-".
func Slug(s string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(s) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
			continue
		}
		dash = true
	}
	return b.String()
}

// SessionID returns the id of a session of a program whose ids are not those of a host: the name of the format, "-",
// and the program's id, or its digest where that is no id.
func SessionID(format, external string) amber.SessionID {
	id := format + "-" + external
	if amber.CheckID("session id", id) == nil {
		return amber.SessionID(id)
	}
	return amber.SessionID(format + "-" + Hex(Digest(idName, format, "session", external)))
}

// HostSessionID returns the id of a session of a coding agent: that of the host, so that it meets what hooks recorded, or
// that of [SessionID] where the host's is no id.
func HostSessionID(format, external string) amber.SessionID {
	if amber.CheckID("session id", external) == nil {
		return amber.SessionID(external)
	}
	return SessionID(format, external)
}
