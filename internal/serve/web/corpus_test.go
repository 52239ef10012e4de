package web_test

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
)

// markup tries to become elements, attributes, scripts and templates.
const markup = `"><script>alert(1)</script><img src=x onerror=alert(1)><svg/onload=alert(1)><a href="javascript:alert(1)" onclick=alert(1)>x</a>` +
	`' onmouseover='alert(1)' x=' <div hx-get="/ui/-/logout" hx-trigger="load" hx-on:click="alert(1)">x</div></textarea></title></script></style></option></select>` +
	`<iframe src=//evil.example></iframe><form action=https://evil.example><input name=csrf><base href=//evil.example><meta http-equiv=refresh content=0><link rel=stylesheet href=//evil.example>` +
	`<style>*{display:none}</style>{{.CSRF}} {{template "csrf"}} ${alert(1)} &lt;b&gt; &#60;b&#62; <!-- --> ]]> [x](javascript:alert(1)) ![x](https://evil.example/p.gif) <https://ok.example> [m](mailto:a@b.example)`

// unseen is text that a reader does not see as it is.
const unseen = "a\u202egpj.exe\u202c \u2066x\u2069 \u200bz\u200cz\u2060z\ufeffz\u00adz \u2028 \u2029 \U000e0041\U000e0042 e\u0301\u0301\u0301 \u061c \u180e"

// printed is what tools print.
const printed = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\ \b\b\b\x7f\u009b31m \r over \x0c\x0b\x01"

var corpusAttacks = flag.Int("corpus.attacks", 5, "how many kinds of hostile text are stored in every field; 11 at full size")

// attack writes one kind of hostile text into every field.
type attack struct {
	name  string
	lines func(most int) string // what stands in a text of several lines
}

func repeated(s string) func(int) string {
	return func(most int) string { return strings.Repeat(s, most/len(s)) }
}

var attacks = []attack{
	{"markup", func(int) string { return "# " + markup }},
	{"unseen", repeated(unseen)},
	{"entities", repeated(`<>&"'`)},
	{"a long line", repeated("a")},
	{"a wide table", func(most int) string { return bombs(most)["a wide table"] }},
	{"long words", repeated("word ")},
	{"quotes", repeated("> ")},
	{"one long address", func(most int) string { return bombs(most)["one long address"] }},
	{"links", repeated("[a](http://x) ")},
	{"short lines", repeated("a\n")},
	{"braces", repeated(`{"a":[`)},
}

// scribe writes the attack, as far as a field takes it.
func (a attack) scribe(field string, allowed alphabet, most int) string {
	if !strings.HasPrefix(a.name, "a long") {
		most = min(most, 64<<10) // of which a screen shows a part as it does of a megabyte
	}
	text := a.lines(most)
	switch allowed {
	case ident:
		text = `"><img src=x onerror=alert(1)>{{.}}/../%2e%2e?a=b&c#d;` + field
		if strings.HasSuffix(field, ".key") { // an equals sign would keep metadata out of forms
			text = `"><script>` + field
		}
	case noteName:
		return "folder @+,/name of the note"
	case oneLine:
		text = strings.Join(strings.Fields(field+" "+text+markup), " ")
	case anything:
		text = strings.ReplaceAll(text+printed+markup, "\x00", "")
		if a.name == "unseen" {
			text = strings.Repeat(printed, most/len(printed))
		}
	}
	if text = cutTo(text, most); strings.TrimSpace(text) == "" {
		return "x"
	}
	return strings.TrimSpace(text)
}

// cutTo cuts a text behind a whole rune. Session names count runes.
func cutTo(s string, most int) string {
	if most == amber.MaxNameRunes {
		return string([]rune(s)[:min(most, utf8.RuneCountInString(s))])
	}
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// pairs are the elements of a page with the names of their attributes.
func pairs(p page) map[string]bool {
	out := map[string]bool{}
	for n := range p.root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		out[n.Data] = true
		for _, a := range n.Attr {
			out[n.Data+" "+a.Key] = true
		}
	}
	return out
}

// tame are the elements that every text may become.
func tame() map[string]bool {
	out := map[string]bool{"svg class": true, "polyline": true, "polyline points": true} // of numbers over time, which come later
	for element, attributes := range drawn {
		out[element] = true
		for _, a := range attributes {
			out[element+" "+a] = true
		}
	}
	return out
}

// powers are the elements of which a page has as many as it drew itself.
var powers = []string{"script", "iframe", "object", "embed", "img", "meta", "link", "base", "style", "title", "main", "nav", "header", "footer", "dialog", "html", "body"}

// Every screen, with hostile text in every field of every kind of record: it has no element and no attribute
// that it would not have without, leads nowhere else, and stays small.
func TestHostileRecordsOnEveryScreen(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	calm := r.furnishWith("acme", "ada", func(field string, allowed alphabet, _ int) string {
		if allowed == noteName {
			return "calm folder/note"
		}
		return "calm " + field
	})
	b := r.visitor("")
	known := tame()
	screens := map[string]page{}
	for _, pattern := range r.page.Routes() {
		if method, path := calm.fill(t, pattern); method == http.MethodGet && !isStream(pattern) {
			for _, query := range queries(calm) {
				p := b.get(path + query)
				if p.root == nil {
					continue
				}
				screens[pattern+query[:min(3, len(query))]] = p
				for pair := range pairs(p) {
					known[pair] = true
				}
			}
		}
	}
	for i, a := range attacks[:min(*corpusAttacks, len(attacks))] {
		n := server.AgentName{Tenant: "acme", Agent: amber.AgentID(fmt.Sprint("hostile", i))}
		p := r.furnishWith(n.Tenant, n.Agent, a.scribe)
		for _, pattern := range r.page.Routes() {
			method, path := p.fill(t, pattern)
			if method != http.MethodGet || isStream(pattern) {
				continue
			}
			for j, query := range queries(p) {
				if i > 0 && j > 0 && !strings.HasSuffix(pattern, "/recall") && !strings.HasSuffix(pattern, "/diff") {
					continue // the others do not look at it
				}
				checkHostile(t, a.name+": "+pattern+query[:min(3, len(query))], b.get(path+query), screens[pattern+query[:min(3, len(query))]], known)
			}
		}
	}
}

// queries are what screens are asked with.
func queries(p *place) []string {
	return []string{"", "?q=calm+alert+name+words+a", "?place=" + syncPlace, "?a=" + string(p.snapshots[0]) + "&b=" + string(p.snapshots[1])}
}

func checkHostile(t testing.TB, what string, p, calm page, known map[string]bool) {
	t.Helper()
	must.Hold(t, p.status < 500, "%s: status %d: %.300s", what, p.status, p.text())
	if len(p.body) >= maxPage {
		t.Errorf("%s: the page has %d bytes, want less than %d", what, len(p.body), maxPage)
	}
	if p.root == nil {
		return
	}
	for pair := range pairs(p) {
		if !known[pair] {
			t.Errorf("%s: there is <%s>", what, pair)
		}
	}
	if calm.root != nil && calm.status == p.status {
		for _, e := range powers {
			if got, want := countOf(p, e), countOf(calm, e); got > want {
				t.Errorf("%s: there are %d elements <%s>, want %d", what, got, e, want)
			}
		}
	}
	for n := range p.root.Descendants() {
		checkAttributes(t, what, n)
		if n.Type == html.TextNode && !slices.Contains([]string{"textarea", "script"}, n.Parent.Data) {
			checkText(t, what+" in <"+n.Parent.Data+">", n.Data)
		}
	}
}

func countOf(p page, element string) int {
	n := 0
	for range p.all(element) {
		n++
	}
	return n
}

// checkAttributes fails for an attribute that runs, loads or leads where it must not.
func checkAttributes(t testing.TB, what string, n *html.Node) {
	t.Helper()
	for _, a := range n.Attr {
		value := strings.TrimSpace(strings.ToLower(a.Val))
		switch {
		case strings.HasPrefix(a.Key, "on"), strings.HasPrefix(a.Key, "hx-on"), a.Key == "style", a.Key == "srcdoc":
			t.Errorf("%s: <%s %s=%.60q>", what, n.Data, a.Key, a.Val)
		case a.Key == "src" || a.Key == "data" || a.Key == "poster" || a.Key == "xlink:href" || n.Data == "link" && a.Key == "href":
			if !strings.HasPrefix(a.Val, "/ui/-/static/") {
				t.Errorf("%s: <%s %s=%.60q>", what, n.Data, a.Key, a.Val)
			}
		case a.Key == "action" || a.Key == "formaction" || a.Key == "hx-get" || a.Key == "hx-post":
			if !strings.HasPrefix(a.Val, "/ui/") {
				t.Errorf("%s: <%s %s=%.60q>", what, n.Data, a.Key, a.Val)
			}
		case a.Key == "href" && n.Data == "a" && !strings.HasPrefix(value, "#") && !strings.HasPrefix(value, "/ui/") && value != "/ui" && value != "/docs":
			checkLink(t, what, n)
		case a.Key == "title" || a.Key == "aria-label" || a.Key == "placeholder" || a.Key == "alt":
			checkText(t, what+" in "+a.Key, a.Val)
		}
	}
}
