package search

import (
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/recall/analyze"
)

// timeFiles has a file for each language: a kind, a number where the kind has one, and a word or phrase on each line.
//
//go:embed times/*.txt
var timeFiles embed.FS

// calendar is how times are named in a language. Words are in small letters without accents.
type calendar struct {
	words   map[string]map[string]int // by kind: the number of a word, 1 where the kind has none
	phrases []string                  // of a language without spaces: all of them, the longest first
	joined  bool                      // the language is written without spaces
}

// The kinds of words of a calendar.
const (
	wordMonth, wordSeason, wordWeekday           = "month", "season", "weekday"      // with a number: of the month, the month that begins it, the day from Sunday as 0
	wordLead, wordPart, wordEarly, wordFiller    = "lead", "part", "early", "filler" // in; the end of; early; of
	wordLast, wordThis                           = "last", "this"
	wordYear, wordMonthUnit, wordWeek            = "year", "month-unit", "week"
	spanYesterday, spanYear, spanMonth, spanWeek = "yesterday", "last-year", "last-month", "last-week"
	phraseNow, phrasePast, phrasePastEnd         = "now", "past", "past-end"
)

// joinedTags are the languages that are written without spaces.
var joinedTags = []string{"ja", "zh"}

var calendars = sync.OnceValue(func() map[string]*calendar {
	all := map[string]*calendar{}
	entries, err := timeFiles.ReadDir("times")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, e := range entries {
		tag := strings.TrimSuffix(e.Name(), ".txt")
		b, err := timeFiles.ReadFile("times/" + e.Name())
		if err == nil {
			all[tag], err = readCalendar(string(b), slices.Contains(joinedTags, tag))
		}
		if err != nil {
			panic(fmt.Errorf("times/%s: %w", e.Name(), err))
		}
	}
	return all
})

// readCalendar reads the lines of a file.
func readCalendar(text string, joined bool) (*calendar, error) {
	c := &calendar{words: map[string]map[string]int{}, joined: joined}
	for line := range strings.Lines(text) {
		kind, phrase, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == "" || kind == "#" {
			continue
		}
		n := 1
		if kind == wordMonth || kind == wordSeason || kind == wordWeekday {
			first, rest, _ := strings.Cut(phrase, " ")
			var err error
			if n, err = strconv.Atoi(first); err != nil {
				return nil, fmt.Errorf("line %q has no number", line)
			}
			phrase = rest
		}
		if phrase == "" {
			return nil, fmt.Errorf("line %q has no phrase", line)
		}
		if c.words[kind] == nil {
			c.words[kind] = map[string]int{}
		}
		phrase = strings.Join(plainWords(phrase), " ")
		c.words[kind][phrase] = n
		c.phrases = append(c.phrases, phrase)
	}
	slices.SortStableFunc(c.phrases, func(a, b string) int { return len(b) - len(a) })
	return c, nil
}

// is reports whether a word or phrase is of a kind.
func (c *calendar) is(kind, word string) bool {
	_, ok := c.words[kind][word]
	return ok
}

// says reports whether a text of words with a space around each has a phrase of a kind.
func (c *calendar) says(kind, text string) bool {
	for phrase := range c.words[kind] {
		if c.joined && strings.Contains(strings.ReplaceAll(text, " ", ""), phrase) || strings.Contains(text, " "+phrase+" ") {
			return true
		}
	}
	return false
}

// ends reports whether it ends in one.
func (c *calendar) ends(kind, text string) bool {
	for phrase := range c.words[kind] {
		if strings.HasSuffix(text, " "+phrase+" ") {
			return true
		}
	}
	return false
}

// split returns the words of a text, bare; those of a language without spaces are the phrases of the calendar, numbers, and
// single characters.
func (c *calendar) split(text string) (out []string) {
	if !c.joined {
		return plainWords(text)
	}
	text = strings.Join(plainWords(text), " ")
	for i := 0; i < len(text); {
		size := 0
		if at := countedTime.FindStringSubmatchIndex(text[i:]); at != nil {
			out, size = append(out, text[i:i+at[3]]), at[1]
		}
		for _, p := range c.phrases {
			if strings.HasPrefix(text[i:], p) && len(p) > size {
				out, size = append(out, p), len(p)
				break
			}
		}
		if size == 0 {
			_, size = utf8.DecodeRuneInString(text[i:])
			out = append(out, text[i:i+size])
		}
		i += size
	}
	return out
}

// countedTime is a year or a day in Chinese and Japanese.
var countedTime = regexp.MustCompile(`^(\d{1,4})[年日号號]`)

// plainWords returns the words of a text in small letters without accents, and without what is around them. An apostrophe ends
// a word.
func plainWords(text string) []string {
	text = strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(text), "’", "'"), "'", "' ")
	words := strings.Fields(text)
	for i, w := range words {
		words[i] = analyze.Fold(bare(w))
	}
	return words
}

func bare(word string) string {
	return strings.Trim(word, ".,;:!?'\"()¿¡«»„“”？。、，！")
}

// monthWords are the names of each month in every language, from 1.
var monthWords = sync.OnceValue(func() map[int][]string {
	all := map[int][]string{}
	for _, c := range calendars() {
		for w, n := range c.words[wordMonth] {
			if !strings.ContainsAny(w, "0123456789") && !c.joined && !slices.Contains(all[n], w) {
				all[n] = append(all[n], w)
			}
		}
	}
	for _, names := range all {
		slices.Sort(names)
	}
	return all
})
