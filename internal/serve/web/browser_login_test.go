package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/amber-memory/amber/internal/test/must"
)

// The screens of a server that wants a token: to log in, and what a wrong token and a wrong address lead to.
func logIn(t *testing.T, s *suite) {
	r := newLockedRig(t)
	p := r.sample("acme", "ada")
	w := walker{t: t, r: r, tab: s.c.tab(t), visitor: r.visitor(""), looks: looks}
	w.walk(address{route: "/-/login", path: "/ui/-/login"}, "stranger")
	w.tab.open(r.url + adaHome + "/recall")
	w.tab.await(`document.activeElement.id === "token"`)
	w.tab.keys("wrong")
	w.tab.leads(press(kb.Enter))
	run(w.tab, chromedp.WaitVisible(chromedp.CSS(".problem")))
	run(w.tab, chromedp.SendKeys(chromedp.ID("token"), ada))
	w.tab.leads(press(kb.Enter))
	must.Equal(t, "where the log-in leads", run(w.tab, chromedp.Location()), r.url+adaHome+"/recall")
	if secrets := eval[string](w.tab, `document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage)`); secrets != "{}{}" {
		t.Errorf("scripts of the page can read %s", secrets)
	}
	w.tab.take()
	reader := r.visitor(adaRead)
	w.visitor = reader
	for _, a := range []address{{route: "a memory for a reader", path: adaHome + "/memories/" + string(p.memory)}, {route: "recall for a reader", path: adaHome + "/recall"}} {
		for _, fault := range faultsOfHTML(reader.get(a.path).body) {
			t.Errorf("%s: %s", a.route, fault)
		}
	}
}
