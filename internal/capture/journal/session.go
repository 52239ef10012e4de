package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"

	"github.com/amber-memory/amber"
)

// Session names whose events are kept.
type Session struct {
	Host string          // the agent host, "claude-code"
	ID   amber.SessionID // as the host names it
}

// Check checks the session. The error is of kind invalid.
func (s Session) Check() error {
	if err := amber.CheckID("host", s.Host); err != nil {
		return err
	}
	return amber.CheckID("session id", string(s.ID))
}

// Key is the name of a session's folder: 32 hex digits that no session id can
// influence beyond its hash.
type Key string

// Key returns the name of the session's folder.
func (s Session) Key() Key {
	h := sha256.Sum256([]byte("amber session 1\x00" + s.Host + "\x00" + string(s.ID)))
	return keyOf(h[:16])
}

// ParseKey checks a folder name. The error is of kind invalid.
func ParseKey(name string) (Key, error) {
	if b, err := hex.DecodeString(name); err != nil || len(b) != 16 || hex.EncodeToString(b) != name {
		return "", amber.Errorf(amber.KindInvalid, "parse session key", "", "want 32 lower-case hexadecimal digits")
	}
	return Key(name), nil
}

func keyOf(raw []byte) Key { return Key(hex.EncodeToString(raw)) }

// raw returns the sixteen bytes; a Key is hex by construction.
func (k Key) raw() []byte {
	b, _ := hex.DecodeString(string(k))
	return b
}

// seed begins the checksum of every frame of the session.
func (k Key) seed() uint32 { return crc32.Checksum(k.raw(), castagnoli) }
