package httpapi

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// object is a JSON object; its keys come out sorted, so the document is the
// same every time.
type object = map[string]any

// outline is an OpenAPI document in the making.
type outline struct {
	*schemas
	responses object // answers of requests that failed, by name
	examples  map[string]example
}

// document makes the OpenAPI document of the table of routes with the words of a table.
func (a *API) document(w words) []byte {
	d := &outline{schemas: &schemas{known: object{}, words: w}, examples: allExamples(), responses: object{"Failure": object{
		"description": "The request failed. The kind of the error decides the status, see ErrorKind.", "content": object{typeJSON: object{"schema": ref("Failure")}},
	}}}
	paths, tags := object{}, map[string]bool{"server": true}
	for _, o := range a.ops {
		p, ok := paths[o.Path()].(object)
		if !ok {
			p = object{}
			paths[o.Path()] = p
		}
		p[strings.ToLower(o.Method())] = d.operation(o)
		tags[o.Sort()] = true
	}
	d.server(paths)
	d.of(reflect.TypeFor[wire.Failure](), "")
	b, err := marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Amber", "version": a.o.Version, "license": object{"name": "Apache License 2.0", "identifier": "Apache-2.0"},
			"description": introduction,
		},
		"servers":  []object{{"url": "http://127.0.0.1:7411", "description": "The address where `amber serve` listens unless the configuration says otherwise."}},
		"tags":     d.tags(tags),
		"paths":    paths,
		"security": []object{{"token": []string{}}},
		"components": object{
			"schemas":         d.known,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "A token of `amber token create`. Until the first token is made, callers on the same machine need none."}},
			"responses":       d.responses,
		},
	})
	if err != nil {
		panic("httpapi: the OpenAPI document: " + err.Error()) // it holds maps of strings only
	}
	return b
}

// introduction is what the document says first.
const introduction = "Durable memory for AI agents. Errors are {\"error\":{kind, message, hint, reason, request_id}} with the status of their kind.\n\n" +
	"`x-amber-scope` names the scopes that a token needs. `x-amber-mutates` marks operations that change something, and `x-amber-idempotent` those that take an Idempotency-Key. " +
	"`x-amber-long` marks operations that may take an hour. `x-amber-page` marks listings: `cursor`, `next` and `limit` name the parameters and the field that lead from page to page, `whole` says that there is one page with everything, " +
	"and `lines` is the type to accept for one item on each line. `x-amber-receipt` marks operations whose answer lacks fields for a token without the scope read. `x-amber-kinds` names the kinds of error behind a status."

// tags describes the sorts of operations.
func (d *outline) tags(names map[string]bool) (out []object) {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, object{"name": name, "description": d.words("tag " + name)})
	}
	return out
}

// server describes the routes that concern no agent.
func (d *outline) server(paths object) {
	for _, r := range []struct {
		path, summary, kind string
		out                 reflect.Type // nil: text, or any object
		open                bool         // it needs no token
		kinds               []amber.Kind
	}{
		{"/livez", "Whether the process answers", typeJSON, reflect.TypeFor[serverStatus](), true, nil},
		{"/readyz", "Whether it takes requests", typeJSON, reflect.TypeFor[serverStatus](), true, []amber.Kind{amber.KindBusy, amber.KindUnreachable, amber.KindInternal}},
		{"/health", "How it is doing, with everything in the background", typeJSON, reflect.TypeFor[wire.ServerHealth](), false, []amber.Kind{amber.KindRefused, amber.KindInternal}},
		{"/metrics", "Metrics for Prometheus", "text/plain", nil, false, []amber.Kind{amber.KindRefused, amber.KindInternal}},
		{"/openapi.json", "This document", typeJSON, nil, true, nil},
	} {
		id := "server" + strings.ReplaceAll(r.path, "/", ".")
		schema := object{"type": "string"}
		switch {
		case r.out != nil:
			schema = d.of(r.out, "")
		case r.kind == typeJSON:
			schema = object{"type": "object"}
		}
		responses := failures(r.kinds, false, d.responses, d.words)
		responses["200"] = object{"description": "The answer.", "content": object{r.kind: d.content(schema, d.examples[id].Answer)}}
		about := object{"operationId": id, "summary": r.summary, "description": d.words(id), "tags": []string{"server"}, "responses": responses}
		if r.open {
			about["security"] = []object{}
		}
		paths[r.path] = object{"get": about}
	}
}

// content is what a body holds.
func (d *outline) content(schema object, example json.RawMessage) object {
	c := object{"schema": schema}
	if len(example) > 0 {
		c["example"] = example
	}
	return c
}

// operation is the operation object.
func (d *outline) operation(o *op.Row) object {
	out := object{
		"operationId": o.ID, "summary": o.Doc, "description": d.words(o.ID), "tags": []string{o.Sort()}, "x-amber-scope": scopesOf(o),
		"parameters": d.parameters(o), "responses": d.answers(o),
	}
	if o.Is(op.Changes) {
		out["x-amber-mutates"], out["x-amber-idempotent"] = true, true
	}
	if o.Is(op.Long) {
		out["x-amber-long"] = true
	}
	if hasReceipt(o) {
		out["x-amber-receipt"] = true
	}
	if p := pagedAs(o); p != nil {
		out["x-amber-page"] = p
	}
	eachInput(o, func(f op.Field) {
		if f.In != "body" {
			return
		}
		switch f.Name {
		case "raw":
			out["requestBody"] = object{"required": true, "description": "The file, byte by byte.", "content": object{typeBytes: object{"schema": object{}}}}
		case "json":
			out["requestBody"] = object{"required": true, "description": "One JSON document.", "content": object{
				typeJSON: d.content(d.ofRequest().of(f.Type, camel(o.ID)), d.examples[o.ID].Request),
			}}
		}
	})
	return out
}

// eachInput calls fn for every field of the input of an operation.
func eachInput(o *op.Row, fn func(f op.Field)) {
	_ = op.Fields(reflect.New(o.In).Elem(), func(f op.Field, _ reflect.Value) error {
		fn(f)
		return nil
	})
}

// pagedAs says how a listing comes; nil for what is none.
func pagedAs(o *op.Row) object {
	_, page := pageOf(o.Out)
	if !o.Is(op.Listed) && !page {
		return nil
	}
	named := map[string]bool{}
	eachInput(o, func(f op.Field) { named[f.Name] = named[f.Name] || f.In == "query" })
	out := object{"items": "items"}
	if o.Is(op.Listed) {
		out["lines"] = typeLines
	}
	if named["limit"] {
		out["limit"] = "limit"
	}
	if named["cursor"] {
		out["cursor"], out["next"] = "cursor", "next"
	}
	if !named["limit"] && !named["cursor"] {
		out["whole"] = true
	}
	return out
}

// scopesOf names what a token needs, as it is written to make one.
func scopesOf(o *op.Row) string {
	if o.Is(op.Shows) {
		return string(o.Scope) + "," + string(wire.TokenRead)
	}
	return string(o.Scope)
}

func (d *outline) parameters(o *op.Row) []object {
	params := []object{}
	add := func(in, name, doc string, schema object) {
		p := object{"in": in, "name": name, "schema": schema, "description": sentence(doc)}
		if in == "path" || slices.Contains(o.Required, name) {
			p["required"] = true
		}
		if v, ok := d.examples[o.ID].Parameters[name]; ok {
			p["example"] = v
		} else if v, ok := exampleParameters[name]; ok {
			p["example"] = v
		}
		params = append(params, p)
	}
	named := map[string]bool{}
	eachInput(o, func(f op.Field) {
		if f.In == "body" {
			return
		}
		named[f.Name] = true
		schema := d.of(f.Type, "")
		if f.Type == reflect.TypeFor[amber.Time]() {
			schema["type"] = "string"
		}
		add(f.In, f.Name, f.Tag.Get("doc"), schema)
	})
	for _, name := range pathNames(o.Path()) {
		if !named[name] {
			add("path", name, "the "+name, object{"type": "string"})
		}
	}
	if o.Is(op.Changes) && !named[op.KeyHeader] {
		add("header", op.KeyHeader, "the same key gets the same answer for 7 days", object{"type": "string"})
	}
	return params
}

// sentence makes a sentence of the short description of a parameter.
func sentence(doc string) string {
	if doc == "" {
		return ""
	}
	return strings.ToUpper(doc[:1]) + doc[1:] + "."
}

// answers are the answers of an operation, by status.
func (d *outline) answers(o *op.Row) object {
	out := failures(kindsOf(o), !o.Is(op.Streamed), d.responses, d.words)
	answer := d.examples[o.ID].Answer
	switch {
	case o.Silent():
		out["204"] = object{"description": "It is done. There is nothing to answer."}
	case o.Is(op.Streamed):
		out["200"] = object{"description": "Events as they happen. The data of each event but restored is of this schema.", "content": object{
			typeEvents: object{"schema": d.of(o.Out, "")},
		}}
	case o.Is(op.Downloaded):
		out["200"] = object{
			"description": "The file, or a zip file of a format that writes several. The trailer " + exportTrailer + " tells what is in it.",
			"headers": object{exportTrailer: object{"description": "A trailer: what was exported, as JSON.", "schema": object{
				"type": "string", "contentMediaType": typeJSON, "contentSchema": d.of(o.Out, ""),
			}}},
			"content": object{typeBytes: object{"schema": object{}}, typeZip: object{"schema": object{}}},
		}
	case o.Is(op.Listed):
		out["200"] = object{"description": "A page, or every item on a line of its own.", "content": object{
			typeJSON: d.content(d.page(o.Out, camel(o.ID)), answer), typeLines: object{"schema": d.of(o.Out, camel(o.ID))},
		}}
	default:
		ok := object{"description": told(o), "content": object{typeJSON: d.content(d.of(o.Out, camel(o.ID)), answer)}}
		if o.Is(op.Tagged) {
			ok["headers"] = object{"ETag": object{"description": "The revision or version in quotes, for If-Match.", "schema": object{"type": "string"}}}
		}
		out[strconv.Itoa(cmp.Or(o.Status, http.StatusOK))] = ok
	}
	return out
}

// hasReceipt reports whether a caller that may not read is answered with less.
func hasReceipt(o *op.Row) bool {
	return o.Is(op.Changes) && !o.Is(op.Shows) && o.Scope != wire.TokenAdmin && !o.Silent()
}

// told is the description of the answer.
func told(o *op.Row) string {
	if hasReceipt(o) {
		return "The answer. A token without the scope read gets a receipt: ids, revisions, versions and counts of what the request did, and fields that repeat the request. Other fields are left out."
	}
	return "The answer."
}
