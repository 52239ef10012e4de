// Package lang says in which language a text is written: by its script, and in Latin letters by the words that sentences are
// held together with. It knows the languages of its word lists and those that have a script of their own.
package lang

import (
	"embed"
	"strings"
	"sync"
	"unicode"
)

// The word lists are files, one word a line, that a speaker of the language can extend.
//
//go:embed words/*.txt
var files embed.FS

// words has the languages of each word.
var words = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	entries, err := files.ReadDir("words")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, e := range entries {
		b, err := files.ReadFile("words/" + e.Name())
		if err != nil {
			panic(err)
		}
		for w := range strings.FieldsSeq(string(b)) {
			all[w] = append(all[w], strings.TrimSuffix(e.Name(), ".txt"))
		}
	}
	return all
})

// letters are those that few languages have, with these.
var letters = map[rune][]string{
	'ß': {"de"}, 'ä': {"de", "sv"}, 'ö': {"de", "sv", "tr"}, 'ü': {"de", "tr"}, 'ñ': {"es"}, '¿': {"es"}, '¡': {"es"}, 'ã': {"pt"}, 'õ': {"pt"},
	'é': {"es", "fr", "it", "pt"}, 'ó': {"es", "pl", "pt"}, 'á': {"es", "pt"}, 'í': {"es", "pt"}, 'ú': {"es", "pt"},
	'ç': {"fr", "pt", "tr"}, 'œ': {"fr"}, 'ê': {"fr", "pt"}, 'è': {"fr", "it"}, 'à': {"fr", "it", "pt"}, 'ù': {"fr", "it"}, 'ò': {"it"}, 'ì': {"it"},
	'ł': {"pl"}, 'ą': {"pl"}, 'ę': {"pl"}, 'ś': {"pl"}, 'ż': {"pl"}, 'ź': {"pl"}, 'ć': {"pl"}, 'ń': {"pl"}, 'ğ': {"tr"}, 'ş': {"tr"}, 'ı': {"tr"}, 'å': {"sv"},
}

// scripts are those that one language of ours is written in.
var scripts = []struct {
	table *unicode.RangeTable
	tag   string
}{
	{unicode.Hiragana, "ja"},
	{unicode.Katakana, "ja"},
	{unicode.Hangul, "ko"},
	{unicode.Thai, "th"},
	{unicode.Arabic, "ar"},
	{unicode.Cyrillic, "ru"},
	{unicode.Devanagari, "hi"},
	{unicode.Hebrew, "he"},
	{unicode.Greek, "el"},
	{unicode.Han, "zh"},
}

// names are those of languages in English.
var names = map[string]string{
	"ar": "Arabic", "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "id": "Indonesian",
	"it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ru": "Russian", "sv": "Swedish", "th": "Thai",
	"tr": "Turkish", "zh": "Chinese",
}

// Name returns what a language is called in English; its tag where that is not known.
func Name(tag string) string {
	if n, ok := names[tag]; ok {
		return n
	}
	return tag
}

// maxText is how much of a text is looked at.
const maxText = 2048

// Of returns the tag (BCP 47) of the language that a text is written in; "" where that cannot be seen, as of a name or a line
// of code.
func Of(text string) string {
	text = text[:min(len(text), maxText)]
	counts, latin := map[string]int{}, 0
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r):
		case unicode.Is(unicode.Latin, r):
			latin++
		default:
			for _, s := range scripts {
				if unicode.Is(s.table, r) {
					counts[s.tag]++
					break
				}
			}
		}
	}
	// A character of Chinese, Japanese or Korean says as much as a few letters, and names stay in Latin letters.
	if most, tag := best(counts); most > 0 && 3*most > latin {
		if tag == "zh" && 8*counts["ja"] > most {
			return "ja"
		}
		return tag
	}
	return ofWords(text)
}

// ofWords finds out the language of a text in Latin letters.
func ofWords(text string) string {
	scores, seen, all := map[string]int{}, map[string]int{}, words()
	for w := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && r != '¿' && r != '¡' }) {
		for _, tag := range all[w] {
			scores[tag] += 12 / min(len(all[w]), 4)
			seen[tag]++
		}
		for _, r := range w {
			for _, tag := range letters[r] {
				scores[tag] += 8 / len(letters[r])
				seen[tag]++
			}
		}
	}
	first, tag := best(scores)
	delete(scores, tag)
	// One small word is not enough for another language: "nas", "ten" and "in" are names, or English.
	if second, _ := best(scores); first < 6 || first == second || tag != "en" && seen[tag] < 2 {
		return ""
	}
	return tag
}

// best returns the tag with the highest count, the first by name among equals.
func best(counts map[string]int) (most int, tag string) {
	for t, n := range counts {
		if n > most || n == most && t < tag {
			most, tag = n, t
		}
	}
	return most, tag
}
