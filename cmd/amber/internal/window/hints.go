package window

import (
	"strings"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// hint is a key in the last line, and where it is.
type hint struct {
	x    int
	key  string
	text string
}

// always are the keys of every screen that the last line names.
var always = []string{"enter", "esc", "/", "y", ":", "?", "q"}

// hints are the keys that work now: those of the page first. A key that has no room is in the help.
func (sh *Shell) hints() (list []hint) {
	if sh.Over != nil || sh.Field != nil {
		return nil
	}
	const last = "? help"
	x := 0
	add := func(a Action) {
		text := a.key + " " + a.word
		if a.key == "?" || x+len(text)+3 > sh.Width-len(last) {
			return
		}
		list = append(list, hint{x, a.key, text})
		x += len(text) + 3
	}
	taken := map[string]bool{}
	for _, a := range sh.Page().Actions {
		if a.ready() {
			taken[a.key] = true
			add(a)
		}
	}
	for _, a := range sh.common() {
		for _, key := range always {
			if a.key == key && !taken[key] && a.ready() {
				add(a)
			}
		}
	}
	return append(list, hint{x, "?", last})
}

// drawHints draws the last line, by mode.
func (sh *Shell) drawHints() string {
	switch {
	case sh.Over != nil:
		return styled(cli.Dim, Cut(sh.Over.help(), sh.Width))
	case sh.Field != nil:
		return styled(cli.Dim, Cut(sh.Field.Help, sh.Width))
	}
	var words []string
	for _, h := range sh.hints() {
		words = append(words, h.text)
	}
	return styled(cli.Dim, Cut(strings.Join(words, " · "), sh.Width))
}
