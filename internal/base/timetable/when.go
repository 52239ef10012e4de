package timetable

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Forms says what [When] reads, for messages.
const Forms = "a date such as 2026-11-01, a time such as 2026-11-01T08:30:00Z, or a span such as 24h or 7d"

// SpanForms says what [Span] reads, for messages.
const SpanForms = "a span such as 30s, 24h or 7d"

var errSpan = errors.New("want " + SpanForms)

// Span reads how long something takes or how old it is: "90s", "24h", "7d",
// "1d12h". A day has 24 hours. A span is never negative.
func Span(text string) (time.Duration, error) {
	var d time.Duration
	rest := text
	if days, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16) // 65535 days are far from the end of a Duration
		if err != nil {
			return 0, errSpan
		}
		d, rest = time.Duration(n)*day, after
	}
	if rest == "" && text != "" {
		return d, nil
	}
	more, err := time.ParseDuration(rest)
	if err != nil || more < 0 || more > math.MaxInt64-d {
		return 0, errSpan
	}
	return d + more, nil
}

// When reads a moment: a date, which is its midnight in UTC, a time of RFC 3339,
// or a span that is counted from now, back where back is set.
func When(text string, now time.Time, back bool) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	d, err := Span(text)
	if err != nil {
		return time.Time{}, errors.New("want " + Forms)
	}
	if back {
		d = -d
	}
	return now.Add(d), nil
}
