package web_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/amber-memory/amber/internal/test/must"
)

// shows fails the test unless a page shows every text, and lacks unless it shows none.
func (p page) shows(t testing.TB, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(p.text(), want) {
			t.Errorf("the page does not show %q: %s", want, p.text())
		}
	}
}

func (p page) lacks(t testing.TB, texts ...string) {
	t.Helper()
	for _, bad := range texts {
		if strings.Contains(p.body, bad) {
			t.Errorf("the page has %q: %s", bad, p.text())
		}
	}
}

// leads fails the test unless an answer sends the browser to a path.
func (p page) leads(t testing.TB, to string) {
	t.Helper()
	if p.status != http.StatusSeeOther || p.header.Get("Location") != to {
		t.Errorf("status %d, to %q, want a redirect to %q: %s", p.status, p.header.Get("Location"), to, p.text())
	}
}

// has reports whether the page has a form that is sent to a path.
func (p page) has(action string) bool {
	for n := range p.all("form") {
		if attribute(n, "action") == action {
			return true
		}
	}
	return false
}

func TestTheStartLeadsToTheAgentOfTheToken(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	r.visitor(ada).get("/ui/").leads(t, "/ui/acme/ada")
	r.visitor(eve).get("/ui/").leads(t, "/ui/umbrella/eve")
	p := r.visitor(acme).get("/ui/")
	must.Equal(t, "status", p.status, http.StatusOK)
	p.shows(t, "Choose an agent", "acme", "ada", "bob")
	p.lacks(t, "umbrella", "eve")
	r.visitor(root).get("/ui/-/agents").shows(t, "acme", "ada", "bob", "umbrella", "eve")
	p = r.visitor(ada).get("/ui/-/agents")
	p.shows(t, "ada")
	p.lacks(t, "bob", "umbrella")
}

func TestTheOnlyAgentIsOpenedAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, other := range []string{"acme/agents/bob", "umbrella"} {
		must.Do(t, os.RemoveAll(filepath.Join(r.home, "tenants", other)))
	}
	b := r.visitor("")
	b.get("/ui/").leads(t, "/ui/acme/ada")
	b.get("/ui/-/agents").shows(t, "Choose an agent", "ada")
}

func TestAHomeWithoutAgentsSaysWhatToDo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	must.Do(t, os.RemoveAll(filepath.Join(r.home, "tenants")))
	p := r.visitor("").get("/ui/")
	p.shows(t, "Welcome to Amber", "amber setup", "amber remember", "amber import --scan")
	names := must.Get(r.names(context.Background(), ""))(t)
	must.Equal(t, "agents that were made by looking", len(names), 0)
}

func TestManyAgentsComeInPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 450 {
		must.Do(t, os.MkdirAll(filepath.Join(r.home, "tenants", "acme", "agents", "worker-"+strings.Repeat("x", 40)+string(rune('a'+i/26))+string(rune('a'+i%26))), 0o700))
	}
	b, at, seen := r.visitor(""), "/ui/", 0
	for pages := 0; at != ""; pages++ {
		p := b.get(at)
		if len(p.body) > 100_000 || pages > 3 {
			t.Fatalf("page %d of the agents has %d bytes", pages, len(p.body))
		}
		at = ""
		for n := range p.all("a") {
			switch {
			case attribute(n, "rel") == "next":
				at = attribute(n, "href")
			case strings.HasPrefix(attribute(n, "href"), "/ui/acme/") || strings.HasPrefix(attribute(n, "href"), "/ui/umbrella/"):
				seen++
			}
		}
	}
	must.Equal(t, "agents", seen, 453)
	p := b.get("/ui/-/agents?q=eve")
	p.shows(t, "umbrella", "eve")
	p.lacks(t, "worker-")
}

// nodeText is what a reader sees of an element.
func nodeText(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data + " ")
		}
	}
	return b.String()
}
