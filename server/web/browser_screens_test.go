package web_test

import (
	"strings"
	"testing"
)

// shown are the routes that are screens, with what is put behind the address to see more of each; "" is the
// screen as it is. A route of the page that is neither here nor in notShown fails the suite.
var shown = map[string][]string{
	"/-/agents":                              {""},
	"/{tenant}/{agent}/recall":               {"", "?q=which+database+did+we+choose", "?q=database&context=1", "?q=zzzzzz"},
	"/{tenant}/{agent}/memories":             {"", "?deleted=1", "?kind=decision&trusted=1"},
	"/{tenant}/{agent}/memories/new":         {""},
	"/{tenant}/{agent}/memories/{id}":        {""},
	"/{tenant}/{agent}/memories/{id}/edit":   {""},
	"/{tenant}/{agent}/memories/{id}/forget": {""},
	"/{tenant}/{agent}/memories/{id}/erase":  {""},
}

// notShown are the routes that are no screens, and why.
var notShown = map[string]string{
	"":         "leads to /ui/",
	"/":        "leads on, or is not found",
	"/{$}":     "leads to the start of an agent",
	"/-/login": "for visitors who have to log in: see logIn",
	"/-/beat":  "a stream", "/-/proof": "for programs",
	"/{tenant}/{agent}/memories/{id}/as-of": "leads to a memory of a snapshot",
}

// address is a screen with its variables filled in.
type address struct {
	route string // its pattern
	path  string
}

// name is the same for every run.
func (a address) name() string {
	_, query, _ := strings.Cut(a.path, "?")
	return strings.TrimPrefix(a.route, "/{tenant}/{agent}") + " " + query
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
			all = append(all, address{route: name, path: filled + v})
		}
	}
	return all
}
