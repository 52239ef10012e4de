package web_test

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// harmful is a text that would do harm where it is not escaped.
const harmful = `<script>alert(1)</script><img src=x onerror=alert(1)>"'><b hx-get=/x>[a](javascript:alert(1)) ` + "\u202e\x1b[31m"

// harmfulName is harmful for what must be on one line without control characters.
const harmfulName = `<script>alert(1)</script><img src=x onerror=alert(1)>"'><b hx-get=/x>`

// onlyWrites is a secret that may write and not read.
const onlyWrites = "onlywrites"

// mayNotRead lets a token in that has no scope to read.
func (r *rig) mayNotRead() *browser {
	r.keys.mu.Lock()
	r.keys.grants[onlyWrites] = wire.Grant{Token: "t-w", Name: "w", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenWrite}}
	r.keys.mu.Unlock()
	return r.visitor(onlyWrites)
}

// sound checks a screen: it is there, below 100 kB, nothing in it runs, and no id is there twice.
func sound(t *testing.T, p page) {
	t.Helper()
	must.Equal(t, "status", p.status, http.StatusOK)
	harmless(t, p)
}

func harmless(t *testing.T, p page) {
	t.Helper()
	if n := len(p.body); n > 100_000 {
		t.Errorf("the page has %d bytes", n)
	}
	ids := map[string]bool{}
	for n := range p.root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if n.Data == "script" && attribute(n, "src") == "" || n.Data == "img" || n.Data == "b" {
			t.Errorf("a stored text became an element %s", n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || strings.HasPrefix(strings.TrimSpace(strings.ToLower(a.Val)), "javascript:") {
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			}
			if strings.HasPrefix(a.Key, "hx-") && attribute(n, "hx-nonce") == "" {
				t.Errorf("%s has %s", n.Data, a.Key)
			}
		}
		if id := attribute(n, "id"); id != "" {
			if ids[id] {
				t.Errorf("id %s is there twice", id)
			}
			ids[id] = true
		}
	}
	if strings.ContainsAny(p.body, "\u202e\x1b") {
		t.Error("a character that deceives is in the page")
	}
}

// shows checks that a reader sees something.
func shows(t *testing.T, p page, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(p.text(), want) {
			t.Errorf("the page does not show %q: %s", want, p.text())
		}
	}
}

func hides(t *testing.T, p page, unwanted ...string) {
	t.Helper()
	for _, no := range unwanted {
		if strings.Contains(p.text(), no) {
			t.Errorf("the page shows %q", no)
		}
	}
}

// href is the address of the link with a text; "" where there is none.
func (p page) href(text string) string {
	for n := range p.all("a") {
		if textOf(n) == text {
			return attribute(n, "href")
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(b.String())
}

// rows are the texts of the first links of a list.
func (p page) rows() (all []string) {
	for n := range p.all("li") {
		if _, marked := hasAttribute(n, "data-row"); !marked {
			continue
		}
		for d := range n.Descendants() {
			if d.Type == html.ElementNode && (d.Data == "a" || d.Data == "strong") {
				all = append(all, textOf(d))
				break
			}
		}
	}
	return all
}

func hasAttribute(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// say appends a turn of acme/ada.
func (r *rig) say(session amber.SessionID, role amber.Role, content string) amber.Turn {
	r.t.Helper()
	return must.Get(r.store("acme", "ada").Turns.AppendTurn(r.t.Context(), amber.Turn{SessionID: session, Role: role, Content: content}))(r.t)
}

// fieldText is the text of a text area.
func (p page) fieldText(name string) string {
	for n := range p.all("textarea") {
		if attribute(n, "name") == name {
			return textOf(n)
		}
	}
	return ""
}
