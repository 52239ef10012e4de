package search

import (
	"strings"
	"testing"
	"time"
)

func TestReadTime(t *testing.T) {
	now := time.Date(2026, 11, 10, 20, 0, 0, 0, time.UTC).UnixMilli()
	for _, c := range []struct{ question, from, to string }{
		{"what did we use in spring 2025?", "2025-03-01", "2025-06-01"},
		{"what RTOS version were we building with in December 2025?", "2025-12-01", "2026-01-01"},
		{"what was the scheme at the end of 2025", "2025-01-01", "2026-01-01"},
		{"what broke last winter?", "2025-12-01", "2026-03-01"},
		{"what broke last autumn?", "2025-09-01", "2025-12-01"},
		{"what broke this spring, and why?", "2026-03-01", "2026-06-01"},
		{"why was it blocked in late July?", "2026-07-01", "2026-08-01"},
		{"What did Gina find on 1 February, 2023?", "2023-02-01", "2023-02-02"},
		{"What did Melanie show on October 13th, 2023 to Ann?", "2023-10-13", "2023-10-14"},
		{"who won in December?", "2025-12-01", "2026-01-01"},
		{"what happened in winter 2025", "2025-12-01", "2026-03-01"},
		{"what was planned last month?", "2026-10-01", "2026-11-01"},
		{"what was planned last year?", "2025-01-01", "2026-01-01"},
		{"budget of Q3 2025", "2025-07-01", "2025-10-01"},
	} {
		got := readTime(c.question, now)
		from, to := time.UnixMilli(got.from).UTC().Format(time.DateOnly), time.UnixMilli(got.to).UTC().Format(time.DateOnly)
		if from != c.from || to != c.to {
			t.Errorf("%q: %s to %s, want %s to %s", c.question, from, to, c.from, c.to)
		}
	}
}

func TestReadNoTime(t *testing.T) {
	for _, q := range []string{
		"may I use it", "can we march on", "does the build fall over", "what is port 2024", "which of the 12 boards", "", "in", "on the", "last", "this year", "the 2 of us",
		"does spring boot start", strings.Repeat("in ", 20000),
	} {
		if got := readTime(q, 0); got.span != (span{}) {
			t.Errorf("%q names the time %v, want none", q, got)
		}
	}
	for q, want := range map[string]bool{
		"what did we use before?": true, "which port did it use to listen on?": true, "how were images signed originally?": true, "where we used to meet": true,
		"what must I do before a merge": false, "which tool is used to sign images?": false,
	} {
		if got := readTime(q, 0); got.past != want {
			t.Errorf("%q is about the past: %v, want %v", q, got.past, want)
		}
	}
	for q, want := range map[string]bool{"how do I book a rig these days?": true, "how busy is it now?": true, "what do we know": false, "the nowhere plan": false} {
		if got := readTime(q, 0); got.now != want {
			t.Errorf("%q is about now: %v, want %v", q, got.now, want)
		}
	}
}
