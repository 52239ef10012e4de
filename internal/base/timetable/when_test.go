package timetable_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/base/timetable"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestSpan(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"0s": 0, "90s": 90 * time.Second, "24h": day, "7d": 7 * day,
		"1d12h": 36 * time.Hour, "1h30m": 90 * time.Minute, "0d": 0, "0": 0, "90d": 90 * day, "2d0s": 2 * day, "5m": 5 * time.Minute, "65535d": 65535 * day,
	} {
		must.Equal(t, fmt.Sprintf("Span(%q)", text), must.Get(timetable.Span(text))(t), want)
	}
	for _, text := range []string{"", "7", "d", "-7d", "-24h", "7d-1h", "1w", "1h1d", "65535d2000000h", "7 d", "yesterday", "1.5d", "1d1d", "99999d", "70000d", "+1d", "1dd", "1e3d", "7D"} {
		must.Error(t, fmt.Sprintf("Span(%q)", text), must.Err(timetable.Span(text)))
	}
}

func TestWhen(t *testing.T) {
	now := time.Date(2026, 11, 16, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		text string
		back bool
		want time.Time
	}{
		{"7d", true, now.AddDate(0, 0, -7)},
		{"7d", false, now.AddDate(0, 0, 7)},
		{"24h", true, now.AddDate(0, 0, -1)},
		{"2026-11-01", true, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
		{"2026-11-01", false, time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
		{"2026-11-01T08:30:00+02:00", true, time.Date(2026, 11, 1, 6, 30, 0, 0, time.UTC)},
		{"2026-11-01T08:30:00.125Z", true, time.Date(2026, 11, 1, 8, 30, 0, 125e6, time.UTC)},
	} {
		if got, err := timetable.When(c.text, now, c.back); err != nil || !got.Equal(c.want) {
			t.Errorf("When(%q, %v) = %v, %v; want %v", c.text, c.back, got, err, c.want)
		}
	}
	for _, text := range []string{"", "yesterday", "2026-13-01", "2026-11-1", "01.11.2026", "-7d"} {
		must.Error(t, fmt.Sprintf("When(%q)", text), must.Err(timetable.When(text, now, true)))
	}
}
