// Package sdkgen makes the models and methods of the packages for Python and TypeScript from the OpenAPI document of
// the server. The parts that are not in the document are written by hand in those packages.
package sdkgen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The shapes of answers.
const (
	answerNone   = "none"
	answerJSON   = "json"
	answerList   = "list"
	answerStream = "stream"
	answerFile   = "file"
)

// Content types of the document.
const (
	typeJSON   = "application/json"
	typeLines  = "application/x-ndjson"
	typeEvents = "text/event-stream"
	typeBytes  = "application/octet-stream"
)

// keyHeader makes a repeated request harmless.
const keyHeader = "Idempotency-Key"

// api is what a client is made of.
type api struct {
	groups []group
	models []model
}

// group are the operations of one kind of thing.
type group struct {
	name, description string
	operations        []operation
}

// operation is one request.
type operation struct {
	id, name, method, path string
	summary, description   string
	variables              []field // in the path, but for tenant and agent
	parameters             []field // in the query
	headers                []field // but for the key
	body                   []field // fields of the JSON body
	raw                    bool    // the body are bytes
	key                    bool    // an Idempotency-Key is taken
	mutates                bool
	long                   bool // the server may take an hour
	paged                  bool // of a list: there may be a next page
	answer                 string
	result                 kind
}

// model is an object with a name, or a string that is one of a few words.
type model struct {
	name, description string
	fields            []field
	words             []string // of such a string
}

// field is a property, or a parameter.
type field struct {
	name, description string
	kind              kind
	required          bool
	wire              string // its name where it travels
}

// kind is a type. Exactly one of base, ref, array and values says what it is.
type kind struct {
	base     string   // string, integer, number, boolean, time, bytes, any
	ref      string   // the name of a model
	word     bool     // of a model that is a string
	array    *kind    // a list of these
	values   *kind    // an object with these as values
	enum     []string // the words that a string may be
	nullable bool
}

// schema is a schema of the document.
type schema struct {
	Ref         string             `json:"$ref"`
	Type        json.RawMessage    `json:"type"`
	Format      string             `json:"format"`
	Encoding    string             `json:"contentEncoding"`
	Description string             `json:"description"`
	Enum        []string           `json:"enum"`
	Items       *schema            `json:"items"`
	Properties  map[string]*schema `json:"properties"`
	Additional  json.RawMessage    `json:"additionalProperties"`
	Required    []string           `json:"required"`
	AllOf       []*schema          `json:"allOf"`
}

type content map[string]struct {
	Schema *schema `json:"schema"`
}

type method struct {
	ID          string   `json:"operationId"`
	Summary     string   `json:"summary"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Mutates     bool     `json:"x-amber-mutates"`
	Long        bool     `json:"x-amber-long"`
	Parameters  []struct {
		In, Name, Description string
		Required              bool
		Schema                *schema
	} `json:"parameters"`
	Body *struct {
		Content content `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content content `json:"content"`
	} `json:"responses"`
}

type document struct {
	Tags []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tags"`
	Paths      map[string]map[string]method `json:"paths"`
	Components struct {
		Schemas map[string]*schema `json:"schemas"`
	} `json:"components"`
}

// read reads the document.
func read(b []byte) (api, error) {
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		return api{}, fmt.Errorf("read OpenAPI document: %w", err)
	}
	r := &reader{doc: d, used: map[string]bool{}}
	described := map[string]string{}
	for _, t := range d.Tags {
		described[t.Name] = t.Description
	}
	groups := map[string]*group{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, verb := range slices.Sorted(maps.Keys(d.Paths[path])) {
			m := d.Paths[path][verb]
			g, name, _ := strings.Cut(m.ID, ".")
			if g == "server" {
				continue // they are for people and for machines that watch
			}
			if groups[g] == nil {
				groups[g] = &group{name: g, description: described[g]}
			}
			groups[g].operations = append(groups[g].operations, r.operation(m, name, strings.ToUpper(verb), path))
		}
	}
	var out api
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		slices.SortFunc(groups[name].operations, func(a, b operation) int { return strings.Compare(a.name, b.name) })
		out.groups = append(out.groups, *groups[name])
	}
	out.models = r.models()
	return out, r.err
}

// reader makes operations and models of the document; err is the first thing it does not understand.
type reader struct {
	doc  document
	used map[string]bool // models that something refers to
	err  error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("read OpenAPI document: "+format, args...)
	}
}

func (r *reader) operation(m method, name, verb, path string) operation {
	o := operation{id: m.ID, name: name, method: verb, path: path, summary: m.Summary, description: m.Description, mutates: m.Mutates, long: m.Long}
	taken := map[string]bool{"tenant": true, "agent": true}
	for _, p := range m.Parameters {
		f := field{name: identifier(p.Name), wire: p.Name, description: p.Description, required: p.Required, kind: r.kind(p.Schema, m.ID+" "+p.Name)}
		switch {
		case p.In == "path" && taken[p.Name] && strings.Contains(path, "/tenants/"):
		case p.In == "path":
			f.name = variableName(path, p.Name, strings.TrimSuffix(m.ID, "."+name))
			taken[f.name] = true
			o.variables = append(o.variables, f)
		case p.Name == keyHeader:
			o.key = true
			taken["idempotency_key"] = true
		case p.In == "header":
			taken[f.name] = true
			o.headers = append(o.headers, f)
		default:
			if strings.Contains(path, "/tenants/") || !taken[f.name] || f.name == "tenant" || f.name == "agent" {
				o.parameters = append(o.parameters, f)
				taken[f.name] = true
			}
		}
	}
	// Variables come in the order of the path.
	slices.SortStableFunc(o.variables, func(a, b field) int {
		return strings.Index(path, "{"+a.wire+"}") - strings.Index(path, "{"+b.wire+"}")
	})
	if m.Body != nil {
		r.body(&o, m, taken)
	}
	r.answer(&o, m)
	return o
}

// variableName is the name of a variable of a path. An id of something else than the operation is
// about is named after that.
func variableName(path, name, of string) string {
	if name != "id" {
		return identifier(name)
	}
	before, _, _ := strings.Cut(path, "/{id}")
	thing := before[strings.LastIndex(before, "/")+1:]
	switch {
	case strings.HasSuffix(thing, "ies"):
		thing = strings.TrimSuffix(thing, "ies") + "y"
	default:
		thing = strings.TrimSuffix(thing, "s")
	}
	if thing == of {
		return "id"
	}
	return thing + "_id"
}

// body reads the fields of a JSON body. It leaves out fields that are in the path.
func (r *reader) body(o *operation, m method, taken map[string]bool) {
	if _, ok := m.Body.Content[typeBytes]; ok {
		o.raw = true
		return
	}
	s := m.Body.Content[typeJSON].Schema
	if s == nil {
		r.fail("%s has a body that is neither JSON nor bytes", m.ID)
		return
	}
	if s.Ref != "" {
		s = r.doc.Components.Schemas[refName(s.Ref)]
	}
	for _, f := range r.fields(s, m.ID) {
		if !taken[f.name] {
			o.body = append(o.body, f)
		}
	}
}

func (r *reader) answer(o *operation, m method) {
	for _, status := range slices.Sorted(maps.Keys(m.Responses)) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		c := m.Responses[status].Content
		lines, events, file, body := c[typeLines], c[typeEvents], c[typeBytes], c[typeJSON]
		switch {
		case events.Schema != nil:
			o.answer, o.result = answerStream, r.kind(events.Schema, m.ID)
		case lines.Schema != nil:
			o.answer, o.result = answerList, r.kind(lines.Schema, m.ID)
			for _, p := range m.Parameters {
				o.paged = o.paged || p.Name == "cursor"
			}
		case body.Schema != nil:
			o.answer, o.result = answerJSON, r.kind(body.Schema, m.ID)
		case file.Schema != nil:
			o.answer = answerFile
		default:
			o.answer = answerNone
		}
		return
	}
	r.fail("%s has no answer", m.ID)
}

// fields are the properties of an object, required ones first.
func (r *reader) fields(s *schema, of string) []field {
	var fields []field
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		fields = append(fields, field{name: identifier(name), wire: name, description: p.Description, kind: r.kind(p, of+"."+name), required: slices.Contains(s.Required, name)})
	}
	slices.SortStableFunc(fields, func(a, b field) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	return fields
}

// kind is the type of a schema.
func (r *reader) kind(s *schema, of string) kind {
	if s == nil {
		return kind{base: "any"}
	}
	if len(s.AllOf) == 1 { // a reference with a description beside it
		return r.kind(s.AllOf[0], of)
	}
	if s.Ref != "" {
		name := refName(s.Ref)
		if r.doc.Components.Schemas[name] == nil {
			r.fail("%s refers to %s, which is not there", of, s.Ref)
		}
		r.used[name] = true
		return kind{ref: name, word: r.doc.Components.Schemas[name] != nil && len(r.doc.Components.Schemas[name].Enum) > 0}
	}
	types, nullable := s.types()
	k := kind{nullable: nullable, enum: s.Enum}
	switch {
	case len(types) == 0:
		k.base = "any"
	case types[0] == "string" && s.Format == "date-time":
		k.base = "time"
	case types[0] == "string" && s.Encoding != "":
		k.base = "bytes"
	case types[0] == "array":
		e := r.kind(s.Items, of)
		k.array = &e
	case types[0] == "object":
		return r.object(s, of, nullable)
	default:
		k.base = types[0]
	}
	return k
}

// object is an object without a name: values of one type by key.
func (r *reader) object(s *schema, of string, nullable bool) kind {
	if len(s.Properties) > 0 {
		r.fail("%s is an object without a name", of)
	}
	values := kind{base: "any"}
	if a := strings.TrimSpace(string(s.Additional)); strings.HasPrefix(a, "{") {
		var v schema
		if err := json.Unmarshal(s.Additional, &v); err != nil {
			r.fail("%s: %w", of, err)
		}
		values = r.kind(&v, of)
	}
	return kind{values: &values, nullable: nullable}
}

// types are the types of a schema, without null.
func (s *schema) types() (types []string, nullable bool) {
	if len(s.Type) == 0 {
		return nil, false
	}
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		return []string{one}, false
	}
	_ = json.Unmarshal(s.Type, &types) // the document is a test of the server
	n := len(types)
	types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
	return types, len(types) < n
}

// models are the objects that answers and requests are made of, and those that they are made of.
func (r *reader) models() []model {
	out := map[string]model{}
	for {
		var more []string
		for name := range r.used {
			if _, ok := out[name]; !ok {
				more = append(more, name)
			}
		}
		if len(more) == 0 {
			break
		}
		slices.Sort(more)
		for _, name := range more {
			s := r.doc.Components.Schemas[name]
			if s == nil {
				out[name] = model{name: name}
				continue
			}
			out[name] = model{name: name, description: s.Description, fields: r.fields(s, name), words: s.Enum}
		}
	}
	return slices.SortedFunc(maps.Values(out), func(a, b model) int { return strings.Compare(a.name, b.name) })
}

func refName(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// identifier is a name that both languages take, but for their own words.
func identifier(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}
