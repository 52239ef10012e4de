package amber

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Clock tells the time. Everything in Amber that needs it is given one.
type Clock func() time.Time

// Time is an instant with the precision Amber stores, a millisecond, always
// UTC. Its JSON is RFC 3339 with exactly three decimals. The zero Time is
// absent.
type Time struct{ ms int64 }

const timeLayout = "2006-01-02T15:04:05.000Z"

// At returns t cut to the millisecond.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return UnixMilli(t.UnixMilli())
}

// UnixMilli returns the Time ms milliseconds after the Unix epoch; 0 is the
// zero Time.
func UnixMilli(ms int64) Time { return Time{ms} }

// UnixMilli returns t as milliseconds since the Unix epoch, 0 when absent.
func (t Time) UnixMilli() int64 { return t.ms }

// IsZero reports whether t is absent.
func (t Time) IsZero() bool { return t.ms == 0 }

// Time returns t as a time.Time in UTC; the zero time.Time when absent.
func (t Time) Time() time.Time {
	if t.ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(t.ms).UTC()
}

// Add returns t+d, cut to the millisecond.
func (t Time) Add(d time.Duration) Time { return Time{t.ms + d.Milliseconds()} }

// Before reports whether t is before u.
func (t Time) Before(u Time) bool { return t.ms < u.ms }

// Equal reports whether t and u are the same instant, or both absent.
func (t Time) Equal(u Time) bool { return t == u }

// String returns the RFC 3339 form, "" when absent.
func (t Time) String() string {
	if t.ms == 0 {
		return ""
	}
	return t.Time().Format(timeLayout)
}

// MarshalJSON writes the RFC 3339 form, null when absent.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.ms == 0 {
		return []byte("null"), nil
	}
	return []byte(`"` + t.String() + `"`), nil
}

// UnmarshalJSON reads any RFC 3339 time, or null.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("parse time: %w", err)
	}
	if s == nil || *s == "" {
		*t = Time{}
		return nil
	}
	p, err := ParseTime(*s)
	if err != nil {
		return err
	}
	*t = p
	return nil
}

// ParseTime reads an RFC 3339 time or a date (its midnight, UTC). The error is
// of kind invalid.
func ParseTime(s string) (Time, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if p, err := time.Parse(layout, s); err == nil {
			return At(p), nil
		}
	}
	return Time{}, Errorf(KindInvalid, "parse time", "", "%.40q is neither RFC 3339 nor a date", s)
}

// Stamp is a hybrid clock reading: wall milliseconds, then a counter for
// events of the same millisecond. Stamps of one device only grow, also when
// its wall clock goes back. Stamps order as integers.
type Stamp uint64

// stampBits is how many low bits of a Stamp count events inside one
// millisecond.
const stampBits = 16

// MaxClockSkew is how far past local wall time a stamp from elsewhere may
// pull the local clock.
const MaxClockSkew = 5 * time.Minute

// StampAt returns the first stamp of the millisecond of t.
func StampAt(t time.Time) Stamp { return Stamp(t.UnixMilli()) << stampBits }

// Next returns the stamp of an event that happens at wall time now, after an
// event stamped s.
func (s Stamp) Next(now time.Time) Stamp {
	if w := StampAt(now); w > s {
		return w
	}
	return s + 1
}

// Time returns the wall time of s.
func (s Stamp) Time() Time { return UnixMilli(int64(s >> stampBits)) }

// String returns the wall time and the counter, "2026-01-02T03:04:05.678Z-0001";
// "" for the zero stamp.
func (s Stamp) String() string {
	if s == 0 {
		return ""
	}
	// Not that of Time, which has no name for the first millisecond.
	wall := time.UnixMilli(int64(s >> stampBits)).UTC().Format(timeLayout)
	return wall + fmt.Sprintf("-%04x", uint64(s)&(1<<stampBits-1))
}

// ParseStamp reads what [Stamp.String] writes. The error is of kind invalid.
func ParseStamp(s string) (Stamp, error) {
	if s == "" {
		return 0, nil
	}
	const counter = 5
	if len(s) == len(timeLayout)+counter && s[len(s)-counter] == '-' {
		t, terr := time.Parse(timeLayout, s[:len(s)-counter])
		n, nerr := strconv.ParseUint(s[len(s)-counter+1:], 16, stampBits)
		if terr == nil && nerr == nil && t.UnixMilli() >= 0 {
			return StampAt(t) | Stamp(n), nil
		}
	}
	return 0, Errorf(KindInvalid, "parse stamp", "", "%.40q is not a time followed by a counter", s)
}

// MarshalText implements [encoding.TextMarshaler].
func (s Stamp) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *Stamp) UnmarshalText(b []byte) error {
	p, err := ParseStamp(string(b))
	if err == nil {
		*s = p
	}
	return err
}
