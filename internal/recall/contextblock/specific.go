package contextblock

import (
	"strings"
	"sync"

	"github.com/amber-memory/amber/internal/recall/analyze"
)

// dialogue are words that people say to an agent in every project: what to do with what
// both see, and that it was done well. They name nothing that could be remembered. Stop
// words are not among them.
const dialogue = `
	yes yep yeah yup no nope not sure fine great good nice cool perfect right correct wrong exactly agreed sounds looks look seems
	go on ahead continue proceed next carry forward keep going resume back up down out off over now then later today soon
	do it make let get give take put try use need like come bring turn start stop wait begin end finish done ready
	run rerun execute test tests unit check verify build compile lint linter format reformat typecheck gofmt
	fix change update edit write rewrite rename refactor clean tidy add remove delete drop undo redo revert move copy replace insert apply
	commit push pull merge rebase stage branch diff patch pr review message changes
	show print display list open close read view see find search explain describe summarize summarise repeat
	file files line lines code function functions method variable variables class folder directory terminal editor window tab output
	last first second previous same new old other all every everything whole rest only everyone
	time moment minute while lunch morning tomorrow before after without until
	work works working help question questions answer idea way lot bit please thanks thank sorry welcome cheers
	double compare result string sort import imports regex comment typo newline whitespace heading
	short shorter simple simpler better again once more less mean means meaning word words name two three few many
	must never always may
`

var dialogueStems = sync.OnceValue(func() map[string]bool {
	stems := map[string]bool{}
	for w := range strings.FieldsSeq(dialogue) {
		stems[analyze.Stem(w)] = true
	}
	return stems
})

// specific counts the words of a text that name something, each once.
func specific(text string) int {
	seen := map[string]bool{}
	for _, w := range analyze.Content(text) {
		if len(w) > 1 && !dialogueStems()[w] {
			seen[w] = true
		}
	}
	return len(seen)
}

// asks reports whether a text asks for something by one of the words that questions begin
// with, and has at least two others: "which Go does the build need?".
func asks(text string) bool {
	first, rest, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	switch first {
	case "what", "which", "why", "how", "when", "where", "who", "whose":
		return len(analyze.Content(rest)) >= enoughNames
	}
	return false
}
