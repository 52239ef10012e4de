package window

import (
	"fmt"
	"strings"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// MaxShown bounds the text of one document, in bytes. The command that shows the whole is
// said where something is missing.
const MaxShown = 256 << 10

// Document is text for the detail pane, not yet wrapped.
type Document []paragraph

// paragraph is text in one style.
type paragraph struct {
	style string // of cli: Bold, Dim, Amb; "": plain
	text  string // raw; drawn clean
}

// Head adds text that stands out.
func (d Document) Head(text string) Document { return append(d, paragraph{cli.Bold, text}) }

// Dim adds text beside the matter.
func (d Document) Dim(text string) Document { return append(d, paragraph{cli.Dim, text}) }

// Warn adds text about something wrong.
func (d Document) Warn(text string) Document { return append(d, paragraph{cli.Amb, text}) }

// Text adds text, as it was stored.
func (d Document) Text(text string) Document { return append(d, paragraph{"", text}) }

// Blank adds an empty line.
func (d Document) Blank() Document { return append(d, paragraph{}) }

// Fact is a labelled line where there is something to say.
func (d Document) Fact(label, value string) Document {
	if value == "" {
		return d
	}
	return d.Text(label + ": " + value)
}

// Facts is one line of words.
func (d Document) Facts(words ...string) Document {
	var said []string
	for _, w := range words {
		if w != "" {
			said = append(said, w)
		}
	}
	return d.Dim(strings.Join(said, " · "))
}

// Plain is the text of the document, as it was stored.
func (d Document) Plain() string {
	var b strings.Builder
	for _, p := range d {
		b.WriteString(p.text + "\n")
	}
	return b.String()
}

// line is a line of a frame: clean, and in one style.
type line struct{ style, text string }

// lay wraps the document to a width.
func (d Document) lay(columns int) (lines []line) {
	left := MaxShown
	for _, p := range d {
		text, missing := p.text, 0
		if len(text) > left {
			text, missing = text[:left], len(text)-left
		}
		left -= len(text)
		for part := range strings.SplitSeq(strings.TrimSuffix(Clean(text), "\n"), "\n") {
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
