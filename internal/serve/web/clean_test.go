package web_test

import (
	"html/template"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/microcosm-cc/bluemonday"

	"github.com/amber-memory/amber/internal/serve/web"
	"github.com/amber-memory/amber/internal/test/must"
)

// policy is what may be drawn, in the words of a library that many pages rely on: an oracle.
var policy = sync.OnceValue(func() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "h3", "h4", "h5", "h6", "blockquote", "pre", "code", "em", "strong", "del", "ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(regexp.MustCompile(`^[0-9]{1,9}$`)).OnElements("ol")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("rel").Matching(regexp.MustCompile("^noopener noreferrer nofollow$")).OnElements("a")
	for _, scheme := range []string{"http", "https"} { // without a host browsers stay on this page
		p.AllowURLSchemeWithCustomPolicy(scheme, func(u *url.URL) bool { return u.Host != "" })
	}
	p.AllowURLSchemes("mailto")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
	return p
})

// Clean gives what bluemonday gives of drawn Markdown, to the byte.
func TestMarkdownIsCleanedAsByTheOracle(t *testing.T) {
	t.Parallel()
	all := append([]string{strings.Join(hostileMarkdown, "\n\n")}, hostileMarkdown...)
	for _, s := range bombs(2000) {
		all = append(all, s)
	}
	for _, s := range all {
		drawn := web.Drawn(s)
		must.Equal(t, s, web.Clean(drawn), policy().Sanitize(drawn))
	}
}

// plain reports whether a text has letters and signs alone, none of them by a reference: characters that deceive are
// marked before and not by what cleans.
func plain(s string) bool {
	return !strings.Contains(s, "&") && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

// HTML of a stranger, which never gets so far, is as tame after it was cleaned.
func TestHostileHTMLIsTame(t *testing.T) {
	t.Parallel()
	for _, s := range hostileMarkdown {
		if plain(s) {
			checkDrawn(t, s, template.HTML(web.Clean(s)))
		}
	}
	for s, want := range map[string]string{
		"a<script>b</script>c":                           "ac",
		"a<script><script>b</script>c":                   "ac",
		"<style>b</style>c</style>":                      "c",
		"<iframe>x<p>y</p></iframe>z":                    "z",
		"<p onclick=x class=y id=z>a</p>":                "<p>a</p>",
		"<a href=javascript:x>a</a>b":                    "ab",
		"<a><a href=https://e.example>a</a></a>":         `<a href="https://e.example" rel="noopener noreferrer nofollow" target="_blank">a</a>`,
		"<a href=https://e.example rel=opener>a</a>":     `<a href="https://e.example" rel="noopener noreferrer nofollow" target="_blank">a</a>`,
		"<a target=_self href=mailto:a@b.example>a</a>":  `<a href="mailto:a@b.example" rel="noopener noreferrer nofollow">a</a>`,
		"<a href='https://e.example/\"><script>x'>a</a>": `<a href="https://e.example/%22%3E%3Cscript%3Ex" rel="noopener noreferrer nofollow" target="_blank">a</a>`,
		"<ol start=-1><ol start=1000000000><ol start=7>": `<ol><ol><ol start="7">`,
		"<!DOCTYPE html><!-- x --><P>a</P>":              "<p>a</p>",
	} {
		must.Equal(t, s, web.Clean(s), want)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range hostileMarkdown {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < web.MaxDrawn/8 && plain(s) {
			checkDrawn(t, "the text", template.HTML(web.Clean(s)))
		}
		drawn := web.Drawn(s)
		must.Equal(t, "cleaned", web.Clean(drawn), policy().Sanitize(drawn))
	})
}
