package tui

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// maxShown bounds the text of one document, in bytes. The command that shows the whole is
// said where something is missing.
const maxShown = 256 << 10

// document is text for the detail pane, not yet wrapped.
type document []paragraph

// paragraph is text in one style.
type paragraph struct {
	style string // of cli: Bold, Dim, Amb; "": plain
	text  string // raw; drawn clean
}

func (d document) head(text string) document { return append(d, paragraph{cli.Bold, text}) }
func (d document) dim(text string) document  { return append(d, paragraph{cli.Dim, text}) }
func (d document) warn(text string) document { return append(d, paragraph{cli.Amb, text}) }
func (d document) text(text string) document { return append(d, paragraph{"", text}) }
func (d document) blank() document           { return append(d, paragraph{}) }

// fact is a labelled line where there is something to say.
func (d document) fact(label, value string) document {
	if value == "" {
		return d
	}
	return d.text(label + ": " + value)
}

// facts is one line of words.
func (d document) facts(words ...string) document {
	var said []string
	for _, w := range words {
		if w != "" {
			said = append(said, w)
		}
	}
	return d.dim(strings.Join(said, " · "))
}

// plain is the text of the document, as it was stored.
func (d document) plain() string {
	var b strings.Builder
	for _, p := range d {
		b.WriteString(p.text + "\n")
	}
	return b.String()
}

// line is a line of a frame: clean, and in one style.
type line struct{ style, text string }

// lay wraps the document to a width.
func (d document) lay(columns int) (lines []line) {
	left := maxShown
	for _, p := range d {
		text, missing := p.text, 0
		if len(text) > left {
			text, missing = text[:left], len(text)-left
		}
		left -= len(text)
		for part := range strings.SplitSeq(strings.TrimSuffix(clean(text), "\n"), "\n") {
			for _, w := range wrap(part, columns) {
				lines = append(lines, line{p.style, w})
			}
		}
		if missing > 0 {
			for _, w := range wrap(fmt.Sprintf("… %s more are not shown here; y copies the command that shows all", cli.ByteSize(int64(missing))), columns) {
				lines = append(lines, line{cli.Dim, w})
			}
			return lines
		}
	}
	return lines
}
