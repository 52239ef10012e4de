package httpapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// either are fields that are needed unless another one is there, so that the document does not call them required.
var either = map[string]string{
	"StateSaveAsked.document":    "or exact",
	"IngestStepAsked.memories":   "where a link names one of them",
	"HeldRetryAsked.session":     "where a file is named",
	"WriteRequestAsked.id":       "where an origin is named",
	"TokenRequestAsked.tenant":   "where an agent is named",
	"TurnAsked.session_id":       "where no path names it: in a journal",
	"CompactionAsked.session_id": "where no path names it: in a journal",
	"SessionStartAsked.id":       "in a journal",
}

// lost are the fields without which the server cannot know whose lease it is: a request without one is a conflict.
var lost = []string{"LeaseAsked.entry_id", "LeaseAsked.consumer_id", "LeaseAsked.token", "NackAsked.lease"}

// TestRequiredFieldsAreRequired sends the requests of the examples without one field each, however deep: without one
// that is required they are invalid, without any other one they are not.
func TestRequiredFieldsAreRequired(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.document()
	seen := map[string]bool{}
	send := func(o httpapi.Operation, c call, required bool) {
		if !o.HasBody || o.Raw {
			return
		}
		var v any
		must.Do(t, json.Unmarshal([]byte(c.body), &v))
		for _, m := range d.membersOf(d.call(t, o.ID).RequestBody.Content["application/json"].Schema, v) {
			if m.required != required {
				continue
			}
			seen[m.name] = true
			without := c
			without.body = string(must.Get(json.Marshal(m.without()))(t))
			m.restore()
			a := r.ask(without)
			want := amber.KindInvalid
			if slices.Contains(lost, m.name) {
				want = amber.KindConflict
			}
			if refused := a.kind() == want; refused != required && either[m.name] == "" {
				t.Errorf("%s: without %s, which is required: %v: %d %s", o.ID, m.name, required, a.status, a.body)
			}
		}
	}
	r.takeSteps(exampleSteps, nil, func(o httpapi.Operation, c call) { send(o, c, true) }, func(o httpapi.Operation, _ step, c call, _ reply) { send(o, c, false) })
	for name, s := range d.Components.Schemas {
		for _, field := range s.Required {
			if strings.HasSuffix(name, "Asked") && !seen[name+"."+field] {
				t.Errorf("%s.%s is required, and no example has it", name, field)
			}
		}
	}
}

// kind is the kind of the error, "" for none.
func (a reply) kind() amber.Kind {
	var f wire.Failure
	if a.status < 300 || json.Unmarshal(a.body, &f) != nil {
		return ""
	}
	return f.Error.Kind
}

// member is a field somewhere in a request.
type member struct {
	name     string // of its schema and its own, as in WriteRequestAsked.content
	required bool
	without  func() any // the request without it
	restore  func()
}

// membersOf finds every field of a request that has a schema.
func (d document) membersOf(s schema, v any) []member { return d.members(s, v, v) }

func (d document) members(s schema, v, whole any) (all []member) {
	name := strings.TrimPrefix(s.Ref, "#/components/schemas/")
	s = d.resolved(s)
	switch x := v.(type) {
	case []any:
		for _, item := range x {
			all = append(all, d.members(*s.Items, item, whole)...)
		}
	case map[string]any:
		for _, field := range slices.Sorted(maps.Keys(x)) {
			p, ok := s.Properties[field]
			if !ok {
				continue // of a map, or of what is stored as it is
			}
			value := x[field]
			all = append(all, member{
				name: name + "." + field, required: slices.Contains(s.Required, field),
				without: func() any { delete(x, field); return whole }, restore: func() { x[field] = value },
			})
			if p.Ref != "" || p.Items != nil {
				all = append(all, d.members(p, value, whole)...)
			}
		}
	}
	return all
}

// TestRequiredParametersAreRequired leaves out one parameter of each query.
func TestRequiredParametersAreRequired(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	d := r.document()
	send := func(o httpapi.Operation, c call, required bool) {
		path, query, _ := strings.Cut(c.path, "?")
		asked := must.Get(url.ParseQuery(query))(t)
		for _, p := range d.call(t, o.ID).Parameters {
			if p.In != "query" || p.Required != required || asked[p.Name] == nil {
				continue
			}
			without := maps.Clone(asked)
			delete(without, p.Name)
			c.path = path + "?" + without.Encode()
			a := r.ask(c)
			if refused := a.kind() == amber.KindInvalid; refused != required {
				t.Errorf("%s: without %s, which is required: %v: %d %s", o.ID, p.Name, required, a.status, a.body)
			}
		}
	}
	r.takeSteps(exampleSteps, nil, func(o httpapi.Operation, c call) { send(o, c, true) }, func(o httpapi.Operation, _ step, c call, _ reply) { send(o, c, false) })
	r.ask(call{method: "GET", path: "export"}).failed(amber.KindInvalid) // it speaks no JSON, so no example has it
	must.Equal(t, "required parameters of export.download", fmt.Sprint(d.call(t, "export.download").needs()), "[to]")
}

// needs are the parameters of the query that are required.
func (c documentedCall) needs() (names []string) {
	for _, p := range c.Parameters {
		if p.In == "query" && p.Required {
			names = append(names, p.Name)
		}
	}
	return names
}
