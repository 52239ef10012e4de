package search

import (
	"cmp"
	"path"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// maxSections bounds the sections of one note; the last one has the rest.
const maxSections = 500

// maxHeading bounds a heading with those above it, in bytes.
const maxHeading = 400

// NotePart is a passage of a note: a section, or a part of a long one.
type NotePart struct {
	Title string // the headings above it, outermost first; without any, the name of the note
	Text  string
}

// headings joins the headings above a section.
const headings = " / "

// OfNote returns the passages of a note, which every project sees.
func OfNote(n amber.Note) (out []Text) {
	all := facets(SourceNote, amber.ScopeGlobal, "", noteTrust(n))
	for i, p := range NoteParts(n.Name, n.Content) {
		out = append(out, Text{
			Passage: Passage{Source: SourceNote, Owner: n.Name, Part: i, At: n.UpdatedAt.UnixMilli()},
			Fields:  []Field{{p.Title, titleWeight}, {n.Name, tagWeight}, {p.Text, 1}},
			Facets:  all, Meant: joined(p.Title, p.Text),
		})
	}
	return out
}

// NoteParts cuts the text of a note at its headings, and long sections as every text is cut. A
// heading in a code block is none. A section without a text of its own is part of the title of
// those below it.
func NoteParts(name, content string) (out []NotePart) {
	for _, s := range sections(content) {
		title := strings.Join(s.above, headings)
		if title == "" {
			title = path.Base(name)
		}
		for _, part := range Cut(s.text) {
			out = append(out, NotePart{title, part})
		}
	}
	return out
}

// NoteHits are what questions that find the parts of a note are told.
func NoteHits(n amber.Note) (hits []amber.Hit) {
	for _, p := range NoteParts(n.Name, n.Content) {
		hits = append(hits, amber.Hit{
			Title: p.Title, Content: p.Text, Scope: amber.ScopeGlobal, Trust: noteTrust(n), CreatedAt: n.UpdatedAt, UpdatedAt: n.UpdatedAt,
		})
	}
	return hits
}

// noteTrust is how far a note may be believed: as far as the author of its last change.
func noteTrust(n amber.Note) amber.Trust { return cmp.Or(n.Trust, amber.TrustOwn) }

// section is a stretch of a note below a heading.
type section struct {
	above []string // headings, outermost first
	text  string
}

// outline takes a note apart line by line.
type outline struct {
	out    []section
	levels []int
	above  []string
	lines  []string
	fence  string // what ends the code block; "" outside
	front  bool   // in the block of settings at the very beginning
}

func sections(content string) []section {
	o := &outline{}
	first := strings.Contains(content, "\n---")
	for line := range strings.Lines(content) {
		o.line(strings.TrimRight(line, "\r\n"), first)
		first = false
	}
	o.end(0)
	return o.out
}

func (o *outline) line(line string, first bool) {
	bare := strings.TrimSpace(line)
	switch {
	case first && bare == "---":
		o.front = true
	case o.front:
		if o.front = bare != "---"; o.front {
			o.lines = append(o.lines, line)
		}
		return
	case o.fence != "":
		if closes(bare, o.fence) {
			o.fence = ""
		}
	case strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~"):
		o.fence = bare[:len(bare)-len(strings.TrimLeft(bare, bare[:1]))]
	default:
		if level, title := heading(line); level > 0 && len(o.out) < maxSections {
			o.begin(level, title)
			return
		}
		if level := underline(bare); level > 0 && o.underlined() && len(o.out) < maxSections {
			title := o.lines[len(o.lines)-1]
			o.lines = o.lines[:len(o.lines)-1]
			o.begin(level, strings.TrimSpace(title))
			return
		}
	}
	if !o.front {
		o.lines = append(o.lines, line)
	}
}

// closes reports whether a line ends a code block.
func closes(bare, fence string) bool {
	return strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == ""
}

// heading returns the level of a line that begins with number signs, 0 for others.
func heading(line string) (level int, title string) {
	bare := strings.TrimLeft(line, " ")
	if len(line)-len(bare) > 3 {
		return 0, "" // code
	}
	rest := strings.TrimLeft(bare, "#")
	level = len(bare) - len(rest)
	if level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	return level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(rest), "#"))
}

// underline returns the level of the heading that a line of dashes or equal signs makes of the
// line before it.
func underline(bare string) int {
	switch {
	case len(bare) < 3:
	case strings.Trim(bare, "=") == "":
		return 1
	case strings.Trim(bare, "-") == "":
		return 2
	}
	return 0
}

// underlined reports whether the line before can be a heading: a line of text that stands alone.
func (o *outline) underlined() bool {
	n := len(o.lines)
	if n == 0 || n > 1 && strings.TrimSpace(o.lines[n-2]) != "" {
		return false
	}
	bare := strings.TrimSpace(o.lines[n-1])
	return bare != "" && !strings.ContainsAny(bare[:1], "-*+>|#")
}

// begin ends the section before a heading.
func (o *outline) begin(level int, title string) {
	o.end(level)
	for len(o.levels) > 0 && o.levels[len(o.levels)-1] >= level {
		o.levels, o.above = o.levels[:len(o.levels)-1], o.above[:len(o.above)-1]
	}
	o.levels, o.above = append(o.levels, level), append(o.above, clip.Bytes(title, maxHeading/2))
}

// end keeps the section that was read, where it says something: one without a text does when
// nothing below it repeats its heading.
func (o *outline) end(next int) {
	text := strings.TrimSpace(strings.Join(o.lines, "\n"))
	o.lines = o.lines[:0]
	deeper := next > 0 && len(o.levels) > 0 && next > o.levels[len(o.levels)-1]
	if text == "" && (len(o.above) == 0 || deeper) {
		return
	}
	above := make([]string, 0, len(o.above))
	size := 0
	for _, t := range o.above {
		if size += len(t); t != "" && size <= maxHeading {
			above = append(above, t)
		}
	}
	o.out = append(o.out, section{above, text})
}
