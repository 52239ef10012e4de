package timetable

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// cron holds the values of each field as bits.
type cron struct {
	minute, hour, dom, month, dow uint64
	anyDom, anyDow                bool // the field begins with "*"
}

// field says what may stand in one place.
type field struct {
	name     string
	low, top int
	names    []string // of the values from low
}

var fields = [5]field{
	{"minute", 0, 59, nil},
	{"hour", 0, 23, nil},
	{"day of the month", 1, 31, nil},
	{"month", 1, 12, []string{"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"}},
	{"day of the week", 0, 7, []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}},
}

func parseCron(text [5]string) (*cron, error) {
	var sets [5]uint64
	for i, f := range fields {
		set, err := f.parse(text[i])
		if err != nil {
			return nil, fmt.Errorf("the %s %w", f.name, err)
		}
		sets[i] = set
	}
	c := &cron{
		minute: sets[0], hour: sets[1], dom: sets[2], month: sets[3], dow: sets[4],
		anyDom: strings.HasPrefix(text[2], "*"), anyDow: strings.HasPrefix(text[4], "*"),
	}
	if c.dow&(1<<7) != 0 {
		c.dow |= 1 // Sunday
	}
	if _, ok := c.next(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)); !ok {
		return nil, errors.New("schedule never comes due: no month has that day")
	}
	return c, nil
}

// maxList bounds a field: no list that says something is as long.
const maxList = 64

func (f field) parse(text string) (set uint64, err error) {
	parts := strings.Split(text, ",")
	if len(parts) > maxList {
		return 0, fmt.Errorf("has more than %d parts", maxList)
	}
	for _, part := range parts {
		one, err := f.part(part)
		if err != nil {
			return 0, err
		}
		set |= one
	}
	return set, nil
}

// part reads "*", "5", "1-5", or a range with "/" and a step behind it.
func (f field) part(text string) (set uint64, err error) {
	span, stepText, stepped := strings.Cut(text, "/")
	low, top := f.low, f.top
	switch from, to, ranged := strings.Cut(span, "-"); {
	case span == "*":
		top = min(top, f.low+f.count()-1)
	case ranged:
		if low, err = f.value(from); err == nil {
			top, err = f.value(to)
		}
	case stepped:
		return 0, fmt.Errorf("has a step without a range")
	default:
		low, err = f.value(span)
		top = low
	}
	step := 1
	if err == nil && stepped {
		if step, err = number(stepText); err == nil && (step < 1 || step > f.top) {
			err = fmt.Errorf("has a step that is not from 1 to %d", f.top)
		}
	}
	if err == nil && low > top {
		err = fmt.Errorf("has a range that ends before it begins")
	}
	if err != nil {
		return 0, err
	}
	for v := low; v <= top; v += step {
		set |= 1 << v
	}
	return set, nil
}

// count is how many different values there are: Sunday has two numbers.
func (f field) count() int {
	if f.top == 7 {
		return 7
	}
	return f.top - f.low + 1
}

func (f field) value(text string) (int, error) {
	for i, name := range f.names {
		if text == name {
			return f.low + i, nil
		}
	}
	n, err := number(text)
	if err != nil || n < f.low || n > f.top {
		return 0, fmt.Errorf("is not from %d to %d", f.low, f.top)
	}
	return n, nil
}

// number reads at most two digits: strconv alone would also take signs.
func number(text string) (int, error) {
	if len(text) == 0 || len(text) > 2 || strings.Trim(text, "0123456789") != "" {
		return 0, fmt.Errorf("is not a number")
	}
	return strconv.Atoi(text)
}

func has(set uint64, v int) bool { return set&(1<<v) != 0 }

// maxDays is how far the next time may be: from one 29th of February to the
// next, where a century has none between, on a day of the week.
const maxDays = 366 * 41

// next returns the first time after last. It looks at one day after another, in
// the calendar of last's location.
func (c *cron) next(last time.Time) (time.Time, bool) {
	year, month, dayOfMonth := last.Date()
	for i := range maxDays {
		noon := time.Date(year, month, dayOfMonth+i, 12, 0, 0, 0, last.Location())
		if !c.matches(noon) {
			continue
		}
		if t, ok := c.within(noon, last); ok {
			return t, true
		}
	}
	return time.Time{}, false
}

// matches reports whether something happens on a day.
func (c *cron) matches(day time.Time) bool {
	if !has(c.month, int(day.Month())) {
		return false
	}
	dom, dow := has(c.dom, day.Day()), has(c.dow, int(day.Weekday()))
	if c.anyDom || c.anyDow {
		return dom && dow
	}
	return dom || dow
}

// within returns the first time of a day that is after last. Where clocks are
// changed the times of a day need not be in the order of their numbers.
func (c *cron) within(day, last time.Time) (first time.Time, found bool) {
	year, month, d := day.Date()
	for hours := c.hour; hours != 0; hours &= hours - 1 {
		for minutes := c.minute; minutes != 0; minutes &= minutes - 1 {
			t := time.Date(year, month, d, bits.TrailingZeros64(hours), bits.TrailingZeros64(minutes), 0, 0, day.Location())
			if t.After(last) && (!found || t.Before(first)) {
				first, found = t, true
			}
		}
	}
	return first, found
}
