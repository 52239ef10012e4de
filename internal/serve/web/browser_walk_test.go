package web_test

import (
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/amber-memory/amber"
)

// everyLook asks for everything in each look.
var everyLook = flag.Bool("browser.full", false, "look at everything in every width and colour")

//go:embed testdata/axe/axe.min.js
var axe string

// TestInABrowser uses the page as people do, in one browser and on one server: it looks at every screen, wide and light or
// narrow and dark, and in every mixture when all is wanted, with what a project leaves behind and with texts that were written to do harm; it uses the
// keyboard alone; and it reads and changes things without JavaScript.
func TestInABrowser(t *testing.T) {
	t.Parallel()
	s := &suite{c: openBrowser(t), r: newRig(t)}
	for _, part := range []struct {
		name string
		test func(*testing.T, *suite)
	}{
		{"every screen", everyScreenOfAProject},
		{"every screen with hostile text", everyScreenWithHostileText},
		{"Tab reaches everything", tabReachesEverything},
		{"keys open every screen of the navigation", keysOpenEveryScreen},
		{"a key trusts a folder", keyTrustsAFolder},
		{"keys search and help", keysSearchAndHelp},
		{"keys walk and edit", keysWalkAndEdit},
		{"keys compare snapshots", keysCompareSnapshots},
		{"keys on every screen", keysOnEveryScreen},
		{"every screen without JavaScript", everyScreenWithoutJavaScript},
		{"forms without JavaScript", formsWithoutJavaScript},
		{"log-in", logIn},
		{"the stream of a tab", streamOfATab},
		{"health goes on", healthGoesOn},
		{"recall while somebody types", recallWhileTyping},
	} {
		t.Run(part.name, func(t *testing.T) {
			t.Parallel()
			part.test(t, s)
		})
	}
}

// suite is what the parts share.
type suite struct {
	c *chromium
	r *rig

	mu    sync.Mutex
	known map[amber.AgentID]*place
}

// place is an agent of acme with the sample. Parts that change something have one of their own.
func (s *suite) place(agent amber.AgentID) *place {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[amber.AgentID]*place{}
	}
	if s.known[agent] == nil {
		s.known[agent] = s.r.sample("acme", agent)
	}
	return s.known[agent]
}

// desk is a tab of a desktop for an agent.
func (s *suite) desk(t *testing.T, agent amber.AgentID) (*tab, *rig, *place) {
	t.Helper()
	b := s.c.tab(t)
	b.look(looks[0])
	return b, s.r, s.place(agent)
}

func everyScreenOfAProject(t *testing.T, s *suite) {
	w := walker{t: t, r: s.r, tab: s.c.tab(t), visitor: s.r.visitor("")}
	w.walkAll(s.place("ada"), "ada", 0)
}

func everyScreenWithHostileText(t *testing.T, s *suite) {
	w := walker{t: t, r: s.r, tab: s.c.tab(t), visitor: s.r.visitor("")}
	w.walkAll(s.r.furnishWith("acme", "bob", hostileText), "bob", 1)
}

// walker looks at screens in one tab.
type walker struct {
	t       *testing.T
	r       *rig
	tab     *tab
	visitor *browser
	looks   []look
}

func (w *walker) errorf(a address, format string, args ...any) {
	w.t.Helper()
	w.t.Errorf("%s (%s): %s", a.route, shortened(a.path), fmt.Sprintf(format, args...))
}

func shortened(s string) string {
	if len(s) > 120 {
		return s[:120] + "…"
	}
	return s
}

// walkAll looks at every screen of a place: with -browser.full in every width and colour, else in one look, by turns
// wide and light or narrow and dark. Two walks that begin with 0 and 1 look at each screen in different looks.
func (w *walker) walkAll(p *place, who string, first int) {
	w.t.Helper()
	for i, a := range append(everyScreen(w.t, w.r.page.Routes(), p), jobScreens(w.t, w.visitor, p)...) {
		w.looks = looks
		if !*everyLook {
			w.looks = []look{looks[(first+i)%2*2]}
		}
		w.walk(a, who)
	}
}

// walk looks at one screen in the ways that are set.
func (w *walker) walk(a address, who string) {
	w.t.Helper()
	page := w.visitor.get(a.path)
	for _, fault := range faultsOfHTML(page.body) {
		w.errorf(a, "HTML: %s", fault)
	}
	w.tab.look(w.looks[0])
	status, header := w.tab.open(w.r.url + a.path)
	if status != http.StatusOK {
		w.errorf(a, "status %d: %s", status, shortened(page.text()))
		return
	}
	if p := header.Get("Content-Security-Policy"); !strings.HasPrefix(p, "default-src 'none'; script-src 'self'; style-src 'self'") {
		w.errorf(a, "policy %q", p)
	}
	run(w.tab, chromedp.Evaluate[chromedp.Void](axe))
	for i, l := range w.looks {
		if i > 0 {
			w.tab.look(l)
		}
		w.fits(a, l)
		w.accessible(a, l)
		w.tab.shoot(who+" "+a.name(), l)
	}
	w.tab.look(look{width: 1280})
	if wide := w.tab.sideways(`document.documentElement.style.fontSize = "200%"; `); wide != "" {
		w.errorf(a, "scrolls sideways with text of 200 %%: %s", wide)
	}
	w.quiet(a)
}

// sideways is what is wider than the page; "" where nothing is.
const sideways = `(() => {
  const most = document.scrollingElement.scrollWidth;
  if (most <= innerWidth) return "";
  const inside = (e) => { for (let p = e.parentElement; p; p = p.parentElement) { if (getComputedStyle(p).overflowX !== "visible") return true; } return false; };
  const wide = [...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !inside(e));
  return most + " px of " + innerWidth + ": " + wide.slice(0, 4).map((e) => e.outerHTML.slice(0, 120)).join(" | ");
})()`

// sideways lists the elements that are wider than the page after a script; "" where none is. A page that was just given another width may report the width
// before, so only what stays too wide counts.
func (b *tab) sideways(script string) (wide string) {
	b.t.Helper()
	for range 20 {
		if wide = eval[string](b, script+sideways); wide == "" {
			return ""
		}
		run(b, chromedp.Sleep(50*time.Millisecond))
	}
	return wide
}

func (w *walker) fits(a address, l look) {
	w.t.Helper()
	if wide := w.tab.sideways(""); wide != "" {
		w.errorf(a, "%s: scrolls sideways: %s", l, wide)
	}
}

// violation is what axe found.
type violation struct {
	ID, Help string
	Nodes    []struct {
		HTML           string
		FailureSummary string
	}
}

// allRules is what axe is asked for.
const allRules = `{type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}`

// accessible asks axe.
func (w *walker) accessible(a address, l look) {
	w.t.Helper()
	ask := `axe.run(document, {preload: false, resultTypes: ["violations"], runOnly: ` + allRules + `}).then((r) => JSON.stringify(r.violations))`
	var found []violation
	if err := json.Unmarshal([]byte(eval[string](w.tab, ask)), &found); err != nil {
		w.t.Fatal(err)
	}
	for _, v := range found {
		for i, n := range v.Nodes {
			if i < 3 {
				w.errorf(a, "%s: axe %s: %s: %s: %s", l, v.ID, v.Help, shortened(n.HTML), n.FailureSummary)
			}
		}
	}
}

// quiet expects that the console has no line, and that the page asked for nothing outside /ui of this server.
func (w *walker) quiet(a address) {
	w.t.Helper()
	said, asked := w.tab.take()
	for _, line := range said {
		w.errorf(a, "console: %s", line)
	}
	for _, u := range asked {
		if !strings.HasPrefix(u, w.r.url+"/ui") {
			w.errorf(a, "asks %s", u)
		}
	}
}
