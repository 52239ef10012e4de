package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// plainFaults lists forms that cannot be sent without JavaScript, and what is only shown by it.
const plainFaults = `(() => {
  const faults = [];
  const main = document.querySelector("main");
  if (!main || main.innerText.trim().length < 10) faults.push("nothing is to be read");
  for (const f of document.querySelectorAll("main form")) {
    if (!f.checkVisibility()) continue;
    if (![...f.elements].some((e) => e.matches("button:not([type=button]), input[type=submit]") && e.checkVisibility())) faults.push("a form has no button: " + f.outerHTML.slice(0, 120));
  }
  for (const b of document.querySelectorAll("button[type=button]")) {
    if (b.checkVisibility()) faults.push("a button does nothing: " + b.outerHTML.slice(0, 120));
  }
  return faults;
})()`

// withoutScripts is a tab that runs no script of the page.
func (s *suite) withoutScripts(t *testing.T, agent amber.AgentID) (*tab, *rig, *place) {
	t.Helper()
	b, r, p := s.desk(t, agent)
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	return b, r, p
}

func everyScreenWithoutJavaScript(t *testing.T, s *suite) {
	b, r, p := s.withoutScripts(t, "ada")
	for _, a := range everyScreen(t, r.page.Routes(), p) {
		b.look(looks[3])
		b.open(r.url + a.path)
		for _, fault := range eval[[]string](b, plainFaults) {
			t.Errorf("%s: %s", a.path, fault)
		}
		if wide := b.sideways(""); wide != "" {
			t.Errorf("%s: scrolls sideways: %s", a.path, wide)
		}
	}
}

func formsWithoutJavaScript(t *testing.T, s *suite) {
	b, r, p := s.withoutScripts(t, "pat")
	const patHome = "/ui/acme/pat"
	b.open(r.url + patHome + "/memories")
	run(b, chromedp.SendKeys(chromedp.ID("find"), "which database did we choose"))
	b.leads(chromedp.Submit(chromedp.ID("find")))
	if text := run(b, chromedp.Text(chromedp.CSS("main"))); !strings.Contains(text, "PostgreSQL") {
		t.Errorf("recall shows %s", text)
	}
	b.open(r.url + patHome + "/memories/" + string(p.memory) + "/edit")
	run(b, chromedp.SetValue(chromedp.CSS("main textarea[name=content]"), "Written without a script."))
	b.leads(chromedp.Click(chromedp.CSS("main form button:not([type=button])")))
	must.Equal(t, "the text", must.Get(r.store("acme", "pat").Memories.Get(t.Context(), p.memory))(t).Content, "Written without a script.")
	b.leads(chromedp.Click(chromedp.CSS(".theme button")))
	must.Equal(t, "the theme", eval[string](b, `document.documentElement.dataset.theme`), "dark")
}
