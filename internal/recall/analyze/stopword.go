package analyze

import (
	"cmp"
	"embed"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// stopWords are English function words and the fillers of questions. Words that
// a person may look for are not among them: negations (not, no, never,
// without), order and place (before, after, off, up, down), duty (must, always,
// only), and words that name things to developers (go, use, set, get, make,
// run).
var stopWords = sync.OnceValue(func() map[string]bool {
	return wordSet(functionWords)
})

const functionWords = `
	a an the
	i me my mine myself we us our ours ourselves you your yours yourself yourselves
	he him his himself she her hers herself it its itself they them their theirs themselves one ones
	this that these those here there
	who whom whose what which when where why how whatever whichever whoever whether
	am is are was were be been being
	have has had having do does did doing
	can could will would shall should may might
	isn aren wasn weren hasn haven hadn doesn didn don couldn wouldn shouldn ain
	s t ll ve
	and or but nor so yet if then than because although though while as
	of to in on at by for from with into onto upon about within toward towards via per
	some any such both either neither each other others another else
	much many more most few several
	also too very just quite rather really actually basically again already ever even still maybe perhaps
	going please tell know want wanted wants say said says think thought
	ok okay hi hey thanks thank
	something anything someone anyone somebody anybody thing things stuff
	regarding concerning
`

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

func isStopWord(folded string) bool { return stopWords()[folded] }

// stopFiles has a file for each language but English, one word a line. Those of scripts without spaces have phrases of questions.
//
//go:embed stop/*.txt
var stopFiles embed.FS

// stopLists are the words of the files, folded, by the language.
var stopLists = sync.OnceValue(func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for tag, lines := range linesOf(stopFiles, "stop") {
		all[tag] = map[string]bool{}
		for _, l := range lines {
			words, runs := Split(l)
			for _, w := range slices.Concat(words, runs) {
				all[tag][w] = true
			}
		}
	}
	return all
})

// isStopIn reports whether a folded word says nothing in a text of a language: English words do so in every text.
func isStopIn(tag, folded string) bool { return isStopWord(folded) || stopLists()[tag][folded] }

// stopPhrases are the phrases of a script without spaces, the longest first.
var stopPhrases = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, tag := range []string{"ja", "ko", "zh"} {
		for phrase := range stopLists()[tag] {
			all[tag] = append(all[tag], phrase)
		}
		slices.SortFunc(all[tag], func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	}
	return all
})

// withoutPhrases takes the phrases that questions are made of out of the runs of a question. Where nothing else is left they stay.
func withoutPhrases(tag string, runs []string) []string {
	phrases := stopPhrases()[tag]
	if phrases == nil {
		return runs
	}
	var left []string
	for _, run := range runs {
		begin := 0
		keep := func(end int) {
			if part := run[begin:end]; utf8.RuneCountInString(part) > 1 || part == run {
				left = append(left, part)
			}
		}
		for i := 0; i < len(run); {
			k := slices.IndexFunc(phrases, func(p string) bool { return strings.HasPrefix(run[i:], p) })
			if k < 0 {
				_, size := utf8.DecodeRuneInString(run[i:])
				i += size
				continue
			}
			keep(i)
			i += len(phrases[k])
			begin = i
		}
		keep(len(run))
	}
	if len(left) == 0 {
		return runs
	}
	return left
}
