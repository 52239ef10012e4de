package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/amber-memory/amber/wire"
)

// shown are the routes that are screens, with the queries that are put behind the address to see more of each; ""
// is the screen as it is, and words in braces are replaced by records, see [place.query]. A route of the page that
// is neither here nor in notShown fails the suite.
var shown = map[string][]string{
	"/-/agents":                              {"", "?q=ad"},
	"/{tenant}/{agent}":                      {"", "?kind=memory&project=shop"},
	"/{tenant}/{agent}/recall":               {"", "?q=which+database+did+we+choose", "?q=database&context=1", "?q=zzzzzz", "?q=coupons&as_of={a}"},
	"/{tenant}/{agent}/memories":             {"", "?deleted=1", "?kind=decision&trusted=1"},
	"/{tenant}/{agent}/memories/new":         {""},
	"/{tenant}/{agent}/memories/{id}":        {""},
	"/{tenant}/{agent}/memories/{id}/edit":   {""},
	"/{tenant}/{agent}/memories/{id}/forget": {""},
	"/{tenant}/{agent}/memories/{id}/erase":  {""},
	"/{tenant}/{agent}/graph":                {"", "?memory={memory}"},

	"/{tenant}/{agent}/sessions":                   {""},
	"/{tenant}/{agent}/sessions/{id}":              {"", "?order=oldest"},
	"/{tenant}/{agent}/sessions/{id}/turns/{turn}": {""},
	"/{tenant}/{agent}/notes":                      {"", "?new=1"},
	"/{tenant}/{agent}/notes/{name}":               {"", "?view=source", "?edit=1", "?delete=1", "?commit={commit}", "?from={before}&to={commit}"},

	"/{tenant}/{agent}/snapshots":                        {""},
	"/{tenant}/{agent}/snapshots/diff":                   {"?a={a}&b={b}", "?a={a}&b={b}&memory={memory}", ""},
	"/{tenant}/{agent}/snapshots/{id}":                   {""},
	"/{tenant}/{agent}/snapshots/{id}/memories":          {""},
	"/{tenant}/{agent}/snapshots/{id}/memories/{memory}": {"", "?restore=1"},
	"/{tenant}/{agent}/snapshots/{id}/restore":           {""},

	"/{tenant}/{agent}/review":                      {"", "?kept={memory}"},
	"/{tenant}/{agent}/conflicts":                   {"", "?settled=1"},
	"/{tenant}/{agent}/conflicts/{id}":              {""},
	"/{tenant}/{agent}/quarantine":                  {""},
	"/{tenant}/{agent}/quarantine/{session}/{name}": {""},
	"/{tenant}/{agent}/work":                        {"", "?state=queued"},
	"/{tenant}/{agent}/work/approvals/{id}":         {""},
	"/{tenant}/{agent}/work/tasks/{id}":             {""},
	"/{tenant}/{agent}/import":                      {""},
	"/{tenant}/{agent}/audit":                       {"", "?action=memory.write"},
	"/{tenant}/{agent}/tokens":                      {""},
	"/{tenant}/{agent}/tokens/{id}":                 {""},
	"/{tenant}/{agent}/health":                      {"", "?doctor=1"},
}

// notShown are the routes that are no screens, and why.
var notShown = map[string]string{
	"":                                      "leads to /ui/",
	"/":                                     "leads on, or is not found",
	"/{$}":                                  "leads to the start of an agent",
	"/-/login":                              "for visitors who have to log in: see logIn",
	"/-/beat":                               "a stream",
	"/-/proof":                              "for programs",
	"/{tenant}/{agent}/{$}":                 "leads to the timeline",
	"/{tenant}/{agent}/events":              "a stream",
	"/{tenant}/{agent}/export":              "a file",
	"/{tenant}/{agent}/jobs/{job}":          "is begun by forms: see jobScreens",
	"/{tenant}/{agent}/memories/{id}/as-of": "leads to a memory of a snapshot",
}

// query fills words in braces in.
func (p *place) query(s string) string {
	for word, value := range map[string]string{
		"{memory}": string(p.memory), "{a}": string(p.snapshots[0]), "{b}": string(p.snapshots[1]), "{commit}": p.commit, "{before}": p.before,
	} {
		s = strings.ReplaceAll(s, word, url.QueryEscape(value))
	}
	return s
}

// address is a screen with its variables filled in.
type address struct {
	route   string // its pattern
	path    string
	variant string // what was put behind it
}

// name is the same for every run.
func (a address) name() string {
	return strings.TrimPrefix(a.route, "/{tenant}/{agent}") + " " + a.variant
}

// everyScreen fills every screen in.
func everyScreen(t testing.TB, routes []string, p *place) (all []address) {
	t.Helper()
	for _, route := range routes {
		method, path, ok := strings.Cut(route, " ")
		if !ok {
			method, path = "GET", route
		}
		if method != "GET" {
			continue
		}
		name := strings.TrimPrefix(path, "/ui")
		variants, isScreen := shown[name]
		if _, known := notShown[name]; known == isScreen {
			t.Errorf("route %q is not in the table of screens of the browser suite, or twice", route)
		}
		for _, v := range variants {
			_, filled := p.fill(t, "GET "+path)
			all = append(all, address{route: name, path: filled + p.query(v), variant: v})
		}
	}
	return all
}

// jobScreens begins work by the forms of the page and returns where it is shown once it is done: a check, and what
// a restore would change.
func jobScreens(t testing.TB, visitor *browser, p *place) (all []address) {
	t.Helper()
	of := "/ui/" + string(p.tenant) + "/" + string(p.agent) + "/snapshots/" + string(p.snapshots[0])
	for _, form := range []string{"/verify", "/restore/plan"} {
		visitor.get(of)
		sent := visitor.post(of+form, "read_data", "1", "only", wire.PartMemory)
		if sent.status != http.StatusSeeOther {
			t.Errorf("%s: status %d: %s", form, sent.status, sent.text())
			continue
		}
		at := sent.header.Get("Location")
		for strings.Contains(visitor.get(at).body, `http-equiv="refresh"`) { // it goes on
			if t.Context().Err() != nil {
				t.Fatal(t.Context().Err())
			}
		}
		all = append(all, address{route: "/jobs" + form, path: at})
	}
	return all
}
