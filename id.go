package amber

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// TenantID names a tenant: 1 to 64 of [a-z0-9_-], the first and the last not
// '_' or '-'. It is a path element, so it is parsed at every door.
type TenantID string

// AgentID names an agent inside a tenant; same rule as [TenantID].
type AgentID string

// MemoryID identifies one long-term memory: a UUID, of version 7 or, for a
// memory with a topic, derived from its name by [TopicID].
type MemoryID string

// SessionID identifies a session. Sessions Amber starts get a UUIDv7; agent
// hosts bring their own, so any printable text up to 200 bytes is accepted.
type SessionID string

// TurnID identifies a turn; appending the same id twice stores it once.
type TurnID string

// DefaultTenant and DefaultAgent are used when nothing else is said, so one
// developer's tools share one memory.
const (
	DefaultTenant TenantID = "default"
	DefaultAgent  AgentID  = "default"
)

// MaxIDBytes bounds every identifier that comes from outside: session, turn,
// task, node, request, approval and queue entry ids, users, projects,
// workspaces, bindings and idempotency keys.
const MaxIDBytes = 200

// ParseTenantID checks s. The error is of kind invalid.
func ParseTenantID(s string) (TenantID, error) {
	return TenantID(s), CheckFolderName("tenant id", s)
}

// ParseAgentID checks s. The error is of kind invalid.
func ParseAgentID(s string) (AgentID, error) {
	return AgentID(s), CheckFolderName("agent id", s)
}

// CheckFolderName checks a name that becomes the name of a folder on every
// system: 1 to 64 of a-z, 0-9, _ and -, starting and ending with a letter or
// digit. The error is of kind invalid; what says which name it is.
func CheckFolderName(what, s string) error {
	switch {
	case s == "":
		return Errorf(KindInvalid, "parse "+what, "", "%s is empty, want 1 to 64 characters", what)
	case len(s) > 64:
		return Errorf(KindInvalid, "parse "+what, "", "%s has %d characters, the limit is 64", what, len(s))
	}
	for i := range len(s) {
		c := s[i]
		edge := i == 0 || i == len(s)-1
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case (c == '_' || c == '-') && !edge:
		default:
			return Errorf(KindInvalid, "parse "+what, "", "%.40q is not valid: want 1 to 64 of a-z, 0-9, _ and -, starting and ending with a letter or digit", s)
		}
	}
	return nil
}

// ParseMemoryID checks that s is a UUID in its canonical form (36 lower-case
// characters). The error is of kind invalid.
func ParseMemoryID(s string) (MemoryID, error) {
	if !isUUID(s) {
		return "", Errorf(KindInvalid, "parse memory id", "", "%.40q is not a UUID", s)
	}
	return MemoryID(s), nil
}

// SnapshotID names a snapshot: a UUIDv7.
type SnapshotID string

// ParseSnapshotID checks that s is a UUID in its canonical form. The error is
// of kind invalid.
func ParseSnapshotID(s string) (SnapshotID, error) {
	if !isUUID(s) {
		return "", Errorf(KindInvalid, "parse snapshot id", "", "%.40q is not a UUID", s)
	}
	return SnapshotID(s), nil
}

// ParseSessionID checks s by the rule of [CheckID]. The error is of kind
// invalid.
func ParseSessionID(s string) (SessionID, error) {
	return SessionID(s), CheckID("session id", s)
}

// CheckID checks an identifier that comes from outside: not empty, at most [MaxIDBytes], valid UTF-8,
// printable, no space at either end. The error names the identifier by the argument what, is of kind invalid
// and never repeats more than the first characters of s.
func CheckID(what, s string) error {
	switch {
	case s == "":
		return Errorf(KindInvalid, "check "+what, "", "%s is empty, want 1 to %d bytes", what, MaxIDBytes)
	case len(s) > MaxIDBytes:
		return Errorf(KindInvalid, "check "+what, "", "%s has %d bytes, the limit is %d", what, len(s), MaxIDBytes)
	case !utf8.ValidString(s):
		return Errorf(KindInvalid, "check "+what, "", "%s is not valid UTF-8", what)
	case strings.TrimSpace(s) != s:
		return Errorf(KindInvalid, "check "+what, "", "%s starts or ends with a space", what)
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return Errorf(KindInvalid, "check "+what, "", "%s contains the character %U, want printable characters", what, r)
		}
	}
	return nil
}

// CheckOptionalID is [CheckID] for a field that may be empty.
func CheckOptionalID(what, s string) error {
	if s == "" {
		return nil
	}
	return CheckID(what, s)
}

// NewUUID returns a UUID of version 7 for the time now, its random bits read
// from random. It fails only when random does.
func NewUUID(now time.Time, random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[6:]); err != nil {
		return "", &Error{Op: "make id", Kind: KindInternal, Err: err}
	}
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	return formatUUID(b, 7), nil
}

// topicNamespace keeps topic ids apart from anything else hashed the same way.
const topicNamespace = "amber topic 1"

// TopicID returns the id of the memory with the given topic: equal arguments
// give equal ids on every device, so two devices that write about one topic
// write one memory. Epoch is 0 until such a memory is erased; an erased id is
// never used again, and the next write takes the next epoch.
func TopicID(project string, scope Scope, identity, topic string, epoch int) MemoryID {
	h := sha256.New()
	for _, part := range []string{topicNamespace, project, string(scope), identity, topic, fmt.Sprint(epoch)} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		io.WriteString(h, part)
	}
	return MemoryID(formatUUID([16]byte(h.Sum(nil)), 8))
}

func formatUUID(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80
	s := hex.EncodeToString(b[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}
