package foreign

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// A time outside these years is not believed: it is in another unit, or broken.
var (
	earliest = time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

// Moment returns t as Amber keeps it. The error names the time.
func Moment(t time.Time) (amber.Time, error) {
	if t.Before(earliest) || !t.Before(latest) {
		return amber.Time{}, fmt.Errorf("time is %s, want one from 1990 to 2099", t.UTC().Format(time.RFC3339))
	}
	return amber.At(t), nil
}

// Seconds reads seconds since 1970.
func Seconds(s float64) (amber.Time, error) {
	if math.IsNaN(s) || math.Abs(s) > 1e12 {
		return amber.Time{}, fmt.Errorf("time is %g seconds, want one from 1990 to 2099", s)
	}
	return Moment(time.UnixMilli(int64(math.Round(s * 1000))))
}

// Millis reads milliseconds since 1970.
func Millis(ms int64) (amber.Time, error) { return Moment(time.UnixMilli(ms)) }

// layouts are the forms of times in text. Those without a zone are in the given one.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04Z07:00", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly,
}

// Text reads a time in text. One without a zone is UTC.
func Text(s string) (amber.Time, error) { return TextIn(s, time.UTC) }

// TextIn is like Text for a program that writes local times.
func TextIn(s string, zone *time.Location) (amber.Time, error) {
	s = strings.TrimSpace(s)
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return Moment(t)
		}
	}
	return amber.Time{}, fmt.Errorf("time is %.40q, want a date and time as in 2026-01-02T03:04:05Z", s)
}
