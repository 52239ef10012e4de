package web

import (
	"bytes"
	"html/template"
	"regexp"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// markdown draws Markdown that a stranger may have written: no HTML of its own, links to
// http, https and mailto alone, and pictures as links, so that a note cannot call home.
func markdown(s string) template.HTML {
	var b bytes.Buffer
	if err := reader().Convert([]byte(visible(s)), &b); err != nil {
		return marked(s)
	}
	return template.HTML(cleaner().SanitizeBytes(b.Bytes())) //nolint:gosec // it was cleaned
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

var reader = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
		goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(tame{}, 100))),
	)
})

// tame makes links of pictures and headings that fit below those of the page.
type tame struct{}

func (tame) Transform(doc *ast.Document, _ text.Reader, _ parser.Context) {
	var pictures []*ast.Image
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			pictures = append(pictures, n)
		case *ast.Heading:
			n.Level = min(n.Level+2, 6)
		}
		return ast.WalkContinue, nil
	}) // it never fails
	for _, image := range pictures {
		link := ast.NewLink()
		link.Destination, link.Title = image.Destination, image.Title
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

var cleaner = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "em", "strong", "del", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(regexp.MustCompile(`^[0-9]{1,9}$`)).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
})
