package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber/internal/recall/analyze"
)

// otherDates returns for the words of the days that a question names the other ways to write them: 14 March is 2026-03-14 elsewhere.
func otherDates(question string) map[string][]string {
	words, _ := analyze.Split(question)
	out := map[string][]string{}
	for i := range words {
		if d, m, ok := dayAt(words, i); ok {
			day, month := dayNumber(words[d]), monthOf(words[m])
			out[words[d]] = others(words[d], strconv.Itoa(day), fmt.Sprintf("%02d", day))
			names := append(monthWords()[month], strconv.Itoa(month), fmt.Sprintf("%02d", month))
			out[words[m]] = others(words[m], names...)
		}
	}
	return out
}

// dayAt returns which word is the day and which the month of a date that begins at a word: 2026 03 14, 14 3 2026, 14 march, march 14.
func dayAt(words []string, i int) (d, m int, ok bool) {
	at := func(k int) string {
		if i+k < len(words) {
			return words[i+k]
		}
		return ""
	}
	isDay := func(w string) bool { n := dayNumber(w); return n >= 1 && n <= 31 && len(w) <= 4 }
	isMonth := func(w string) bool { n := dayNumber(w); return n >= 1 && n <= 12 && len(w) <= 2 }
	isYear := func(w string) bool { n := dayNumber(w); return len(w) == 4 && n >= 1990 && n <= 2100 }
	isName := func(w string) bool { return dayNumber(w) == 0 && monthOf(w) > 0 }
	switch {
	case isYear(at(0)) && isMonth(at(1)) && isDay(at(2)):
		return i + 2, i + 1, true
	case isDay(at(0)) && isMonth(at(1)) && isYear(at(2)):
		return i, i + 1, true
	case isDay(at(0)) && isName(at(1)):
		return i, i + 1, true
	case isDay(at(0)) && at(1) == "de" && isName(at(2)):
		return i, i + 2, true
	case isName(at(0)) && isDay(at(1)):
		return i + 1, i, true
	}
	return 0, 0, false
}

// dayNumber reads a number with the ending of an ordinal; 0 is none.
func dayNumber(word string) int {
	n, err := strconv.Atoi(strings.TrimRight(word, ordinals))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// ordinals are the letters that numbers of days end in.
const ordinals = "stndrheºª."

// monthOf returns the month that a folded word names in any language, or a number; 0 is none.
func monthOf(word string) int {
	if n := dayNumber(word); n >= 1 && n <= 12 {
		return n
	}
	for m, names := range monthWords() {
		if slices.Contains(names, word) {
			return m
		}
	}
	return 0
}

// others returns the distinct words but one.
func others(word string, all ...string) (out []string) {
	for _, o := range all {
		if o != word && !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}
