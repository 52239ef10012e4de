package search

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/recall/lang"
)

const somebody = `(i|we|one|you|somebody|anybody|someone|anyone)\b`

// Some questions say what kind of memory answers them: "may I" asks for a constraint, "what
// went wrong" for a case. Those of other languages say it with the phrases of a file.
var kindsAsked = sync.OnceValue(func() []kindPattern {
	kind := func(k amber.MemoryKind, pattern string) kindPattern {
		return kindPattern{k, regexp.MustCompile(`(?i)` + pattern)}
	}
	return []kindPattern{
		kind(amber.Constraint, `(^|[,;:.?!] )(so |and |but )?(can|could|should|must|shall) `+somebody+`|\bmay (`+somebody+`|the|an?|it|they)\b`+
			`|\bdo (i|we) need\b|\b(allowed|forbidden|permitted|prohibited|permission|(all right|ok|okay) (to|if)|required|supposed to|have to|must|rules?|limit)\b`),
		kind(amber.HistoricalCase, `^why (did|was|were)|\b(went wrong|was wrong|happened|what (made|caused|broke)|ever|root cause)\b`),
		kind(amber.WorkflowInsight, `\bhow (do|can|should|does|would|to)\b|\b(procedure|steps|process)\b`),
		kind(amber.UserPreference, `\b(prefers?|likes?|wants?|favou?rite|style)\b`),
	}
})

type kindPattern struct {
	kind    amber.MemoryKind
	pattern *regexp.Regexp
}

// kindAsked returns the kind of memory that a question asks for, "" for any.
func kindAsked(question string) amber.MemoryKind {
	for _, k := range kindsAsked() {
		if k.pattern.MatchString(question) {
			return k.kind
		}
	}
	return kindIn(lang.Of(question), question)
}

// kindFiles has a file for each language but English: a kind and a phrase on each line.
//
//go:embed kinds/*.txt
var kindFiles embed.FS

type kindPhrase struct {
	kind   amber.MemoryKind
	phrase string
}

// kindPhrases are the lines of the files, by language.
var kindPhrases = sync.OnceValue(func() map[string][]kindPhrase {
	all := map[string][]kindPhrase{}
	entries, err := kindFiles.ReadDir("kinds")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, e := range entries {
		b, err := kindFiles.ReadFile("kinds/" + e.Name())
		if err != nil {
			panic(err)
		}
		tag := strings.TrimSuffix(e.Name(), ".txt")
		for line := range strings.Lines(string(b)) {
			if kind, phrase, ok := strings.Cut(strings.TrimSpace(line), " "); ok && kind != "#" {
				all[tag] = append(all[tag], kindPhrase{amber.MemoryKind(kind), folded(phrase)})
			}
		}
	}
	return all
})

// kindIn is kindAsked for a language with a file.
func kindIn(tag, question string) amber.MemoryKind {
	phrases := kindPhrases()[tag]
	if phrases == nil {
		return ""
	}
	text := folded(question)
	if !slices.Contains(joinedTags, tag) {
		text = " " + text + " "
	}
	for _, p := range phrases {
		phrase := p.phrase
		if !slices.Contains(joinedTags, tag) {
			phrase = " " + phrase + " "
		}
		if strings.Contains(text, phrase) {
			return p.kind
		}
	}
	return ""
}

// folded returns the words of a text in small letters without accents, with a space between two.
func folded(text string) string {
	return strings.Join(strings.FieldsFunc(analyze.Fold(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }), " ")
}
