package timetable_test

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/amber-memory/amber/internal/base/timetable"
	"github.com/amber-memory/amber/internal/test/must"
)

const layout = "2006-01-02 15:04"

func at(t *testing.T, zone, text string) time.Time {
	t.Helper()
	loc := must.Get(time.LoadLocation(zone))(t)
	return must.Get(time.ParseInLocation(layout, text, loc))(t)
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ table, last, want string }{
		{"15m", "2026-01-02 03:04", "2026-01-02 03:19"},
		{"6h", "2026-01-02 23:04", "2026-01-03 05:04"},
		{"1d", "2026-02-28 03:04", "2026-03-01 03:04"},
		{"1d12h", "2026-01-01 00:00", "2026-01-02 12:00"},
		{" 1H ", "2026-01-01 00:00", "2026-01-01 01:00"},

		{"0 3 * * *", "2026-01-02 02:59", "2026-01-02 03:00"},
		{"0 3 * * *", "2026-01-02 03:00", "2026-01-03 03:00"},
		{"0 3 * * *", "2026-12-31 04:00", "2027-01-01 03:00"},
		{"*/15 * * * *", "2026-01-02 23:46", "2026-01-03 00:00"},
		{"5,35 8-18/2 * * *", "2026-01-02 08:05", "2026-01-02 08:35"},
		{"5,35 8-18/2 * * *", "2026-01-02 08:35", "2026-01-02 10:05"},
		{"0 0 1 * *", "2026-01-01 00:00", "2026-02-01 00:00"},
		{"0 0 29 2 *", "2026-01-01 00:00", "2028-02-29 00:00"},
		{"0 0 29 2 *", "2096-03-01 00:00", "2104-02-29 00:00"}, // 2100 has none
		{"0 0 29 feb */7", "2026-01-01 00:00", "2032-02-29 00:00"},
		{"0 0 * * sun", "2026-01-02 00:00", "2026-01-04 00:00"},
		{"0 0 * * 7", "2026-01-02 00:00", "2026-01-04 00:00"},
		{"0 0 * * 0", "2026-01-04 00:00", "2026-01-11 00:00"},
		{"0 0 * * Mon-Fri", "2026-01-02 12:00", "2026-01-05 00:00"},
		{"0 0 * * 5-7", "2026-01-03 12:00", "2026-01-04 00:00"},
		{"0 0 * jun-aug *", "2026-01-02 12:00", "2026-06-01 00:00"},
		{"0 0 13 * 5", "2026-01-02 12:00", "2026-01-09 00:00"}, // a Friday, or the 13th
		{"0 0 13 * 5", "2026-01-09 12:00", "2026-01-13 00:00"},
		{"0 0 */2 * 1", "2026-01-01 12:00", "2026-01-05 00:00"}, // both: the star is no restriction
		{"* * * * *", "2026-01-02 03:04", "2026-01-02 03:05"},
	} {
		table, err := timetable.Parse(tt.table)
		if err != nil {
			t.Errorf("%q: %v", tt.table, err)
			continue
		}
		got, ok := table.Next(at(t, "UTC", tt.last))
		if !ok || got.Format(layout) != tt.want {
			t.Errorf("%q after %s is %s, want %s", tt.table, tt.last, got.Format(layout), tt.want)
		}
	}
}

// Times are those of the clock on the wall, also where it is changed.
func TestNextIsLocal(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ zone, table, last, want string }{
		{"Europe/Berlin", "0 3 * * *", "2026-01-02 12:00", "2026-01-03T02:00:00Z"},
		{"Europe/Berlin", "0 3 * * *", "2026-07-02 12:00", "2026-07-03T01:00:00Z"},
		{"America/New_York", "0 3 * * *", "2026-01-02 12:00", "2026-01-03T08:00:00Z"},
		{"Asia/Kolkata", "0 3 * * *", "2026-01-02 12:00", "2026-01-02T21:30:00Z"},
		// 02:30 is not there on 29 March 2026, and there twice on 25 October: which
		// of two times it is then the standard library does not promise.
		{"Europe/Berlin", "30 2 * * *", "2026-03-28 12:00", "2026-03-29T00:30:00Z 2026-03-29T01:30:00Z"},
		{"Europe/Berlin", "30 2 * * *", "2026-10-24 12:00", "2026-10-25T00:30:00Z 2026-10-25T01:30:00Z"},
		{"Europe/Berlin", "6h", "2026-03-29 00:00", "2026-03-29T05:00:00Z"},
	} {
		table := must.Get(timetable.Parse(tt.table))(t)
		got, ok := table.Next(at(t, tt.zone, tt.last))
		if !ok || !strings.Contains(tt.want, got.UTC().Format(time.RFC3339)) {
			t.Errorf("%s: %q after %s is %s, want %s", tt.zone, tt.table, tt.last, got.UTC().Format(time.RFC3339), tt.want)
		}
	}
}

// Through a year with changed clocks a daily time comes once a day.
func TestADailyTimeComesOnceADay(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Asuncion"} {
		for _, text := range []string{"30 2 * * *", "0 0 * * *", "59 23 * * *"} {
			table := must.Get(timetable.Parse(text))(t)
			when := at(t, zone, "2026-01-01 00:00")
			for range 365 {
				next, ok := table.Next(when)
				if gap := next.Sub(when); !ok || gap <= 0 || when.Year() == 2026 && when.YearDay() > 1 && (gap < 22*time.Hour || gap > 26*time.Hour) {
					t.Fatalf("%s: %q after %s is %s", zone, text, when, next)
				}
				when = next
			}
		}
	}
}

func TestOff(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"off", " OFF "} {
		table, err := timetable.Parse(text)
		if err != nil || !table.Off() {
			t.Errorf("%q: %v", text, err)
		}
		if _, ok := table.Next(time.Unix(0, 0)); ok {
			t.Errorf("%q has a time", text)
		}
	}
	if table, _ := timetable.Parse("1h"); table.Off() {
		t.Error("1h is off")
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", " ", "on", "daily", "0", "15", "59s", "-1h", "1x", "367d", "9000h", "1d-1h", "d", "400d400d", "600d", "9223372036854775807ns",
		"0 3 * *", "0 3 * * * *", "60 3 * * *", "0 24 * * *", "0 0 0 * *", "0 0 32 * *", "0 0 * 0 *", "0 0 * 13 *", "0 0 * * 8",
		"a 3 * * *", "-1 3 * * *", "+1 3 * * *", "1- 3 * * *", "5-1 3 * * *", "*/0 * * * *", "*/60 * * * *", "5/2 * * * *", "1,,2 * * * *", ", * * * *",
		"0 0 30 2 *", "0 0 31 apr,jun *", "0 0 * january *", "0 0 * * *-5", "** * * * *", "0001 * * * *", "*/*/2 * * * *",
		strings.Repeat("1,", 70) + "1 * * * *",
	} {
		if table, err := timetable.Parse(text); err == nil {
			next, ok := table.Next(time.Unix(0, 0).UTC())
			t.Errorf("%q passes: %s, %v", text, next, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"off", "15m", "1d12h", "0 3 * * *", "*/15 8-18 * jan-mar mon,wed", "0 0 29 2 *", "0 0 31 2 *"} {
		f.Add(s, int64(1_767_323_045))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		table, err := timetable.Parse(text)
		if err != nil {
			return
		}
		last := time.Unix(unix%(1<<32), 0).UTC()
		next, ok := table.Next(last)
		if ok == table.Off() || ok && !next.After(last) {
			t.Errorf("%q after %s is %s, %v", text, last, next, ok)
		}
	})
}
