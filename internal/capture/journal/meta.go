package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// meta is what the file of that name holds. Fields may be added; a reader
// ignores those it does not know.
type meta struct {
	Format    int             `json:"format"`
	Host      string          `json:"host"`
	SessionID amber.SessionID `json:"session_id"`
	StartedAt amber.Time      `json:"started_at"`
	// Epoch is new whenever the folder is: sequences begin again then, and the
	// store's cursor must, too.
	Epoch string `json:"epoch,omitempty"`
}

const (
	metaFormat = 1
	maxMeta    = 4096 // bytes that are read of it
)

func (m meta) marshal() ([]byte, error) {
	b, err := json.Marshal(m)
	return append(b, '\n'), err
}

// parseMeta reads the file and checks that it belongs into the folder key.
// Errors: damaged, too_new.
func parseMeta(b []byte, key Key) (meta, error) {
	var m meta
	fail := func(kind amber.Kind, why string) (meta, error) {
		return meta{}, amber.Errorf(kind, "read session", string(key), "%s", why)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return fail(amber.KindDamaged, "the meta file is not the JSON of a session")
	}
	s := Session{Host: m.Host, ID: m.SessionID}
	switch {
	case m.Format > metaFormat:
		return fail(amber.KindTooNew, "the meta file was written by a newer Amber")
	case m.Format < 1:
		return fail(amber.KindDamaged, "the meta file has no format")
	case s.Check() != nil, s.Key() != key, !isHex(m.Epoch):
		return fail(amber.KindDamaged, "the meta file belongs to another session")
	}
	return m, nil
}

// readMeta reads whose session a folder is. Errors: not_found, damaged,
// too_new and those of the disk.
func (j *Journal) readMeta(key Key) (meta, error) {
	b, err := fsx.ReadFile(j.o.FS, j.path(key, metaName), maxMeta)
	if errors.Is(err, fs.ErrNotExist) {
		return meta{}, amber.Errorf(amber.KindNotFound, "read session", string(key), "the meta file is missing")
	}
	if errors.Is(err, fsx.ErrTooLarge) {
		return meta{}, amber.Errorf(amber.KindDamaged, "read session", string(key), "the meta file is too large")
	}
	if err != nil {
		return meta{}, diskerr.Own("read session", string(key), err)
	}
	return parseMeta(b, key)
}

// ensureMeta says whose session it is where nothing says so, or nothing that
// can be believed. The session's lock is held.
func (j *Journal) ensureMeta(s Session) error {
	key := s.Key()
	_, err := j.readMeta(key)
	switch amber.KindOf(err) {
	case "":
		return nil
	case amber.KindNotFound:
	case amber.KindDamaged:
		as := fmt.Sprintf("%s-%d", metaName, j.o.Clock().UnixMilli())
		if err := j.keepFile(key, metaName, as, maxMeta); err != nil && amber.KindOf(err) != amber.KindQuota {
			return err
		}
	default:
		return err
	}
	m := meta{Format: metaFormat, Host: s.Host, SessionID: s.ID, StartedAt: amber.At(j.o.Clock())}
	if m.Epoch, err = newEpoch(j.o.Random); err != nil {
		return diskerr.Own("write meta", string(key), err)
	}
	b, err := m.marshal()
	if err != nil {
		return err
	}
	return diskerr.Own("write meta", string(key), fsx.Replace(j.o.FS, j.path(key, metaName), 0o600, b))
}

func newEpoch(random io.Reader) (string, error) {
	var b [8]byte
	_, err := io.ReadFull(random, b[:])
	return hex.EncodeToString(b[:]), err
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// Origin says where the entries of a folder come from.
type Origin struct {
	Session
	// Cursor names the store's cursor: 32 hex digits. A folder that was removed
	// and made again has another one, for its sequences begin again.
	Cursor string
}

// Origin returns where the entries of a folder come from. It cannot change
// while the caller is the only one who drains ([Journal.BeginDrain]). A folder
// without a meta file has no origin; [Journal.Start] writes one. Errors:
// invalid, not_found, damaged, too_new and those of the disk.
func (j *Journal) Origin(key Key) (Origin, error) {
	if err := checkKey(key); err != nil {
		return Origin{}, err
	}
	m, err := j.readMeta(key)
	if err != nil {
		return Origin{}, err
	}
	sum := sha256.Sum256([]byte("amber cursor 1\x00" + string(key) + "\x00" + m.Epoch))
	return Origin{Session: Session{Host: m.Host, ID: m.SessionID}, Cursor: hex.EncodeToString(sum[:16])}, nil
}
