package digest

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// phrases has a file for each list of cues: a weight and a phrase on each line, and comments behind #.
//
//go:embed cues/*.txt cues/in/*.txt
var phrases embed.FS

// cues are phrases in lower case with what each is worth. Where several begin with
// the same word the longest counts.
type cues struct {
	name  string
	first func() map[string][]cue // made when it is needed: most processes make no digest
}

type cue struct {
	words  []string
	weight float64
}

// cuesOf returns the cues of a file of this package, which must be one.
func cuesOf(name string) cues {
	return cues{name, sync.OnceValue(func() map[string][]cue {
		first, err := readCues(phrases, "cues/"+name+".txt")
		if err != nil {
			panic(err)
		}
		return first
	})}
}

// readCues reads a list of cues, each under its first word.
func readCues(files fs.FS, file string) (map[string][]cue, error) {
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, err
	}
	first, met := map[string][]cue{}, map[string]bool{}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		weight, err := strconv.ParseFloat(words[0], 64)
		if words = words[1:]; err != nil || len(words) == 0 {
			return nil, fmt.Errorf("line %d of %s is %q, want a weight and a phrase", n, file, line)
		}
		if phrase := strings.Join(words, " "); met[phrase] {
			return nil, fmt.Errorf("line %d of %s has the phrase %q, which is in the file already", n, file, phrase)
		}
		met[strings.Join(words, " ")] = true
		first[words[0]] = append(first[words[0]], cue{words, weight})
	}
	return first, nil
}

// score adds up the phrases that occur in the words of a sentence, each once: those of English, and of the other languages that
// a session is held in.
func (c cues) score(words []string, tongues ...string) float64 {
	sum, first := 0.0, []map[string][]cue{c.first()}
	seen := map[string]bool{}
	for _, tag := range tongues {
		if joinedTongues[tag] {
			sum += c.within(words, tag)
		} else if of := tonguesOf()[tag][c.name]; of != nil {
			first = append(first, of)
		}
	}
	for i := 0; i < len(words); {
		best := cue{}
		for _, of := range first {
			for _, q := range of[words[i]] {
				if len(q.words) > len(best.words) && begins(words[i:], q.words) {
					best = q
				}
			}
		}
		if len(best.words) == 0 {
			i++
			continue
		}
		if key := strings.Join(best.words, " "); !seen[key] {
			seen[key] = true
			sum += best.weight
		}
		i += len(best.words)
	}
	return sum
}

func begins(words, phrase []string) bool {
	if len(words) < len(phrase) {
		return false
	}
	for i, w := range phrase {
		if words[i] != w {
			return false
		}
	}
	return true
}

// joinedTongues are the languages that are written without spaces: their phrases are looked for inside of words.
var joinedTongues = map[string]bool{"ja": true, "zh": true}

// within is score for a language without spaces. A phrase inside a longer one that is there does not count.
func (c cues) within(words []string, tag string) (sum float64) {
	text := strings.Join(words, " ")
	var found []cue
	for _, of := range tonguesOf()[tag][c.name] {
		for _, q := range of {
			if strings.Contains(text, q.words[0]) {
				found = append(found, q)
			}
		}
	}
	slices.SortFunc(found, func(a, b cue) int {
		return cmp.Or(len(b.words[0])-len(a.words[0]), strings.Compare(a.words[0], b.words[0]))
	})
	for i, q := range found {
		if !slices.ContainsFunc(found[:i], func(l cue) bool { return strings.Contains(l.words[0], q.words[0]) }) {
			sum += q.weight
		}
	}
	return sum
}

// tonguesOf has the cues of the languages that have a file in cues/in, by language and list. Each line has the name of a list, a
// weight and a phrase.
var tonguesOf = sync.OnceValue(func() map[string]map[string]map[string][]cue {
	all := map[string]map[string]map[string][]cue{}
	files, err := fs.Glob(phrases, "cues/in/*.txt")
	if err != nil {
		panic(err)
	}
	for _, file := range files {
		tag := strings.TrimSuffix(path.Base(file), ".txt")
		text, err := fs.ReadFile(phrases, file)
		if err == nil {
			all[tag], err = readTongue(file, string(text))
		}
		if err != nil {
			panic(err)
		}
	}
	return all
})

// readTongue reads the cues of a language: all lists, each phrase under its first word.
func readTongue(file, text string) (map[string]map[string][]cue, error) {
	lists, met := map[string]map[string][]cue{}, map[string]bool{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] == "#" {
			continue
		}
		if len(fields) < 3 {
			return nil, fmt.Errorf("line %d of %s is %q, want a list, a weight and a phrase", n, file, line)
		}
		weight, err := strconv.ParseFloat(fields[1], 64)
		if err != nil {
			return nil, fmt.Errorf("line %d of %s is %q, want a list, a weight and a phrase", n, file, line)
		}
		list, phrase := fields[0], fields[2:]
		key := list + " " + strings.Join(phrase, " ")
		if met[key] {
			return nil, fmt.Errorf("line %d of %s has %q, which is in the file already", n, file, key)
		}
		met[key] = true
		if lists[list] == nil {
			lists[list] = map[string][]cue{}
		}
		lists[list][phrase[0]] = append(lists[list][phrase[0]], cue{phrase, weight})
	}
	return lists, nil
}

// words returns the words of a text in lower case, without what is in back quotes.
func words(text string) []string {
	var b strings.Builder
	isQuoted := quoting(text)
	for _, r := range text {
		switch quoted := isQuoted(r); {
		case r == '`':
			b.WriteByte(' ')
		case quoted:
		case r == '’':
			b.WriteByte('\'')
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
}

// Cues of the user's wishes: rules that hold, and how things are to be done.
var (
	constraints = cuesOf("constraints")
	preferences = cuesOf("preferences")
)

// Cues of the assistant's proposals and of the user's choices.
var (
	decisions  = cuesOf("decisions")
	choices    = cuesOf("choices")
	consents   = cues{"agreements", func() map[string][]cue { return nil }} // of other languages
	agreements = []string{
		"agreed", "agree", "ok", "okay", "yes", "yep", "yeah", "go", "do it", "sounds good", "good", "great", "perfect",
		"makes sense", "fine", "sure", "nice", "let's do", "please do", "right", "exactly", "no i agree", "works", "lgtm",
		"approved", "ship it", "very nice", "excellent",
	}
)

// Cues of a failure, and of what mended it.
var (
	causes   = cuesOf("causes")
	problems = cuesOf("problems")
)

// Cues of work that is left.
var (
	unfinished = cuesOf("unfinished")
	closing    = cuesOf("closing")
	outcomes   = cuesOf("outcomes")
	asksHow    = cuesOf("asks-how")
)
