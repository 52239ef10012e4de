//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// routeOf is a route of a server's own description.
type routeOf struct {
	method, path, id string
	endless          bool
}

// routes are those that a server describes.
func (w *waiter) routes(token string) (all []routeOf) {
	w.Helper()
	var d struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Responses   map[string]struct {
				Content map[string]json.RawMessage `json:"content"`
			} `json:"responses"`
		} `json:"paths"`
	}
	status, document := w.answers(token, "GET", "/openapi.json", "")
	must.Equal(w, "status of the document", status, 200)
	must.Do(w, json.Unmarshal(document, &d))
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			o := d.Paths[path][method]
			if !strings.HasPrefix(path, "/v1/") || o.OperationID == "" {
				continue
			}
			_, endless := o.Responses["200"].Content["text/event-stream"]
			all = append(all, routeOf{strings.ToUpper(method), path, o.OperationID, endless})
		}
	}
	return all
}

// said is all that a caller sees of an answer, but for what is another in each.
type said struct {
	Status int
	Body   string
}

var requestID = regexp.MustCompile(`"request_id":"[^"]*"`)

// says asks with a token.
func (w *waiter) says(token, method, path, body string) said {
	w.Helper()
	status, answer := w.answers(token, method, path, body)
	return said{status, requestID.ReplaceAllString(string(answer), "")}
}

// answers sends a request and returns the whole answer.
func (w *waiter) answers(token, method, path, body string) (status int, answer []byte) {
	w.Helper()
	req := must.Get(http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body)))(w)
	req.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if method == "PUT" && strings.HasSuffix(path, "/state/plan") {
		req.Header.Set("If-None-Match", "*")
	}
	resp := must.Get(w.client.Do(req))(w)
	defer resp.Body.Close()
	return resp.StatusCode, must.Get(io.ReadAll(resp.Body))(w)
}

// in fills in the variables of a route.
func (r routeOf) in(tenant, agent string, ids map[string]string) string {
	path := strings.NewReplacer("{tenant}", tenant, "{agent}", agent).Replace(r.path)
	family, _, _ := strings.Cut(r.id, ".")
	path = regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllStringFunc(path, func(v string) string {
		for _, key := range []string{family + v, v} {
			if id := ids[key]; id != "" {
				return id
			}
		}
		return "00000000-0000-7000-8000-000000000001"
	})
	if !strings.Contains(r.path, "{tenant}") {
		path += "?tenant=" + tenant + "&agent=" + agent
	}
	return path
}

// Tokens of another tenant and of another agent get nothing from any route of a server whose agents share the tables of a
// database: not with the names of agents, and not with ids of rows that are there.
func TestIsolationInADatabase(t *testing.T) {
	t.Parallel()
	const canary = "canary7f3a"
	s := newSetting(t, false)
	s.database()
	root := s.token("--all-tenants", "--scope", "admin")
	foreign := s.token("--tenant", "umbrella", "--all-agents", "--scope", "admin")
	bob := s.token("--tenant", "acme", "--agent", "bob", "--scope", "admin")
	w := must.Get(s.tryToServe("--listen", "127.0.0.1:0", "--accept-unsafe-database"))(t)
	// The same ids in every agent, as sessions and tasks of hosts may have.
	ids := map[string]string{"{session}": "s1", "{name}": "plan", "{task}": "t1", "{node}": "n1", "task{id}": "t1"}
	for _, family := range []string{"session", "turn", "loop", "state", "compaction", "activity"} {
		ids[family+"{id}"] = "s1"
	}
	for agent, word := range map[string]string{"acme/agents/ada": canary, "acme/agents/bob": "bobs", "umbrella/agents/eve": "eves"} {
		for _, one := range []struct{ method, path, body string }{
			{"POST", "memories", `{"content":"the harbour is called WORD"}`},
			{"PUT", "notes/plan", `{"content":"# WORD"}`},
			{"POST", "sessions", `{"id":"s1","name":"WORD"}`},
			{"POST", "sessions/s1/turns", `{"role":"user","content":"WORD"}`},
			{"PUT", "sessions/s1/state", `{"document":{"a":"WORD"}}`},
			{"PUT", "sessions/s1/loop", `{"run_id":"run","state_json":{"i":"WORD"}}`},
			{"PUT", "state/plan", `{"document":{"a":"WORD"}}`},
			{"PUT", "tasks/t1", `{"goal":"WORD"}`},
			{"POST", "queue", `{"entry_id":"e1","task_id":"t1","node_id":"n1","payload":"WORD"}`},
		} {
			a := w.says(root, one.method, "/v1/tenants/"+agent+"/"+one.path, strings.ReplaceAll(one.body, "WORD", word))
			must.Hold(t, a.Status/100 == 2, "%s of %s: %d %s", one.path, agent, a.Status, a.Body)
			if one.path == "memories" && word == canary {
				memory := s.idOf(a.Body)
				ids["memory{id}"], ids["concept{id}"], ids["relation{id}"], ids["{memory}"] = memory, memory, memory, memory
			}
		}
	}
	kept := func() (all string) {
		for _, part := range []string{"memories", "notes/plan", "sessions/s1/turns", "tasks/t1", "queue", "state/plan", "sessions/s1/state", "sessions/s1/loop"} {
			a := w.says(root, "GET", "/v1/tenants/acme/agents/ada/"+part, "")
			must.Equal(t, "ada's "+part, a.Status, 200)
			all += fmt.Sprintln(part, a.Body)
		}
		return all
	}
	before, routes := kept(), w.routes(root)
	must.Says(t, "what ada has", before, canary)
	must.Hold(t, len(routes) > 80, "the server has %d routes", len(routes))
	for _, r := range routes {
		want := w.says(foreign, r.method, r.in("nosuch", "nobody", ids), `{"garbage`)
		must.Equal(t, r.id+" of nobody", want.Status, 404)
		for _, c := range []struct{ token, tenant, agent string }{
			{foreign, "acme", "ada"}, {bob, "umbrella", "eve"}, {bob, "acme", "ada"},
		} {
			must.Equal(t, r.id+" of "+c.tenant+"/"+c.agent, w.says(c.token, r.method, r.in(c.tenant, c.agent, ids), `{"garbage`), want)
		}
	}
	// In their own agents, with ids of ada's rows.
	for _, r := range routes {
		if r.endless || !strings.Contains(r.path, "{agent}") {
			continue
		}
		for _, c := range []struct{ token, tenant, agent string }{{foreign, "umbrella", "eve"}, {bob, "acme", "bob"}} {
			bodies := []string{`{}`, `{"text":"what is the harbour called"}`, `{"consumer_id":"c"}`}
			if r.method == "GET" {
				bodies = []string{""}
			}
			for _, body := range bodies {
				if a := w.says(c.token, r.method, r.in(c.tenant, c.agent, ids), body); strings.Contains(a.Body, canary) {
					t.Errorf("%s of %s/%s with %s: %s", r.id, c.tenant, c.agent, body, a.Body)
				}
			}
		}
	}
	must.Equal(t, "what ada has", kept(), before)
}
