package web

import (
	"bytes"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/amber-memory/amber/internal/base/clip"
)

// Bounds of Markdown. A few lines of it can ask for gigabytes of a page: rows of a table are
// filled up with cells, and a long address is repeated by a short reference.
const (
	maxDrawn  = 48 << 10 // bytes that are drawn of one text
	maxCells  = 10_000   // of tables
	maxNested = 64       // quotes and lists in one another
)

// markdown draws Markdown that a stranger may have written: no HTML of its own, links to
// http, https and mailto alone, and pictures as links, so that a note cannot call home. Text
// that would be too much for a page is shown as it was written.
func markdown(s string) template.HTML {
	s = clip.Marked(s, shownWhole)
	if nesting(s) > maxNested {
		return marked(s)
	}
	b := bounded{most: maxDrawn}
	if err := reader(cells(s) <= maxCells).Convert([]byte(visible(s)), &b); err != nil {
		return marked(s)
	}
	drawn := clean(visible(b.String())) // references to characters have become characters
	if len(drawn) > maxDrawn {
		return marked(s)
	}
	return template.HTML(drawn) //nolint:gosec // it was cleaned
}

// bounded is a buffer that takes so much and no more.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > b.most {
		return 0, io.ErrShortBuffer
	}
	return b.Buffer.Write(p)
}

// cells is how many cells a table could have at most.
func cells(s string) int {
	rows, columns := 0, 0
	for line := range strings.Lines(s) {
		rows++
		columns = max(columns, strings.Count(line, "|")+1)
	}
	return rows * columns
}

// nesting is how many quotes and lists a line begins at most.
func nesting(s string) int {
	deepest := 0
	for line := range strings.Lines(s) {
		depth := 0
	markers:
		for _, r := range line {
			switch r {
			case '>', '-', '*', '+', '.', ')':
				depth++
			case ' ', '\t', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			default:
				break markers
			}
		}
		if rule := strings.Trim(line, "-* \r\n"); rule != "" { // it is not a line across the page
			deepest = max(deepest, depth)
		}
	}
	return deepest
}

// visible puts a sign in place of characters that deceive.
func visible(s string) string {
	var b bytes.Buffer
	for i, r := range s {
		n := 0
		if r == '\ufffd' && s[i] != 0xef {
			n = 1
		}
		if deceives(r, n) {
			b.WriteString(signOf(r))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// reader returns what reads Markdown, with or without tables.
func reader(tables bool) goldmark.Markdown {
	if tables {
		return withTables()
	}
	return withoutTables()
}

var (
	withTables = sync.OnceValue(func() goldmark.Markdown {
		return newReader(extension.Table, extension.Strikethrough, extension.TaskList)
	})
	withoutTables = sync.OnceValue(func() goldmark.Markdown { return newReader(extension.Strikethrough, extension.TaskList) })
)

func newReader(extensions ...goldmark.Extender) goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extensions...), goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(tame{}, 100))))
}

// strangers says of a link that its page gets no hold of this one and no thanks for it.
const strangers = "noopener noreferrer nofollow"

// tame makes links of pictures, headings that fit below those of the page, and links that are as
// long together as a page may be.
type tame struct{}

func (tame) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	level := 2 // of the heading before
	var pictures []*ast.Image
	links := 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			pictures = append(pictures, n)
			links += len(n.Destination)
		case *ast.Link:
			links += len(n.Destination)
			n.SetAttributeString("rel", []byte(strangers))
			n.Title = nil
			if links > maxDrawn {
				n.Destination = nil
			}
		case *ast.AutoLink:
			n.SetAttributeString("rel", []byte(strangers))
		case *ast.Heading:
			n.Level = min(n.Level+2, level+1, 6) // none is left out
			level = n.Level
		}
		return ast.WalkContinue, nil
	}) // it never fails
	for _, image := range pictures {
		link := ast.NewLink()
		if links <= maxDrawn {
			link.Destination = image.Destination
		}
		link.SetAttributeString("rel", []byte(strangers))
		for c := image.FirstChild(); c != nil; {
			next := c.NextSibling()
			link.AppendChild(link, c)
			c = next
		}
		if !link.HasChildren() {
			link.AppendChild(link, ast.NewString([]byte("picture")))
		}
		image.Parent().ReplaceChild(image.Parent(), image, link)
	}
}
