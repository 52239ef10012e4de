package markdown

import "strings"

// maxNesting is how deep quotes and lists are looked into; the reader of basic-memory has the same limit.
const maxNesting = 20

// block is a piece of running text of a document: what Markdown calls a paragraph or a heading. Code and HTML are none.
type block struct {
	text                 string
	line                 int // from 1
	heading, item, quote bool
}

// line is a line of a document, without the marks of the quotes and lists it is in.
type line struct {
	text string
	n    int
}

// document is what a Markdown text holds.
type document struct {
	blocks []block
	refs   map[string]string // [label]: target
}

// parse finds the running text of a document, as far as observations and links need it.
func parse(text string) document {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	s := scan{doc: &document{refs: map[string]string{}}}
	n := 0
	for l := range strings.SplitSeq(text, "\n") {
		n++
		s.lines = append(s.lines, line{l, n})
	}
	s.run()
	return *s.doc
}

// scan reads the lines of one container: the document, a quote or an item.
type scan struct {
	doc         *document
	lines       []line
	at          int
	item, quote bool
	depth       int
	open        []line // of the paragraph
}

func (s *scan) run() {
	for s.at < len(s.lines) {
		l := s.lines[s.at]
		indent, rest := indentOf(l.text)
		if s.inner(indent, rest) {
			continue
		}
		if mark := underline(indent, rest); mark && len(s.open) > 0 {
			s.at++
			s.close(true)
			continue
		}
		switch {
		case rest == "", isRule(indent, rest):
			s.close(false)
		case indent >= 4 && len(s.open) == 0: // code
		case isHeading(indent, rest):
			s.close(false)
			s.open = []line{{strings.TrimLeft(rest, "#"), l.n}}
			s.close(true)
		default:
			s.open = append(s.open, l)
		}
		s.at++
	}
	s.close(false)
}

// inner passes what begins at a line and has lines of its own.
func (s *scan) inner(indent int, rest string) bool {
	if indent >= 4 {
		return false
	}
	if mark := fence(rest); mark != "" {
		s.close(false)
		s.code(mark)
		return true
	}
	if end := html(rest, len(s.open) > 0); end != nil {
		s.close(false)
		s.passHTML(end)
		return true
	}
	if strings.HasPrefix(rest, ">") {
		s.close(false)
		s.inQuote()
		return true
	}
	if isRule(indent, rest) || underline(indent, rest) && len(s.open) > 0 {
		return false
	}
	if width := marker(rest); width > 0 && (len(s.open) == 0 || interrupts(rest, width)) {
		s.close(false)
		s.inItem(indent, width)
		return true
	}
	return false
}

// close ends the paragraph.
func (s *scan) close(heading bool) {
	open := s.open
	s.open = nil
	for len(open) > 0 && !heading && s.reference(open[0].text) {
		open = open[1:]
	}
	if len(open) == 0 {
		return
	}
	texts := make([]string, len(open))
	for i, l := range open {
		texts[i] = l.text
	}
	if text := strings.TrimSpace(strings.Join(texts, "\n")); text != "" {
		s.doc.blocks = append(s.doc.blocks, block{text: text, line: open[0].n, heading: heading, item: s.item, quote: s.quote})
	}
}

// code passes a fenced piece of code.
func (s *scan) code(mark string) {
	for s.at++; s.at < len(s.lines); s.at++ {
		indent, rest := indentOf(s.lines[s.at].text)
		closing := strings.TrimRight(rest, " \t")
		if indent < 4 && len(closing) >= len(mark) && strings.Trim(closing, mark[:1]) == "" {
			s.at++
			return
		}
	}
}

func (s *scan) passHTML(end func(string) bool) {
	for ; s.at < len(s.lines); s.at++ {
		if end(s.lines[s.at].text) {
			s.at++
			return
		}
	}
}

// inQuote reads a quote.
func (s *scan) inQuote() {
	in := scan{doc: s.doc, item: s.item, quote: true, depth: s.depth + 1}
	for ; s.at < len(s.lines); s.at++ {
		l := s.lines[s.at]
		indent, rest := indentOf(l.text)
		if indent < 4 && strings.HasPrefix(rest, ">") {
			in.lines = append(in.lines, line{strings.TrimPrefix(rest[1:], " "), l.n})
			continue
		}
		if !in.goesOn(indent, rest) {
			break
		}
		in.lines = append(in.lines, l)
	}
	in.read()
}

// inItem reads an item of a list.
func (s *scan) inItem(indent, width int) {
	in := scan{doc: s.doc, item: true, quote: s.quote, depth: s.depth + 1}
	first := s.lines[s.at]
	_, rest := indentOf(first.text)
	space, text := indentOf(rest[width:])
	offset := indent + width + space
	if text == "" || space > 4 {
		offset, text = indent+width+1, dropIndent(rest[width:], 1)
	}
	in.lines = append(in.lines, line{text, first.n})
	for s.at++; s.at < len(s.lines); s.at++ {
		l := s.lines[s.at]
		indent, rest := indentOf(l.text)
		switch {
		case rest == "" || indent >= offset:
			in.lines = append(in.lines, line{dropIndent(l.text, offset), l.n})
		case in.goesOn(indent, rest):
			in.lines = append(in.lines, l)
		default:
			in.read()
			return
		}
	}
	in.read()
}

func (s *scan) read() {
	if s.depth <= maxNesting {
		s.run()
	}
}

// goesOn reports whether a line outside of a container goes on with the paragraph at its end.
func (s *scan) goesOn(indent int, rest string) bool {
	if rest == "" || len(s.lines) == 0 {
		return false
	}
	if _, last := indentOf(s.lines[len(s.lines)-1].text); last == "" || fence(last) != "" {
		return false
	}
	return indent >= 4 || !isRule(indent, rest) && !isHeading(indent, rest) && fence(rest) == "" && !strings.HasPrefix(rest, ">") &&
		marker(rest) == 0 && html(rest, true) == nil
}
