package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxNesting is how deep quotes and lists are looked into; the reader of basic-memory has the same limit.
const maxNesting = 20

// block is a piece of running text of a document: what Markdown calls a paragraph or a heading. Code and HTML are none.
type block struct {
	text                 string
	line                 int // from 1
	heading, item, quote bool
}

// document is what a Markdown text holds.
type document struct {
	blocks []block
	refs   map[string]string // [label]: target
}

// parse finds the running text of a document, as far as observations and links need it.
func parse(markdown string) document {
	markdown = strings.ReplaceAll(strings.ReplaceAll(markdown, "\r\n", "\n"), "\r", "\n")
	lines := strings.SplitAfter(markdown, "\n")
	for i, l := range lines {
		if opens(l) > maxNesting {
			lines[i] = "\n"
		}
	}
	s := scan{source: []byte(strings.Join(lines, "")), doc: document{refs: map[string]string{}}, n: 1}
	s.read(structure().Parse(text.NewReader(s.source)), block{}, 0)
	return s.doc
}

// opens returns how many quotes and items a line opens or goes on with.
func opens(line string) (n int) {
	for {
		_, rest := indentOf(line)
		rest = strings.TrimRight(rest, "\n")
		width := marker(rest)
		if strings.HasPrefix(rest, ">") {
			width = 1
		}
		if width == 0 {
			return n
		}
		n++
		line = rest[width:]
	}
}

// structure returns a parser that finds blocks and nothing inside of them.
func structure() parser.Parser {
	return parser.NewParser(parser.WithBlockParsers(append(parser.DefaultBlockParsers(), util.Prioritized(paragraphs{parser.NewParagraphParser()}, 999))...))
}

// paragraphs keeps the spaces before the lines of a paragraph.
type paragraphs struct{ parser.BlockParser }

// Close implements [parser.BlockParser].
func (paragraphs) Close(ast.Node, text.Reader, parser.Context) {}

// scan makes blocks of what a parser has found.
type scan struct {
	source []byte
	doc    document
	at, n  int // a place in source, and the line that it is in
}

// read takes in what is below a node; in says what the node is in.
func (s *scan) read(n ast.Node, in block, depth int) {
	switch n.(type) {
	case *ast.Heading:
		in.heading = true
		s.block(n.Lines(), in)
		return
	case *ast.Paragraph, *ast.TextBlock:
		s.block(n.Lines(), in)
		return
	case *ast.Blockquote:
		in.quote = true
		depth++
	case *ast.ListItem:
		in.item = true
		depth++
	}
	for c := n.FirstChild(); c != nil && depth <= maxNesting; c = c.NextSibling() {
		s.read(c, in, depth)
	}
}

// block takes in a paragraph or a heading, without definitions of links at its beginning.
func (s *scan) block(lines *text.Segments, b block) {
	first := 0
	for first < lines.Len() && !b.heading && s.reference(s.text(lines, first, first+1)) {
		first++
	}
	if b.text = strings.TrimSpace(s.text(lines, first, lines.Len())); b.text == "" {
		return
	}
	start := lines.At(first).Start
	s.n += strings.Count(string(s.source[s.at:start]), "\n")
	s.at, b.line = start, s.n
	s.doc.blocks = append(s.doc.blocks, b)
}

// text returns some lines as they are, without the marks of the quotes and lists they are in.
func (s *scan) text(lines *text.Segments, from, to int) string {
	var b strings.Builder
	for _, l := range lines.Sliced(from, to) {
		b.Write(l.Value(s.source))
	}
	return b.String()
}
