package search

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// A question may name the time it asks about: "what did we use in spring 2025". English
// only; other questions ask about now.

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

var (
	leadWords  = map[string]bool{"in": true, "on": true, "at": true, "during": true, "since": true, "by": true, "until": true, "from": true, "of": true, "back": true, "before": true, "after": true}
	partWords  = map[string]bool{"the": true, "early": true, "late": true, "mid": true, "end": true, "beginning": true, "start": true, "middle": true}
	monthNames = []string{"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"}
	// seasons are the months they begin in.
	seasons   = map[string]time.Month{"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "q1": 1, "q2": 4, "q3": 7, "q4": 10}
	nowWords  = []string{"at the moment", "these days", "right now", "by now", "at present", "now", "nowadays", "today", "currently"}
	pastWords = []string{
		"i used to", "we used to", "you used to", "they used to", "it used to", "there used to", "use to", "originally", "formerly", "previously", "initially", "at first",
		"in the beginning", "back then", "in the past", "until recently",
	}
	pastEnds = []string{" before ", " earlier "}
)

// readTime finds the time that a question names.
func readTime(question string, now int64) timed {
	words := strings.Fields(question)
	for i := range words {
		r := timeReader{words: words[i:], today: time.UnixMilli(now).UTC()}
		if from, to, ok := r.read(); ok {
			return timed{span: span{from.UnixMilli(), to.UnixMilli()}}
		}
	}
	for i, w := range words {
		words[i] = bare(w)
	}
	text := " " + strings.Join(words, " ") + " "
	says := func(w string) bool { return strings.Contains(text, " "+w+" ") }
	past := slices.ContainsFunc(pastWords, says) || slices.ContainsFunc(pastEnds, func(w string) bool { return strings.HasSuffix(text, w) })
	return timed{now: !past && slices.ContainsFunc(nowWords, says), past: past}
}

func bare(word string) string { return strings.Trim(strings.ToLower(word), ".,;:!?'\"()") }

// timeReader reads a time at the beginning of some words.
type timeReader struct {
	words []string
	at    int
	today time.Time

	lead             bool // "in", "during"
	which            string
	day, month, year int
	season           string
}

func (r *timeReader) peek() string {
	if r.at == len(r.words) {
		return ""
	}
	return bare(r.words[r.at])
}

// maxLead bounds the words before a time: "back in the late".
const maxLead = 5

// read returns the time, without its end.
func (r *timeReader) read() (from, to time.Time, ok bool) {
	for ; r.at < maxLead && (leadWords[r.peek()] || r.lead && partWords[r.peek()]); r.at++ {
		r.lead = true
	}
	for _, part := range []string{"early", "late", "mid"} {
		if r.peek() == part {
			r.lead, r.at = true, r.at+1
		}
	}
	if w := r.peek(); w == "last" || w == "this" {
		r.which, r.at = w, r.at+1
	}
	if from, to, ok = r.relative(); ok {
		return from, to, true
	}
	for r.take() {
	}
	return r.named()
}

// relative reads "last month" and its like.
func (r *timeReader) relative() (from, to time.Time, ok bool) {
	if r.which != "last" {
		return
	}
	y, m, d := r.today.Date()
	switch r.peek() {
	case "year":
		from, to = day(y-1, 1, 1), day(y, 1, 1)
	case "month":
		from, to = day(y, m-1, 1), day(y, m, 1)
	case "week":
		from, to = day(y, m, d-13), day(y, m, d-6)
	default:
		return
	}
	r.at++
	return from, to, true
}

// take reads a word that names a day, a month, a season or a year.
func (r *timeReader) take() bool {
	w := r.peek()
	number, _ := strconv.Atoi(strings.TrimRight(w, "stndrh"))
	month := slices.IndexFunc(monthNames, func(m string) bool { return w == m || len(w) == 3 && w != "may" && strings.HasPrefix(m, w) }) + 1
	switch {
	case month > 0 && r.month == 0 && r.season == "":
		r.month = month
	case seasons[w] != 0 && r.month == 0 && r.season == "":
		r.season = w
	case number >= 1 && number <= 31 && r.day == 0 && r.season == "" && r.year == 0:
		r.day = number
	case number >= 1990 && number <= 2100 && r.year == 0:
		r.year = number
	default:
		return false
	}
	r.at++
	return true
}

// named returns the time that the words taken name. "May" and "fall" alone name none.
func (r *timeReader) named() (from, to time.Time, ok bool) {
	sure := r.lead || r.which != ""
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
	case r.season != "" && (sure || r.year != 0):
		begin := seasons[r.season]
		if r.year == 0 {
			r.year = r.latest(begin)
			if end := day(r.year, begin+3, 1); r.which == "last" && end.After(r.today) {
				r.year--
			}
		}
		return day(r.year, begin, 1), day(r.year, begin+3, 1), true
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
