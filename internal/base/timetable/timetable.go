// Package timetable says when something that happens again and again happens
// next: every so often, or at times of the calendar.
package timetable

import (
	"errors"
	"strings"
	"time"
)

// The bounds of a table that is an interval.
const (
	Least = time.Minute
	Most  = 366 * 24 * time.Hour
)

// Off is the text of the table without any time.
const Off = "off"

// Table says when something happens. The zero Table is off. Its times are in
// the location of the time that the caller passes.
type Table struct {
	every time.Duration
	cron  *cron
}

// Parse reads a table:
//
//	off           never
//	every text    "15m", "6h", "1d", "1d12h": so long after the last time
//	five fields   minute, hour, day of the month, month, day of the week, as in cron
//
// A field is "*", a number, a range "1-5", either with a step, "*/15" and
// "8-18/2", or a list of these with commas. Months and days of the week may be
// named by their first three letters; Sunday is 0 and 7. Where both the day of
// the month and the day of the week are restricted, one of them is enough. The
// error tells nothing about the text.
func Parse(text string) (Table, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	switch fields := strings.Fields(text); {
	case text == Off:
		return Table{}, nil
	case len(fields) == 5:
		c, err := parseCron([5]string(fields))
		return Table{cron: c}, err
	case len(fields) != 1:
		return Table{}, errForm
	}
	d, err := parseInterval(text)
	return Table{every: d}, err
}

var errForm = errors.New(`schedule is not valid: want off, an interval such as 15m or 6h, or the five fields of cron, such as "0 3 * * *"`)

// Off reports whether the table has no times.
func (t Table) Off() bool { return t.every == 0 && t.cron == nil }

// Next returns the first time after last; false when there is none.
//
// A time of the calendar that clocks skip that day, because summer time begins,
// is moved to one beside the gap, and one that they show twice counts once.
func (t Table) Next(last time.Time) (time.Time, bool) {
	switch {
	case t.every > 0:
		return last.Add(t.every), true
	case t.cron != nil:
		return t.cron.next(last)
	}
	return time.Time{}, false
}
