package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// A link of another site brings no cookie: the browser asks again by itself, and the log-in stays.
func TestALinkOfAnotherSiteEndsNoLogIn(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+adaHome+"/recall", nil))(t)
	for k, v := range map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"} {
		req.Header.Set(k, v)
	}
	p := r.visitor("").do(req)
	must.Equal(t, "status", p.status, http.StatusOK)
	must.Equal(t, "cookies", len(p.header.Values("Set-Cookie")), 0)
	if !strings.Contains(p.body, `http-equiv="refresh" content="0"`) {
		t.Errorf("the page does not ask again: %s", p.body)
	}
}

// A visitor whose log-in has ended finds the typed text on the page that asks for a token.
func TestATextIsNotLostWithTheLogIn(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	m := r.remember("first text")
	b := r.visitor(ada)
	edit := "memories/" + string(m.ID) + "/edit"
	b.get(edit)
	r.keys.revoke(ada)
	p := b.post(edit, "revision", "1", "content", "a long text\nthat took an hour", "kind", string(m.Kind))
	must.Equal(t, "status", p.status, http.StatusUnauthorized)
	p.shows(t, "What you typed", "It was not stored", "a long text that took an hour")
	if strings.Contains(p.body, `value="`+b.csrf+`" readonly`) {
		t.Error("the value of the form is shown")
	}
}

// The links of a screen that answers a form lead to screens.
func TestScreensThatAnswerFormsHaveAnAddress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	b := r.visitor("")
	b.get("audit")
	p := b.post("audit/verify")
	for n := range p.all("a") {
		if href := attribute(n, "href"); strings.HasPrefix(href, "/ui/") && b.get(href).status == http.StatusNotFound {
			t.Errorf("%s is not there", href)
		}
	}
	for n := range p.all("input") {
		if attribute(n, "name") == "next" && strings.Contains(attribute(n, "value"), "verify") {
			t.Errorf("the theme leads to %s", attribute(n, "value"))
		}
	}
}
