package search

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/amber-memory/amber/internal/recall/lang"
)

// A question may name the time it asks about: "what did we use in spring 2025". The files of
// times say how; questions in a language without a file are read as English.

// span is a time in milliseconds, its end left out; zero is none.
type span struct{ from, to int64 }

const oneDay = 24 * 60 * 60 * 1000

func (s span) has(at int64) bool { return s.from <= at && at < s.to }

// told widens a span to the time in which people speak about it: they do so until shortly after
// it, and days begin elsewhere at other times.
func (s span) told() span {
	if s == (span{}) {
		return s
	}
	return span{s.from - oneDay, s.to + oneDay + min(7*oneDay, (s.to-s.from)/4)}
}

// timed is the time that a question names.
type timed struct {
	span
	now  bool // it names none, but says that it asks about now
	past bool // or about what no longer holds
}

// readTime finds the time that a question names.
func readTime(question string, now int64) timed {
	tag := lang.Of(question)
	c := calendars()[tag]
	if c == nil {
		c = calendars()["en"]
	}
	got := c.readTime(question, now)
	for _, other := range slices.Sorted(maps.Keys(calendars())) {
		if got.span != (span{}) || tag != "" {
			break
		}
		got.span = calendars()[other].readTime(question, now).span // few words may be of any language
	}
	return got
}

// readTime finds the time that a question in a language names.
func (c *calendar) readTime(question string, now int64) timed {
	words := c.split(question)
	for i := range words {
		r := timeReader{calendar: c, words: words[i:], today: time.UnixMilli(now).UTC(), lead: c.joined}
		if from, to, ok := r.read(); ok {
			return timed{span: span{from.UnixMilli(), to.UnixMilli()}}
		}
	}
	text := " " + strings.Join(words, " ") + " "
	past := c.says(phrasePast, text) || c.ends(phrasePastEnd, text)
	return timed{now: !past && c.says(phraseNow, text), past: past}
}

// timeReader reads a time at the beginning of some words.
type timeReader struct {
	*calendar
	words []string
	at    int
	today time.Time

	lead             bool // "in", "during"
	last, this       bool
	day, month, year int
	season, weekday  int // from 1
}

func (r *timeReader) peek() string {
	if r.at == len(r.words) {
		return ""
	}
	return r.words[r.at]
}

// maxLead bounds the words before a time: "back in the late".
const maxLead = 5

// read returns the time, without its end.
func (r *timeReader) read() (from, to time.Time, ok bool) {
	for ; r.at < maxLead && (r.is(wordLead, r.peek()) || r.lead && r.is(wordPart, r.peek())); r.at++ {
		r.lead = true
	}
	for r.at < maxLead && r.is(wordEarly, r.peek()) {
		r.lead, r.at = true, r.at+1
	}
	r.turn()
	if from, to, ok = r.relative(); ok {
		return from, to, true
	}
	for r.take() {
	}
	r.turn()
	return r.named()
}

// turn reads "last" or "this".
func (r *timeReader) turn() {
	switch w := r.peek(); {
	case w == "":
	case r.is(wordLast, w):
		r.last, r.at = true, r.at+1
	case r.is(wordThis, w):
		r.this, r.at = true, r.at+1
	}
}

// relative reads "last month" and its like. A month or a season behind "last year" is of that year.
func (r *timeReader) relative() (from, to time.Time, ok bool) {
	y, m, d := r.today.Date()
	switch kind := r.unit(); kind {
	case spanYear:
		r.year, r.lead = y-1, true
		for r.is(wordFiller, r.peek()) || r.is(wordPart, r.peek()) || r.is(wordLead, r.peek()) {
			r.at++
		}
		for r.take() {
		}
		from, to, ok = r.named()
		return from, to, ok
	case spanMonth:
		return day(y, m-1, 1), day(y, m, 1), true
	case spanWeek:
		return day(y, m, d-13), day(y, m, d-6), true
	case spanYesterday:
		return day(y, m, d-1), day(y, m, d), true
	}
	return from, to, false
}

// unit reads what says how long ago, "" where nothing does.
func (r *timeReader) unit() string {
	for _, kind := range []string{spanYesterday, spanYear, spanMonth, spanWeek} {
		for phrase := range r.calendar.words[kind] {
			if n := len(strings.Fields(phrase)); r.at+n <= len(r.words) && strings.Join(r.words[r.at:r.at+n], " ") == phrase {
				r.at += n
				return kind
			}
		}
	}
	if w := r.peek(); r.last {
		for kind, whole := range map[string]string{wordYear: spanYear, wordMonthUnit: spanMonth, wordWeek: spanWeek} {
			if r.is(kind, w) {
				r.at++
				return whole
			}
		}
	}
	return ""
}

// take reads a word that names a day, a month, a season or a year.
func (r *timeReader) take() bool {
	w := r.peek()
	n, _ := strconv.Atoi(strings.TrimRight(w, ordinals))
	month, season := r.calendar.words[wordMonth][w], r.calendar.words[wordSeason][w]
	switch {
	case w == "":
		return false
	case month > 0 && r.month == 0 && r.season == 0:
		r.month = month
	case season != 0 && r.month == 0 && r.season == 0:
		r.season = season
	case r.is(wordWeekday, w) && r.weekday == 0:
		r.weekday = r.calendar.words[wordWeekday][w] + 1
	case n >= 1 && n <= 31 && r.day == 0 && r.season == 0 && (r.year == 0 || r.joined):
		r.day = n
	case n >= 1990 && n <= 2100 && r.year == 0:
		r.year = n
	case r.is(wordFiller, w) && (r.day > 0 || r.month > 0 || r.season > 0):
	default:
		return false
	}
	r.at++
	return true
}

// named returns the time that the words taken name. "May" and "fall" alone name none.
func (r *timeReader) named() (from, to time.Time, ok bool) {
	sure := r.lead && (!r.joined || r.season == 0) || r.last || r.this
	switch {
	case r.month > 0 && (sure || r.year != 0 || r.day != 0):
		if r.year == 0 {
			r.year = r.latest(time.Month(r.month))
		}
		if r.day == 0 {
			return day(r.year, time.Month(r.month), 1), day(r.year, time.Month(r.month)+1, 1), true
		}
		return day(r.year, time.Month(r.month), r.day), day(r.year, time.Month(r.month), r.day+1), true
	case r.month > 0 || r.day > 0:
		return from, to, false
	case r.season > 0 && (sure || r.year != 0):
		begin := time.Month(r.season)
		if r.year == 0 {
			r.year = r.latest(begin)
			if end := day(r.year, begin+3, 1); r.last && end.After(r.today) {
				r.year--
			}
		}
		return day(r.year, begin, 1), day(r.year, begin+3, 1), true
	case r.weekday > 0 && r.last:
		y, m, d := r.today.Date()
		ago := (int(r.today.Weekday()) - (r.weekday - 1) + 7) % 7
		if ago == 0 {
			ago = 7
		}
		return day(y, m, d-ago), day(y, m, d-ago+1), true
	case r.year != 0 && r.lead:
		return day(r.year, 1, 1), day(r.year+1, 1, 1), true
	}
	return from, to, false
}

// latest is the year of the last month of a name that has begun.
func (r *timeReader) latest(m time.Month) int {
	if y := r.today.Year(); !day(y, m, 1).After(r.today) {
		return y
	}
	return r.today.Year() - 1
}

func day(year int, month time.Month, d int) time.Time {
	return time.Date(year, month, d, 0, 0, 0, 0, time.UTC)
}
