package search

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A question may ask what held at another time: "what did we use in spring 2025". English
// only; other questions ask about now.

var timeWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:(last|this|early|late|mid|end of|beginning of)[ -])?(?:(january|february|march|april|may|june|july|august|september|october|november|december|spring|summer|autumn|fall|winter|q[1-4])\b(?: of)?,?\s*)?(\b20\d\d\b)?`)
})

// lastMonth is the last month of a season or quarter, and the month of a month.
var lastMonth = map[string]time.Month{
	"january": 1, "february": 2, "march": 3, "april": 4, "may": 5, "june": 6, "july": 7, "august": 8, "september": 9, "october": 10,
	"november": 11, "december": 12, "spring": 5, "summer": 8, "autumn": 11, "fall": 11, "winter": 2, "q1": 3, "q2": 6, "q3": 9, "q4": 12,
}

// then returns the moment that a question asks about, in milliseconds: the end of the time
// that it names, 0 where it names none or one that is not over.
func then(question string, now int64) int64 {
	q := strings.ToLower(question)
	today := time.UnixMilli(now).UTC()
	switch {
	case strings.Contains(q, "last year"):
		return endOf(today.Year()-1, time.December, now)
	case strings.Contains(q, "last month"):
		return endOf(today.Year(), today.Month()-1, now)
	}
	for _, m := range timeWords().FindAllStringSubmatch(q, -1) {
		which, season, year := m[1], m[2], m[3]
		if season == "may" && which == "" && year == "" || season == "" && year == "" {
			continue // may be a verb
		}
		month := time.December
		if season != "" {
			month = lastMonth[season]
		}
		y, _ := strconv.Atoi(year)
		if year == "" {
			if which == "" && !strings.Contains(q, "in "+season) && !strings.Contains(q, "during "+season) && !strings.Contains(q, "back in "+season) {
				continue
			}
			if y = today.Year(); month > today.Month() || which == "last" && month >= today.Month() {
				y--
			}
		} else if season == "winter" {
			y++ // it ends in the next year
		}
		if at := endOf(y, month, now); at != 0 {
			return at
		}
	}
	return 0
}

// endOf is the end of a month, 0 where that is not over.
func endOf(year int, month time.Month, now int64) int64 {
	at := time.Date(year, month+1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - 1
	if at >= now {
		return 0
	}
	return at
}
