package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/test/must"
)

// tree is a part of the document as it is written.
type tree = map[string]any

// keeper finds what a generator of clients would miss in the document.
type keeper struct {
	doc   tree
	used  map[string]bool // what is referred to
	wrong []string
}

func (k *keeper) say(format string, args ...any) {
	k.wrong = append(k.wrong, fmt.Sprintf(format, args...))
}

// described checks the description of something.
func (k *keeper) described(at string, v tree) string {
	text, _ := v["description"].(string)
	if text == "" {
		k.say("%s has no description", at)
	} else if !strings.HasSuffix(text, ".") && !strings.Contains(text, "\n") {
		k.say("%s: the description is no sentence: %q", at, text)
	}
	return text
}

// keep looks at the whole of a document.
func keep(doc tree) []string {
	k := &keeper{doc: doc, used: map[string]bool{}}
	tags := map[string]bool{}
	for _, t := range list(doc["tags"]) {
		k.described("tag "+fmt.Sprint(t["name"]), t)
		tags[fmt.Sprint(t["name"])] = false
	}
	if len(list(doc["servers"])) == 0 {
		k.say("there are no servers")
	}
	ids := map[string]int{}
	for _, methods := range object(doc["paths"]) {
		for _, op := range object(methods) {
			id := fmt.Sprint(object(op)["operationId"])
			ids[id]++
			k.operation(id, object(op), tags)
		}
	}
	for id, n := range ids {
		if n != 1 {
			k.say("%s is there %d times", id, n)
		}
	}
	for name, used := range tags {
		if !used {
			k.say("tag %s is not used", name)
		}
	}
	k.components()
	slices.Sort(k.wrong)
	return k.wrong
}

func (k *keeper) components() {
	parts := object(k.doc["components"])
	for name, s := range object(parts["schemas"]) {
		k.described(name, object(s))
		k.schema(name, object(s), true)
	}
	for name, r := range object(parts["responses"]) {
		k.described("response "+name, object(r))
		k.contents("response "+name, object(r))
	}
	for _, sort := range []string{"schemas", "responses"} {
		for name := range object(parts[sort]) {
			if !k.used["#/components/"+sort+"/"+name] {
				k.say("%s of %s is not used", name, sort)
			}
		}
	}
	for ref := range k.used {
		sort, name, _ := strings.Cut(strings.TrimPrefix(ref, "#/components/"), "/")
		if object(parts[sort])[name] == nil {
			k.say("there is no %s", ref)
		}
	}
}

// schema looks at a schema; top says that it has a name.
func (k *keeper) schema(at string, s tree, top bool) {
	if ref, ok := s["$ref"].(string); ok {
		k.used[ref] = true
	}
	if s["properties"] != nil && !top {
		k.say("%s is an object without a name", at)
	}
	if s["deprecated"] != nil {
		k.say("%s is deprecated", at)
	}
	if (s["type"] == "integer" || s["type"] == "number") && s["format"] == nil {
		k.say("%s is a number without a format", at)
	}
	if words, ok := s["enum"].([]any); ok {
		each, _ := s["x-enum-descriptions"].([]any)
		if len(each) != len(words) || slices.Contains(each, any("")) {
			k.say("%s: not every word of the enum is described", at)
		}
	}
	required, _ := s["required"].([]any)
	for _, name := range required {
		if object(s["properties"])[name.(string)] == nil {
			k.say("%s: %s is required and not described", at, name)
		}
	}
	for name, p := range object(s["properties"]) {
		k.described(at+"."+name, object(p))
		k.schema(at+"."+name, object(p), false)
	}
	for _, part := range []string{"items", "additionalProperties", "contentSchema"} {
		if p, ok := s[part].(tree); ok {
			k.schema(at+" "+part, p, false)
		}
	}
	for _, p := range list(s["anyOf"]) {
		k.schema(at, p, false)
	}
}

func (k *keeper) contents(at string, v tree) {
	for kind, c := range object(v["content"]) {
		k.schema(at+" "+kind, object(object(c)["schema"]), false)
	}
	for name, h := range object(v["headers"]) {
		k.described(at+" "+name, object(h))
		k.schema(at+" "+name, object(object(h)["schema"]), false)
	}
}

func (k *keeper) operation(id string, op tree, tags map[string]bool) {
	if summary := fmt.Sprint(op["summary"]); len(k.described(id, op)) <= len(summary) {
		k.say("%s: the description says no more than the summary", id)
	}
	if op["deprecated"] != nil {
		k.say("%s is deprecated", id)
	}
	for _, tag := range op["tags"].([]any) {
		if _, ok := tags[tag.(string)]; !ok {
			k.say("%s: there is no tag %s", id, tag)
		}
		tags[tag.(string)] = true
	}
	query := map[string]bool{}
	for _, p := range list(op["parameters"]) {
		name := id + ": " + fmt.Sprint(p["name"])
		k.described(name, p)
		k.schema(name, object(p["schema"]), false)
		if p["in"] == "query" {
			query[fmt.Sprint(p["name"])] = true
		} else if p["example"] == nil && id != "event.stream" {
			k.say("%s has no example", name)
		}
	}
	if body := object(op["requestBody"]); body != nil {
		k.described(id+": body", body)
		k.contents(id+": body", body)
		k.exampled(id+": body", body)
	}
	k.responses(id, op, query)
}

// responses looks at the answers, and at how a listing comes.
func (k *keeper) responses(id string, op tree, query map[string]bool) {
	page, paged := op["x-amber-page"].(tree)
	for status, r := range object(op["responses"]) {
		r := object(r)
		if ref, ok := r["$ref"].(string); ok {
			k.used[ref] = true
			k.status(id, status, strings.TrimPrefix(ref, "#/components/responses/"))
			continue
		}
		at := id + ": " + status
		k.described(at, r)
		k.contents(at, r)
		k.exampled(at, r)
		listed := strings.HasSuffix(fmt.Sprint(object(object(object(r["content"])["application/json"])["schema"])["$ref"]), "Page")
		_, lines := object(r["content"])["application/x-ndjson"]
		if listed != paged || (page["lines"] != nil) != lines || (page["cursor"] != nil) != (listed && query["cursor"]) ||
			(page["limit"] != nil) != (listed && query["limit"]) || (page["next"] != nil) != (page["cursor"] != nil) || paged && (page["whole"] == nil) == (page["limit"] == nil) {
			k.say("%s: x-amber-page is %v", at, page)
		}
	}
}

// status looks whether the kinds behind a status are of this status.
func (k *keeper) status(id, status, name string) {
	kinds, _ := object(object(object(k.doc["components"])["responses"])[name])["x-amber-kinds"].([]any)
	if status == "default" {
		return
	}
	if len(kinds) == 0 {
		k.say("%s: %s has no kinds", id, status)
	}
	for _, kind := range kinds {
		want := strconv.Itoa(amber.Kind(kind.(string)).HTTPStatus())
		alike := status == "401" && kind == "refused" || status == "503" && kind == "busy" // the server has no room
		if want != status && !alike {
			k.say("%s: an error of kind %s has status %s, not %s", id, kind, want, status)
		}
	}
}

// exampled looks for an example of what is JSON.
func (k *keeper) exampled(at string, v tree) {
	c := object(object(v["content"])["application/json"])
	if c != nil && c["example"] == nil && !strings.HasPrefix(at, "server.") {
		k.say("%s has no example", at)
	}
}

func object(v any) tree { o, _ := v.(tree); return o }

func list(v any) (out []tree) {
	all, _ := v.([]any)
	for _, one := range all {
		out = append(out, object(one))
	}
	return out
}

// written is the document as it is written.
func (r *rig) written() (doc tree) {
	r.t.Helper()
	must.Do(r.t, json.Unmarshal(r.ask(call{method: "GET", path: "/openapi.json", token: "-"}).want(200).body, &doc))
	return doc
}

// TestTheDocumentIsWorthGeneratingFrom: nothing is without a description, a name or an example, and no word of the
// table is left over.
func TestTheDocumentIsWorthGeneratingFrom(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	doc := r.written()
	for _, wrong := range keep(doc) {
		t.Error(wrong)
	}
	for _, wrong := range httpapi.WrongWords() {
		t.Error(wrong)
	}
	for _, name := range r.api.UnusedWords() {
		t.Errorf("the table has words for %s, and nothing in the document is that", name)
	}
	d := r.document()
	fields, parameters := httpapi.Needed()
	for name, needed := range fields {
		must.Equal(t, "required fields of "+name, d.Components.Schemas[name].Required, needed)
	}
	for id, needed := range parameters {
		must.Equal(t, "required parameters of "+id, d.call(t, id).needs(), needed)
	}
	for id := range httpapi.Beyond() {
		d.call(t, id)
	}
	for _, o := range r.api.Operations() {
		op := operationOf(t, doc, o)
		must.Equal(t, o.ID+" mutates", op["x-amber-mutates"] == true, o.Mutates)
		takesKey := slices.ContainsFunc(d.call(t, o.ID).Parameters, func(p documentedIn) bool { return p.Name == "Idempotency-Key" })
		must.Equal(t, o.ID+" takes a key", op["x-amber-idempotent"] == true, takesKey)
	}
}

func operationOf(t testing.TB, doc tree, o httpapi.Operation) tree {
	t.Helper()
	return object(object(object(doc["paths"])[o.Path])[strings.ToLower(o.Method)])
}

// TestExamplesFitTheirSchemas: every example of the document is what its schema says.
func TestExamplesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.document()
	checked := 0
	check := func(at string, s schema, b json.RawMessage) {
		if len(b) == 0 {
			return
		}
		var v any
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.UseNumber()
		must.Do(t, dec.Decode(&v))
		must.NoError(t, d.fits(s, v, at))
		checked++
	}
	for _, methods := range d.Paths {
		for _, c := range methods {
			for _, p := range c.Parameters {
				check(c.OperationID+" "+p.Name, p.Schema, p.Example)
			}
			if c.RequestBody != nil {
				for _, body := range c.RequestBody.Content {
					check(c.OperationID+" body", body.Schema, body.Example)
				}
			}
			for status, a := range c.Responses {
				for _, body := range a.Content {
					check(c.OperationID+" "+status, body.Schema, body.Example)
				}
			}
		}
	}
	if checked < 400 {
		t.Errorf("%d examples, want 400 at least", checked)
	}
}

// TestPassagesOfNoMemoryAreAsDocumented: what was said and what is in a note is found, too, and is no memory of any kind.
func TestPassagesOfNoMemoryAreAsDocumented(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.ask(call{method: "POST", path: "sessions/s1/turns", body: `{"role":"user","content":"The comet returns in autumn."}`}).want(200)
	r.ask(call{method: "PUT", path: "notes/sky", body: `{"content":"# Sky\n\nA comet was seen in the north.\n"}`}).want(200)
	r.remember("A comet has a tail.")
	a := r.ask(call{method: "POST", path: "recall", body: `{"text":"comet","session_id":"s1"}`}).want(200)
	layers := map[string]bool{}
	for _, h := range a.field("hits").([]any) {
		layers[fmt.Sprint(object(h)["layer"])] = true
	}
	must.Equal(t, "layers that were found", layers, map[string]bool{"memory": true, "exchange": true, "note": true})
	r.document().checkAnswer(t, "memory.recall", a)
}

// onlyDocument is the document, which is the same for every rig.
var onlyDocument struct {
	once sync.Once
	document
}

// theDocument is the document, without a request for it.
func (r *rig) theDocument() document {
	onlyDocument.once.Do(func() { must.Do(r.t, json.Unmarshal(r.api.Document(), &onlyDocument.document)) })
	return onlyDocument.document
}

// undocumented reports an error that the document does not know for its operation, "" for none.
func (r *rig) undocumented(c call, a reply) string {
	kind := a.kind()
	if kind == "" {
		return ""
	}
	path, _, _ := strings.Cut(c.path, "?")
	if !strings.HasPrefix(path, "/") {
		path = adaPath + "/" + path
	}
	for _, o := range r.api.Operations() {
		if o.Method != c.method || !samePath(o.Path, path) {
			continue
		}
		d := r.theDocument()
		name := strings.TrimPrefix(d.Paths[o.Path][strings.ToLower(o.Method)].Responses[strconv.Itoa(a.status)].Ref, "#/components/responses/")
		if !slices.Contains(d.Components.Responses[name].Kinds, kind) {
			return fmt.Sprintf("%s: %d %s is not documented: %s", o.ID, a.status, kind, a.body)
		}
		return ""
	}
	return ""
}

// samePath reports whether a path is one of a pattern.
func samePath(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if !strings.HasPrefix(want[i], "{") && want[i] != got[i] {
			return false
		}
	}
	return true
}
