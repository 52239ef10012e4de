package analyze

import (
	"cmp"
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// endingFiles has a file of endings for each language but English, one a line, in letters without accents.
//
//go:embed endings/*.txt
var endingFiles embed.FS

// Endings are the endings of the words of a language, the longest first. A word is told by what is before its ending.
type Endings []string

// leastStem is the length of the shortest stem of a language, 3 letters.
const leastStem = 3

var allEndings = sync.OnceValue(func() map[string]Endings {
	all := map[string]Endings{}
	for tag, lines := range linesOf(endingFiles, "endings") {
		e := Endings{}
		for _, l := range lines {
			e = append(e, Fold(l))
		}
		slices.SortFunc(e, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		all[tag] = e
	}
	return all
})

// EndingsOf returns the endings of a language (BCP 47); nil where none are known, and for English, whose stems the index has.
func EndingsOf(tag string) Endings { return allEndings()[tag] }

// Stem returns what is before the ending of a folded word, "" where the word is too short or no word.
func (e Endings) Stem(word string) string {
	if strings.ContainsAny(word, "0123456789") || utf8.RuneCountInString(word) < leastStem {
		return ""
	}
	for _, end := range e {
		if rest, ok := strings.CutSuffix(word, end); ok && utf8.RuneCountInString(rest) >= leastStem {
			return rest
		}
	}
	return word
}

// Links are what may stand between the words of a compound.
func (e Endings) Links() []string {
	links := []string{""}
	for _, l := range []string{"s", "n", "en", "es"} {
		if slices.Contains(e, l) {
			links = append(links, l)
		}
	}
	return links
}

// linesOf returns the lines of each file of a folder, under the name of the file. Comments begin with #.
func linesOf(files embed.FS, folder string) map[string][]string {
	all := map[string][]string{}
	entries, err := files.ReadDir(folder)
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, entry := range entries {
		b, err := files.ReadFile(folder + "/" + entry.Name())
		if err != nil {
			panic(err)
		}
		tag := strings.TrimSuffix(entry.Name(), ".txt")
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				all[tag] = append(all[tag], line)
			}
		}
	}
	return all
}
