package web_test

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/amber-memory/amber/internal/serve/web"
	"github.com/amber-memory/amber/internal/test/must"
)

// drawn are the elements that Markdown may become, with the attributes each may have.
var drawn = map[string][]string{
	"p": nil, "br": nil, "hr": nil, "h3": nil, "h4": nil, "h5": nil, "h6": nil, "blockquote": nil, "pre": nil, "code": nil, "em": nil, "strong": nil, "del": nil,
	"ul": nil, "ol": {"start"}, "li": nil, "table": nil, "thead": nil, "tbody": nil, "tr": nil, "th": nil, "td": nil, "a": {"href", "rel", "target"},
	"span": {"class", "title"}, // marks
}

// fragment reads what stands in the body of a page.
func fragment(t testing.TB, text template.HTML) []*html.Node {
	t.Helper()
	body := &html.Node{Type: html.ElementNode, Data: "body", DataAtom: atom.Body}
	return must.Get(html.ParseFragment(strings.NewReader(string(text)), body))(t)
}

// checkDrawn fails for every element and attribute that a text of a stranger must not become.
func checkDrawn(t testing.TB, what string, text template.HTML) {
	t.Helper()
	if len(text) > web.MaxDrawn+200 {
		t.Errorf("%s: %d bytes are drawn, want at most %d", what, len(text), web.MaxDrawn)
	}
	for _, top := range fragment(t, text) {
		checkNode(t, what, top)
		for n := range top.Descendants() {
			checkNode(t, what, n)
		}
	}
}

func checkNode(t testing.TB, what string, n *html.Node) {
	t.Helper()
	switch n.Type {
	case html.TextNode:
		checkText(t, what, n.Data)
		return
	case html.ElementNode:
	default:
		t.Errorf("%s: a node of type %d: %q", what, n.Type, n.Data)
		return
	}
	allowed, ok := drawn[n.Data]
	if !ok {
		t.Errorf("%s: an element <%s>", what, n.Data)
	}
	for _, a := range n.Attr {
		if !slices.Contains(allowed, a.Key) {
			t.Errorf("%s: an attribute %s=%q of <%s>", what, a.Key, a.Val, n.Data)
		}
	}
	if n.Data == "a" {
		checkLink(t, what, n)
	}
}

// checkLink fails for a link that leads to more than a page of another site, or that tells that page where the
// visitor comes from.
func checkLink(t testing.TB, what string, n *html.Node) {
	t.Helper()
	href := strings.ToLower(attribute(n, "href"))
	if href == "" {
		return
	}
	if !strings.HasPrefix(href, "http://") && !strings.HasPrefix(href, "https://") && !strings.HasPrefix(href, "mailto:") {
		t.Errorf("%s: a link to %q", what, href)
	}
	rel := strings.Fields(attribute(n, "rel"))
	for _, want := range []string{"noopener", "noreferrer", "nofollow"} {
		if !slices.Contains(rel, want) {
			t.Errorf("%s: the link to %q has rel %q, want %s in it", what, href, rel, want)
		}
	}
}

// checkText fails for characters that deceive the reader.
func checkText(t testing.TB, what, s string) {
	t.Helper()
	for _, r := range s {
		if r == '\n' || r == '\t' || r == '\u200d' || r == '\ufe0f' {
			continue
		}
		if unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			t.Errorf("%s: the character %U is not marked", what, r)
			return
		}
	}
}

// hostileMarkdown is what notes try.
var hostileMarkdown = []string{
	`<script>alert(1)</script>`, `<img src=x onerror=alert(1)>`, `<svg/onload=alert(1)>`, `<a href="javascript:alert(1)">x</a>`, `<div hx-get="/ui/-/logout" hx-trigger="load">x</div>`,
	`[x](javascript:alert(1))`, `[x](JaVaScRiPt:alert(1))`, "[x](java\tscript:alert(1))", `[x](java&#x73;cript:alert(1))`, `[x](vbscript:x)`, `[x](data:text/html;base64,PHNjcmlwdD4=)`, `[x](file:///etc/passwd)`,
	`[x](//evil.example/x)`, `[x](/ui/-/logout)`, `[x](\\evil.example)`, `<javascript:alert(1)>`, `<data:text/html,x>`, `<mailto:a@b.example>`, `<https://ok.example/>`,
	`![x](https://evil.example/pixel.gif)`, `![x](data:image/svg+xml;base64,AAAA)`, `![](https://evil.example/pixel.gif "title")`, "[![a](https://e.example/b)](https://e.example/c)",
	"[x]: javascript:alert(1)\n\n[x]", "[x]: https://ok.example/ 'a\" onclick=\"alert(1)'\n\n[x]", `[x](https://ok.example/ "t\" onmouseover=\"alert(1)")`,
	"```html\n<script>\n```", "`</code><script>`", "    </pre><script>", "</textarea><script>alert(1)</script>", "</main></body><script>", "<!-- -->", "<?php ?>", "<![CDATA[x]]>", "&lt;script&gt;", "&#60;script&#62;",
	"{{.CSRF}}", `{{template "csrf"}}`, "a\u202eb\u2066c", "\u200b\u200c\ufeff\u00ad\u2060", "\x1b[31mred\x1b]0;title\x07", "\x00", "\xff\xfe\xed\xa0\x80", "\u2028\u2029", "tag \U000e0041", "&#8238;gpj.exe", "&#x2063;&rlm;&ZeroWidthSpace;&#27;[31m", "[x](https://a.example/&#8238;gpj \"&#8238;\")",
	"# one\n## two\n###### six", "| a | b |\n|---|:-:|\n| <b>x</b> | `|` |", "- [ ] task\n- [x] done", "1. one\n2. two", "999999999999. x", "~~gone~~", "a  \nb",
	"<a id=main>", "<form action=https://evil.example><input name=csrf>", "<base href=https://evil.example>", "<meta http-equiv=refresh content=0>", "<style>*{display:none}</style>", "<link rel=stylesheet href=//e>",
	`<span class="mark" title="x">`, "[x](https://a.example/\u202egpj.exe)", "[\u202etxt](https://a.example)", "[x](https://user:pass@evil.example)", "[x](https://xn--e1awd7f.example)", "[x](http:/evil)", "[x](https:evil.example)",
}

func TestMarkdownOfStrangersIsTame(t *testing.T) {
	t.Parallel()
	for _, s := range hostileMarkdown {
		checkDrawn(t, fmt.Sprintf("%.60q", s), web.Markdown(s))
		checkDrawn(t, fmt.Sprintf("%.60q as text", s), web.Marked(s))
		checkDrawn(t, fmt.Sprintf("%.60q in a row", s), web.Row(s))
	}
	whole := strings.Join(hostileMarkdown, "\n\n")
	checkDrawn(t, "all together", web.Markdown(whole))
}

func TestMarkdownStillDrawsNotes(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"# Plan":                                 "<h3>Plan</h3>",
		"**bold** and *thin*":                    "<strong>bold</strong> and <em>thin</em>",
		"| a |\n|---|\n| b |":                    "<td>b</td>",
		"[x](https://ok.example/)":               `href="https://ok.example/"`,
		"<mailto:a@b.example>":                   `href="mailto:a@b.example"`,
		"![map](https://ok.example/map.png)":     `>map</a>`,
		strings.Repeat("- a\n", 2000):            "<li>a</li>",
		strings.Repeat("-", 200):                 "<hr",
		strings.Repeat("words of a note ", 1400): "<p>words",
	} {
		if got := string(web.Markdown(source)); !strings.Contains(got, want) {
			t.Errorf("%.40q becomes %.200s, want %s in it", source, got, want)
		}
	}
}

// bombs are short texts that ask for much.
func bombs(size int) map[string]string {
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	half := strings.Repeat("y", size/2)
	ticks, steps := strings.Builder{}, strings.Builder{}
	for i := 1; ticks.Len() < size; i++ {
		ticks.WriteString(strings.Repeat("`", i) + " ")
	}
	for i := 0; steps.Len() < size; i++ {
		steps.WriteString(strings.Repeat(" ", 2*i) + "- a\n")
	}
	return map[string]string{
		"quotes": fill("> ") + "x", "quotes without spaces": fill(">"), "lists": fill("- ") + "x", "numbers": fill("1. ") + "x", "steps": steps.String(), "ticks": ticks.String(),
		"brackets": fill("["), "links that never end": fill("[a]("), "pictures": fill("!["), "stars": fill("*a "), "stars and lines": fill("*a_ "), "strikes": fill("~~a "), "backslashes": fill(`\`),
		"one long address": "[a]: http://x/" + half + "\n\n" + strings.Repeat("[a]", size/6), "pictures of one address": "[a]: http://x/" + half + "\n\n" + strings.Repeat("![a]", size/8), "definitions": fill("[a]: b\n"),
		"a wide table": strings.Repeat("|a", size/6) + "|\n" + strings.Repeat("|-", size/6) + "|\n" + strings.Repeat("|\n", size/6),
		"a long table": strings.Repeat("|a", 50) + "|\n" + strings.Repeat("|-", 50) + "|\n" + fill("|\n"),
		"links":        fill("[a](http://x) "), "addresses": fill("<http://x> "), "less": fill("<"), "ampersands": fill("&"), "elements": fill("<a "), "comments": fill("<!--"), "headings": fill("#\n"), "rules": fill("---\n"), "tasks": fill("- [ ]\n"),
		"turns": fill("\u202e"), "bells": fill("\a"), "bytes": fill("\xff"), "long words": fill("a"), "long lines": fill("a "), "quotation marks": fill(`"`),
	}
}

// However large a text is, and whatever it asks for, what is drawn of it is bounded, and so are the
// steps to it: a table or an address that grows with the square of the text would not end here.
func TestMarkdownBombsStaySmall(t *testing.T) {
	t.Parallel()
	for name, s := range bombs(1 << 20) {
		checkDrawn(t, name, web.Markdown(s))
		checkDrawn(t, name+" as text", web.Marked(s))
		if n := len(web.Row(s)); n > 700 {
			t.Errorf("%s: a row has %d bytes", name, n)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range hostileMarkdown {
		f.Add(s)
	}
	for _, s := range bombs(2000) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { checkDrawn(t, "the text", web.Markdown(s)) })
}

func FuzzMarked(f *testing.F) {
	for _, s := range hostileMarkdown {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, text := range []template.HTML{web.Marked(s), web.Row(s)} {
			checkDrawn(t, "the text", text)
			for _, n := range fragment(t, text) {
				if n.Type == html.ElementNode && (n.Data != "span" || attribute(n, "class") != "mark") {
					t.Errorf("an element <%s>", n.Data)
				}
			}
		}
	})
}
