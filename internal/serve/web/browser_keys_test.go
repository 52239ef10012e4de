package web_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// watchFocus numbers everything that a visitor can use, in the order of the page, and writes down where the focus
// comes and whether that is seen. Tab reaches only one radio button among those of one name; a field for a date has
// several stops of its own.
const watchFocus = `(() => {
  const groups = new Set();
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex]")].filter((e) => {
    if (e.disabled || e.type === "hidden" || e.tabIndex < 0 || !e.checkVisibility({visibilityProperty: true})) return false;
    if (e.type !== "radio") return true;
    const group = (e.form?.action || "") + e.name;
    const first = !groups.has(group) && !document.querySelector('input[type=radio][name="' + CSS.escape(e.name) + '"]:checked') || e.checked;
    if (first) groups.add(group);
    return first;
  });
  const faults = [];
  const seen = new Set();
  let last = -1;
  window.focusFaults = () => [...faults, ...all.filter((e) => !seen.has(e)).map((e) => "Tab does not reach " + e.outerHTML.slice(0, 120))];
  document.addEventListener("focusin", (e) => {
    const i = all.indexOf(e.target);
    if (i < 0 || seen.has(e.target)) return;
    seen.add(e.target);
    if (i < last) faults.push("Tab comes late to " + e.target.outerHTML.slice(0, 120));
    last = i;
    const s = getComputedStyle(e.target);
    if (s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 2) faults.push("the focus is not seen on " + e.target.outerHTML.slice(0, 120));
  });
  return all.length + 8 * document.querySelectorAll("input[type^=date], input[type=time], input[type=month]").length;
})()`

func tabReachesEverything(t *testing.T, s *suite) {
	b, r, p := s.desk(t, "ada")
	for _, a := range everyScreen(t, r.page.Routes(), p) {
		b.open(r.url + a.path)
		stops := eval[int](b, watchFocus)
		b.keys(strings.Repeat(kb.Tab, stops))
		for _, fault := range eval[[]string](b, `focusFaults()`) {
			t.Errorf("%s: %s", a.path, fault)
		}
	}
}

// where is the path of the page in a tab.
func (b *tab) where() string { b.t.Helper(); return eval[string](b, `location.pathname`) }

// tabTo presses Tab until the focus is on an element that a selector means.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	for range 300 {
		b.keys(kb.Tab)
		if eval[bool](b, `document.activeElement.matches(`+quote(selector)+`)`) {
			return
		}
	}
	b.t.Fatalf("Tab does not reach %s", selector)
}

func keysOpenEveryScreen(t *testing.T, s *suite) {
	b, r, _ := s.desk(t, "ada")
	b.open(r.url + adaHome + "/recall")
	links := eval[map[string]string](b, `Object.fromEntries([...document.querySelectorAll("nav [data-go]")].map((a) => [a.dataset.go, a.pathname]))`)
	if len(links) < 10 {
		t.Fatalf("the navigation has %v", links)
	}
	for key, path := range links {
		b.open(r.url + adaHome + "/recall")
		b.leads(press("g" + key))
		must.Equal(t, "where g "+key+" leads", b.where(), path)
		must.Equal(t, "what g "+key+" leads to", eval[bool](b, `document.querySelector("nav [aria-current]")?.dataset.go === `+quote(key)), true)
	}
}

func keyTrustsAFolder(t *testing.T, s *suite) {
	b, r, _ := s.desk(t, "ada")
	folders := r.folders()
	claims(t, folders, "acme/by-key")
	dir, has := claims(t, folders, "acme/by-key")
	must.Equal(t, "asks", has.Asks, "acme/by-key")
	b.open(r.url + adaHome + "/review")
	b.keys("t") // no row has the focus
	must.Equal(t, "asks after t without a row", must.Get(folders.Of(t.Context(), dir))(t).Asks, "acme/by-key")
	b.keys("j")
	b.leads(press("t"))
	must.Equal(t, "project after j t", must.Get(folders.Of(t.Context(), dir))(t).ID, "acme/by-key")
	must.Equal(t, "the page", b.where(), adaHome+"/review")
}

func keysSearchAndHelp(t *testing.T, s *suite) {
	b, r, _ := s.desk(t, "ada")
	b.open(r.url + adaHome + "/memories")
	b.keys("/")
	must.Equal(t, "the field that / goes to", eval[string](b, `document.activeElement.name`), "q")
	b.keys("?jgrxe/")
	must.Equal(t, "the field", eval[string](b, `document.activeElement.value`), "?jgrxe/")
	must.Equal(t, "the page", b.where(), adaHome+"/memories")
	must.Equal(t, "the help is open", eval[bool](b, `document.getElementById("keys").open`), false)
	b.keys(kb.Escape)
	must.Equal(t, "the field has the focus after esc", eval[bool](b, `document.activeElement.matches("input")`), false)
	b.keys("?")
	must.Equal(t, "the help is open", eval[bool](b, `document.getElementById("keys").open`), true)
	all := eval[int](b, `document.querySelectorAll("#keys dt").length`)
	b.keys("snap")
	if found := eval[int](b, `document.querySelectorAll("#keys dt").length`); found == 0 || found >= all {
		t.Errorf("%d of %d keys are about snapshots", found, all)
	}
	for range 2 { // the first one empties the field
		b.keys(kb.Escape)
	}
	must.Equal(t, "the help is open", eval[bool](b, `document.getElementById("keys").open`), false)
	must.Equal(t, "the page", b.where(), adaHome+"/memories")
}

func keysWalkAndEdit(t *testing.T, s *suite) {
	b, r, p := s.desk(t, "kim")
	const kimHome = "/ui/acme/kim"
	b.open(r.url + kimHome + "/memories")
	row := func() int {
		return eval[int](b, `[...document.querySelectorAll("[data-row]")].findIndex((r) => r.classList.contains("here"))`)
	}
	b.keys("jjk")
	must.Equal(t, "the row after j j k", row(), 0)
	b.keys("x")
	must.Equal(t, "marks after x", eval[int](b, `document.querySelectorAll("[data-row] input:checked").length`), 1)
	b.keys("jx")
	must.Equal(t, "marks after j x", eval[int](b, `document.querySelectorAll("[data-row] input:checked").length`), 2)
	b.keys("xkx")
	titles := eval[[]string](b, `[...document.querySelectorAll("[data-row] a")].map((a) => a.pathname)`)
	n := slices.Index(titles, kimHome+"/memories/"+string(p.memory))
	if n < 0 {
		t.Fatalf("the memory is not in %v", titles)
	}
	for row() != eval[int](b, fmt.Sprintf(`[...document.querySelectorAll("[data-row]")].findIndex((r) => r.querySelector("a").pathname === %q)`, kimHome+"/memories/"+string(p.memory))) {
		b.keys("j")
	}
	b.tabToRowLink()
	b.leads(press(kb.Enter))
	must.Equal(t, "the page after enter", b.where(), kimHome+"/memories/"+string(p.memory))
	b.leads(press("e"))
	must.Equal(t, "the page after e", b.where(), kimHome+"/memories/"+string(p.memory)+"/edit")
	b.tabTo("main textarea[name=content]")
	b.keys("Written by keys: je?x/g. ")
	b.tabTo("main button:not([type=button])")
	b.leads(press(kb.Enter))
	must.Equal(t, "the page after saving", b.where(), kimHome+"/memories/"+string(p.memory))
	m := must.Get(r.store("acme", "kim").Memories.Get(t.Context(), p.memory))(t)
	if !strings.Contains(m.Content, "Written by keys: je?x/g. ") {
		t.Errorf("the memory is %q", m.Content)
	}
}

// tabToRowLink puts the focus on the link of the row, where j has put it on something else.
func (b *tab) tabToRowLink() {
	b.t.Helper()
	for range 5 {
		if eval[bool](b, `document.activeElement.matches("[data-row] a")`) {
			return
		}
		b.keys(kb.Tab)
	}
	b.t.Fatal("the row has no link")
}

func keysCompareSnapshots(t *testing.T, s *suite) {
	b, r, p := s.desk(t, "ada")
	b.open(r.url + adaHome + "/recall")
	b.leads(press("gp"))
	b.keys("jxjx")
	must.Equal(t, "marks", eval[int](b, `document.querySelectorAll("[data-row] input:checked").length`), 2)
	b.tabTo("main form[action$=diff] button")
	b.leads(press(kb.Enter))
	must.Equal(t, "the page", b.where(), adaHome+"/snapshots/diff")
	text := eval[string](b, `document.querySelector("main").innerText`)
	for _, want := range []string{shortOf(p.snapshots[0]), shortOf(p.snapshots[1]), "Rounding of coupons and totals"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q (%s): %s", want, p.snapshots, text)
		}
	}
	b.keys(kb.Escape)
	b.await(`location.pathname === ` + quote(adaHome+"/snapshots"))
}

// shortOf is the end of an id, by which screens name it.
func shortOf(id amber.SnapshotID) string { return string(id[len(id)-8:]) }

// keysOnEveryScreen uses j, k, enter, e, x and esc wherever there are rows. Enter opens the first link of the row and e its
// editor, from the link and from the mark of the row, and no key sends a form.
func keysOnEveryScreen(t *testing.T, s *suite) {
	b, r, p := s.desk(t, "lee")
	const rowHere = `document.querySelector("[data-row].here")`
	screens := 0
	for _, a := range everyScreen(t, r.page.Routes(), p) {
		b.open(r.url + a.path)
		eval[bool](b, `window.sent = 0, addEventListener("submit", (e) => { sent++; e.preventDefault(); }), true`)
		b.keys("j")
		if !eval[bool](b, rowHere+` !== null`) {
			if eval[int](b, `document.querySelectorAll("main [data-row]").length`) > 0 {
				t.Errorf("%s: j goes to no row", a.path)
			}
			continue
		}
		screens++

		b.keys("jjkk")
		must.Equal(t, a.path+": the row after j j j k k is the first", eval[bool](b, rowHere+` === [...document.querySelectorAll("[data-row]")].find((r) => r.offsetParent !== null)`), true)
		if eval[bool](b, rowHere+`.querySelector("input[type=checkbox]") !== null`) {
			b.keys("x")
			must.Equal(t, a.path+": the mark after x", eval[bool](b, rowHere+`.querySelector("input[type=checkbox]").checked`), true)
			eval[bool](b, rowHere+`.querySelector("input[type=checkbox]").focus(), true`)
		}
		opens := eval[string](b, rowHere+`.querySelector("a[href]")?.href ?? ""`)
		edits := eval[string](b, `new URL(`+rowHere+`.dataset.edit || document.querySelector("[data-act=edit]")?.href || location.href, location.href).href`)
		if opens != "" {
			b.leads(press(kb.Enter))
			must.Equal(t, a.path+": enter leads to", eval[string](b, `location.href`), opens)
			b.open(r.url + a.path)
			b.keys("j")
		} else {
			b.keys(kb.Enter)
		}
		if edits != eval[string](b, `location.href`) {
			b.leads(press("e"))
			must.Equal(t, a.path+": e leads to", eval[string](b, `location.href`), edits)
			continue
		}
		b.keys("e")
		must.Equal(t, a.path+": e stays", eval[string](b, `location.href`), edits)
		must.Equal(t, a.path+": forms sent", eval[int](b, `window.sent ?? 0`), 0)
	}
	if screens < 10 {
		t.Errorf("rows were found on %d screens, want at least 10", screens)
	}
}
