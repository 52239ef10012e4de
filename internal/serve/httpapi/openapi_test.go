package httpapi_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/test/must"
)

// The document is what was reviewed. Run with -update after a change of the
// API.
func TestOpenAPIIsTheGoldenOne(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.ask(call{method: "GET", path: "/openapi.json", token: "-"}).want(200)
	var indented bytes.Buffer
	must.Do(t, json.Indent(&indented, got.body, "", "  "))
	file := filepath.Join("testdata", "openapi.json")
	if *update {
		must.Do(t, os.WriteFile(file, indented.Bytes(), 0o644))
	}
	must.Equal(t, "", indented.String(), string(must.Get(os.ReadFile(file))(t)))
}

// Every row of the table is in the document exactly once, with its scope, its
// variables and a summary.
func TestOpenAPIListsEveryOperationOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.document()
	must.Equal(t, "version", d.OpenAPI, "3.1.0")
	count := map[string]int{}
	for _, methods := range d.Paths {
		for _, c := range methods {
			count[c.OperationID]++
		}
	}
	for _, o := range r.api.Operations() {
		c, ok := d.Paths[o.Path][strings.ToLower(o.Method)]
		if !ok || c.OperationID != o.ID || count[o.ID] != 1 {
			t.Errorf("%s is there %d times, %s %s is %q", o.ID, count[o.ID], o.Method, o.Path, c.OperationID)
		}
		delete(count, o.ID)
		checkDocumented(t, o, c)
	}
	for id := range count {
		if !strings.HasPrefix(id, "server.") {
			t.Errorf("%q is in no table", id)
		}
	}
}

var pathVariable = regexp.MustCompile(`{([a-z]+)}`)

func checkDocumented(t *testing.T, o httpapi.Operation, c documentedCall) {
	t.Helper()
	if c.Scope != o.Scopes || c.Summary == "" || strings.HasSuffix(c.Summary, ".") || (c.RequestBody != nil) != o.HasBody {
		t.Errorf("%s: %+v", o.ID, c)
	}
	var inPath, seen []string
	for _, p := range c.Parameters {
		must.Equal(t, o.ID+": "+p.In+" "+p.Name+" is there twice", slices.Contains(seen, p.In+" "+p.Name), false)
		seen = append(seen, p.In+" "+p.Name)
		if p.In == "path" {
			inPath = append(inPath, p.Name)
			must.Equal(t, o.ID+": "+p.Name+" is required", p.Required, true)
		}
	}
	var want []string
	for _, m := range pathVariable.FindAllStringSubmatch(o.Path, -1) {
		want = append(want, m[1])
	}
	slices.Sort(want)
	slices.Sort(inPath)
	must.Equal(t, o.ID, inPath, want)
	if o.Mutates && !slices.Contains(seen, "header Idempotency-Key") {
		t.Errorf("%s takes no Idempotency-Key", o.ID)
	}
	went := slices.DeleteFunc(slices.Collect(maps.Keys(c.Responses)), func(status string) bool { return !strings.HasPrefix(status, "2") })
	if len(went) != 1 || c.Responses["default"].Ref != "#/components/responses/Failure" {
		t.Errorf("%s: answers %v", o.ID, c.Responses)
	}
}

// Errors have the shape that is documented, and the status of their kind.
func TestErrorsAreAsDocumented(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.document()
	a := r.ask(call{method: "GET", path: "memories/00000000-0000-7000-8000-000000000000"}).failed(amber.KindNotFound)
	var v any
	must.Do(t, json.Unmarshal(a.body, &v))
	must.NoError(t, d.fits(d.Components.Responses["Failure"].Content["application/json"].Schema, v, "failure"))
}

// The routes that concern no agent, and the page of reference with what it
// loads.
func TestOpenRoutes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for path, kind := range map[string]string{
		"/livez": "application/json", "/readyz": "application/json", "/health": "application/json", "/openapi.json": "application/json",
		"/docs": "text/html; charset=utf-8", "/docs/script.js": "text/javascript; charset=utf-8", "/docs/style.css": "text/css; charset=utf-8",
		"/metrics": "text/plain; charset=utf-8", "/mcp": "text/plain; charset=utf-8", adaPath + "/mcp": "text/plain; charset=utf-8",
	} {
		a := r.ask(call{method: "GET", path: path}).want(200)
		if got := a.header.Get("Content-Type"); got != kind || len(a.body) == 0 {
			t.Errorf("%s is %q: %s", path, got, a.body)
		}
		h := r.ask(call{method: "HEAD", path: path}).want(200)
		must.Equal(t, "HEAD "+path, len(h.body), 0)
		if !slices.Contains(r.api.Routes(), strings.Replace(path, adaPath, "/v1/tenants/{tenant}/agents/{agent}", 1)) {
			t.Errorf("%s is no route", path)
		}
		if kind == "text/html; charset=utf-8" && !strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: headers %v", path, a.header)
		}
	}
}
