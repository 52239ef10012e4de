package analyze

import (
	"strings"
	"sync"
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
