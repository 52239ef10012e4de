package httpapi

import (
	"cmp"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/amber-memory/amber/wire"
)

// object is a JSON object; its keys come out sorted, so the document is the
// same every time.
type object = map[string]any

// document makes the OpenAPI document of the table of routes.
func (a *API) document() []byte {
	s := &schemas{known: object{}}
	paths := object{}
	for _, o := range a.ops {
		p, ok := paths[o.path].(object)
		if !ok {
			p = object{}
			paths[o.path] = p
		}
		p[strings.ToLower(o.method)] = o.describe(s)
	}
	for path, summary := range map[string]string{
		"/livez": "Whether the process answers", "/readyz": "Whether it takes requests", "/health": "How it is doing, with everything in the background",
		"/metrics": "Metrics for Prometheus", "/openapi.json": "This document",
	} {
		paths[path] = object{"get": object{"operationId": "server" + strings.ReplaceAll(path, "/", "."), "summary": summary, "tags": []string{"server"}, "responses": object{
			"200": object{"description": "the answer"},
		}}}
	}
	s.of(reflect.TypeFor[wire.Failure]())
	b, err := marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Amber", "version": a.o.Version, "license": object{"name": "Apache License 2.0", "identifier": "Apache-2.0"},
			"description": "Durable memory for AI agents. Errors are {\"error\":{kind, message, hint, reason, request_id}} with the status of their kind.",
		},
		"paths":    paths,
		"security": []object{{"token": []string{}}},
		"components": object{
			"schemas":         s.known,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer", "description": "A token of `amber token create`. Without any token there the local user needs none."}},
			"responses": object{"Failure": object{
				"description": "What went wrong", "content": object{typeJSON: object{"schema": ref("Failure")}},
			}},
		},
	})
	if err != nil {
		panic("httpapi: the OpenAPI document: " + err.Error()) // it holds maps of strings only
	}
	return b
}

// describe is the operation object.
func (o *operation) describe(s *schemas) object {
	tag, _, _ := strings.Cut(o.id, ".")
	op := object{
		"operationId": o.id, "summary": o.summary, "tags": []string{tag}, "x-amber-scope": o.scopes(),
		"parameters": o.parameters(s), "responses": o.responses(s),
	}
	_ = eachField(reflect.New(o.in).Elem(), func(f reflect.StructField, _ reflect.Value) error {
		switch f.Tag.Get("body") {
		case "raw":
			op["requestBody"] = object{"required": true, "content": object{typeBytes: object{"schema": object{}}}}
		case "json":
			op["requestBody"] = object{"required": true, "content": object{typeJSON: object{"schema": (&schemas{known: s.known, asked: true}).of(f.Type)}}}
		}
		return nil
	})
	return op
}

// scopes names what a token needs, as it is written to make one.
func (o *operation) scopes() string {
	if o.reads {
		return string(o.scope) + "," + string(wire.TokenRead)
	}
	return string(o.scope)
}

func (o *operation) parameters(s *schemas) []object {
	params := []object{}
	add := func(in, name, doc string, required bool, schema any) {
		p := object{"in": in, "name": name, "schema": schema}
		if doc != "" {
			p["description"] = doc
		}
		if required {
			p["required"] = true
		}
		params = append(params, p)
	}
	named := map[string]bool{}
	_ = eachField(reflect.New(o.in).Elem(), func(f reflect.StructField, _ reflect.Value) error {
		for _, in := range []string{"path", "query", "header"} {
			if name := f.Tag.Get(in); name != "" {
				named[name] = true
				add(in, name, f.Tag.Get("doc"), in == "path", s.of(f.Type))
			}
		}
		return nil
	})
	for _, name := range pathNames(o.path) {
		if !named[name] {
			add("path", name, "the "+name, true, object{"type": "string"})
		}
	}
	if o.mutates && !named[keyHeader] {
		add("header", keyHeader, "the same key gets the same answer for 7 days", false, object{"type": "string"})
	}
	return params
}

func (o *operation) responses(s *schemas) object {
	failed := object{"$ref": "#/components/responses/Failure"}
	out := object{"default": failed}
	switch {
	case o.out == reflect.TypeFor[nothing]():
		out["204"] = object{"description": "done"}
	case o.stream:
		out["200"] = object{"description": "events as they happen; the data of each but restored is of this schema", "content": object{
			typeEvents: object{"schema": s.of(o.out)},
		}}
	case o.file:
		out["200"] = object{"description": "the file, or a zip file of a format that writes several; the trailer " + exportTrailer + " tells what is in it", "content": object{
			typeBytes: object{"schema": object{}}, typeZip: object{"schema": object{}},
		}}
	case o.list:
		out["200"] = object{"description": "a page, or every item on a line of its own", "content": object{
			typeJSON: object{"schema": object{
				"type": "object", "required": []string{"items"},
				"properties": object{"items": object{"type": "array", "items": s.of(o.out)}, "next": object{"type": "string"}},
			}},
			typeLines: object{"schema": s.of(o.out)},
		}}
	default:
		ok := object{"description": "the answer", "content": object{typeJSON: object{"schema": s.of(o.out)}}}
		out[strconv.Itoa(cmp.Or(o.status, http.StatusOK))] = ok
	}
	return out
}
