package web

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

// shownElements are the elements that Markdown is drawn with.
var shownElements = map[string]bool{
	"p": true, "br": true, "hr": true, "h3": true, "h4": true, "h5": true, "h6": true, "blockquote": true, "pre": true, "code": true,
	"em": true, "strong": true, "del": true, "ul": true, "ol": true, "li": true, "a": true,
	"table": true, "thead": true, "tbody": true, "tr": true, "th": true, "td": true,
}

// hiddenElements are the elements whose text is no text of a page.
var hiddenElements = map[string]bool{
	"script": true, "style": true, "iframe": true, "frame": true, "frameset": true, "object": true,
	"noscript": true, "noembed": true, "noframes": true, "nostyle": true, "xmp": true, "plaintext": true,
}

// clean keeps the elements of HTML that Markdown is drawn with, with links to other sites and to addresses of mail; of all
// other elements it keeps the text. It is the second of two checks: what reads Markdown writes no HTML of a stranger.
func clean(s string) string {
	var out strings.Builder
	hidden := 0   // elements without text that are open
	unlinked := 0 // links that are open and were left out
	z := html.NewTokenizer(strings.NewReader(s))
	for z.Next() != html.ErrorToken {
		t := z.Token()
		switch t.Type {
		case html.TextToken:
		case html.StartTagToken, html.SelfClosingTagToken:
			if hiddenElements[t.Data] && t.Type == html.StartTagToken {
				hidden++
			}
			if !shownElements[t.Data] {
				continue
			}
			t.Attr = shownAttributes(t)
			if t.Data == "a" && len(t.Attr) == 0 {
				if t.Type == html.StartTagToken {
					unlinked++
				}
				continue
			}
		case html.EndTagToken:
			if hiddenElements[t.Data] {
				hidden = max(0, hidden-1)
			}
			if t.Data == "a" && unlinked > 0 {
				unlinked--
				continue
			}
			if !shownElements[t.Data] {
				continue
			}
		default: // comments and types of documents
			continue
		}
		if hidden == 0 {
			out.WriteString(t.String())
		}
	}
	return out.String()
}

// shownAttributes are the attributes of an element that are kept, those of a link with what makes it one to another site.
func shownAttributes(t html.Token) (kept []html.Attribute) {
	var to *url.URL
	related := false
	for _, a := range t.Attr {
		switch {
		case t.Data == "ol" && a.Key == "start" && isNumber(a.Val):
			kept = append(kept, a)
		case t.Data == "a" && a.Key == "rel" && a.Val == strangers && !related:
			related = true
			kept = append(kept, a)
		case t.Data == "a" && a.Key == "href" && to == nil:
			if to = elsewhere(a.Val); to != nil {
				kept = append(kept, html.Attribute{Key: "href", Val: to.String()})
			}
		}
	}
	if to == nil {
		return kept
	}
	if !related {
		kept = append(kept, html.Attribute{Key: "rel", Val: strangers})
	}
	if to.Host != "" {
		kept = append(kept, html.Attribute{Key: "target", Val: "_blank"})
	}
	return kept
}

// elsewhere reads the address of another site, or of mail; nil: the text is neither.
func elsewhere(address string) *url.URL {
	address = strings.TrimSpace(address)
	u, err := url.Parse(address)
	if err != nil || strings.ContainsAny(address, " \t\n") {
		return nil
	}
	switch u.Scheme {
	case "http", "https":
		if u.Host == "" { // browsers stay on this page
			return nil
		}
	case "mailto":
	default:
		return nil
	}
	return u
}

// isNumber reports whether a text is a number of one to nine digits.
func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil && len(s) <= 9
}
