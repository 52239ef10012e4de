package contextblock

import (
	"embed"
	"path"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// asksFiles are phrases of questions about earlier work: a file for each language, a phrase on each line.
//
//go:embed asks/*.txt
var asksFiles embed.FS

var asksPhrases = sync.OnceValue(func() (all []string) {
	files, err := asksFiles.ReadDir("asks")
	if err != nil {
		panic("contextblock: " + err.Error()) // the files are in the program
	}
	for _, f := range files {
		text, err := asksFiles.ReadFile(path.Join("asks", f.Name()))
		if err != nil {
			panic("contextblock: " + err.Error())
		}
		for line := range strings.Lines(string(text)) {
			if line = strings.TrimSpace(line); line != "" {
				all = append(all, line)
			}
		}
	}
	return all
})

// maxAsking is how long a prompt may be that asks: a longer one is a task with a question in it.
const maxAsking = 400

// asksEarlier reports whether a prompt asks about earlier work: it has a phrase that such questions have, or a question mark
// and the name of the project.
func asksEarlier(text, project string) bool {
	if len(text) > maxAsking {
		return false
	}
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	for _, p := range asksPhrases() {
		if hasPhrase(text, p) {
			return true
		}
	}
	name := strings.ToLower(path.Base(project))
	return len(name) > 2 && project != "" && strings.ContainsAny(text, "?？") && hasPhrase(text, name)
}

// hasPhrase reports whether a text has a phrase as whole words; of a script without spaces, at any place.
func hasPhrase(text, phrase string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		begin := from + i
		end := begin + len(phrase)
		before, _ := utf8.DecodeLastRuneInString(text[:begin])
		after, _ := utf8.DecodeRuneInString(text[end:])
		first, _ := utf8.DecodeRuneInString(phrase)
		if unicode.In(first, unicode.Han, unicode.Hiragana, unicode.Katakana) || !inWord(before) && !inWord(after) {
			return true
		}
		from = end
	}
}

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// onlyAsks reports whether a text says nothing that could answer a question: each of its lines asks, or names nothing.
func onlyAsks(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); !strings.HasSuffix(line, "?") && !strings.HasSuffix(line, "？") && specific(line) > 0 {
			return false
		}
	}
	return true
}

// isEvidence reports whether a hit may answer: a question that nothing answered, and words that name nothing, may not.
func (b *builder) isEvidence(said string, h amber.Hit, answer func() (string, error)) (bool, error) {
	derived := h.Trust == amber.TrustDerived && (h.Layer == amber.LayerMemory || h.Layer == "")
	if h.Layer != amber.LayerExchange && h.Layer != amber.LayerSession && !derived || !onlyAsks(said) {
		return true, nil
	}
	if h.Layer != amber.LayerExchange || h.Role != amber.RoleUser {
		return false, nil
	}
	text, err := answer()
	return !onlyAsks(text), err
}
