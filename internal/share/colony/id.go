package colony

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/amber-memory/amber"
)

// SnapshotID names a snapshot of a label: the time it was begun, to the
// microsecond in UTC, and six random hexadecimal digits, as in
// "20260619T051643001000Z-abc001". The order of the texts is that of the times.
type SnapshotID string

const (
	idSeconds  = "20060102T150405"
	idLength   = len(idSeconds) + len("000000Z-abc001")
	randomHex  = 6
	lastMoment = 253402300800 // Unix seconds of the year 10000, which has no id
)

// NewSnapshotID returns an id for a time. Errors: invalid for a time that has
// none, internal when there is no randomness.
func NewSnapshotID(t time.Time, random io.Reader) (SnapshotID, error) {
	t = t.UTC()
	if t.Year() < 1 || t.Unix() >= lastMoment {
		return "", amber.Errorf(amber.KindInvalid, "make snapshot id", "", "the year %d does not fit, want 1 to 9999", t.Year())
	}
	var b [randomHex / 2]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", &amber.Error{Op: "make snapshot id", Kind: amber.KindInternal, Err: err}
	}
	return SnapshotID(fmt.Sprintf("%s%06dZ-%s", t.Format(idSeconds), t.Nanosecond()/1000, hex.EncodeToString(b[:]))), nil
}

// NextSnapshotID returns an id for t that is later than last: the microsecond
// after it where t is not later. An empty last is before all others. Errors also:
// damaged when nothing is later than last.
func NextSnapshotID(t time.Time, last SnapshotID, random io.Reader) (SnapshotID, error) {
	if last == "" {
		return NewSnapshotID(t, random)
	}
	least := last.Time().Add(time.Microsecond)
	if t.Before(least) {
		t = least
	}
	if t.Unix() >= lastMoment && least.Unix() >= lastMoment {
		return "", amber.Errorf(amber.KindDamaged, "make snapshot id", string(last), "no later id is possible")
	}
	return NewSnapshotID(t, random)
}

// ParseSnapshotID checks that s is an id. The error is of kind invalid.
func ParseSnapshotID(s string) (SnapshotID, error) {
	if _, ok := idTime(s); !ok {
		return "", amber.Errorf(amber.KindInvalid, "parse snapshot id", "", "%s is not a snapshot id, want the form 20260619T051643001000Z-abc001", quote(s))
	}
	return SnapshotID(s), nil
}

// Time returns when the snapshot was begun; the zero time of what is no id.
func (id SnapshotID) Time() time.Time {
	t, _ := idTime(string(id))
	return t
}

func idTime(s string) (time.Time, bool) {
	if len(s) != idLength || s[21:23] != "Z-" {
		return time.Time{}, false
	}
	var micros int
	for _, c := range []byte(s[15:21]) {
		if c < '0' || c > '9' {
			return time.Time{}, false
		}
		micros = micros*10 + int(c-'0')
	}
	for _, c := range []byte(s[23:]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return time.Time{}, false
		}
	}
	t, err := time.Parse(idSeconds, s[:15])
	if err != nil || t.Year() < 1 || t.Format(idSeconds) != s[:15] {
		return time.Time{}, false
	}
	return t.Add(time.Duration(micros) * time.Microsecond), true
}
