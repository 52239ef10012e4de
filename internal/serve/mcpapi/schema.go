package mcpapi

import (
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/amber-memory/amber"
)

// Every byte of a schema is paid for with every prompt: descriptions are only
// where the name does not say it. Output schemas require nothing, because an
// answer that is an error has none of their properties and clients hold it
// against them nevertheless.

// prop is one property of an object.
type prop struct {
	name     string
	required bool
	schema   *jsonschema.Schema
}

// object is a schema of the given properties; those of [must] are required.
func object(props ...prop) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	for _, p := range props {
		s.Properties[p.name] = p.schema
		s.PropertyOrder = append(s.PropertyOrder, p.name)
		if p.required {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

func must(p prop) prop { p.required = true; return p }

func of(typ, name string, description ...string) prop {
	return prop{name: name, schema: &jsonschema.Schema{Type: typ, Description: strings.Join(description, " ")}}
}

func str(name string, description ...string) prop  { return of("string", name, description...) }
func num(name string, description ...string) prop  { return of("integer", name, description...) }
func flag(name string, description ...string) prop { return of("boolean", name, description...) }

func obj(name string, description ...string) prop { return of("object", name, description...) }

// one of some words.
func word[T ~string](name string, words []T, description ...string) prop {
	p := str(name, description...)
	for _, w := range words {
		p.schema.Enum = append(p.schema.Enum, string(w))
	}
	return p
}

// list is a list of strings, or of objects.
func list(name string, items *jsonschema.Schema, description ...string) prop {
	p := of("array", name, description...)
	if items == nil {
		items = &jsonschema.Schema{Type: "string"}
	}
	p.schema.Items = items
	return p
}

func sub(name string, s *jsonschema.Schema) prop { return prop{name: name, schema: s} }

// Properties that many tools have.
func kindArg() prop  { return word("kind", amber.MemoryKinds()) }
func scopeArg() prop { return word("scope", amber.Scopes()) }

// layersArg limits a search to some of what is kept.
func layersArg() prop {
	return list("layers", word("", amber.RecallLayers()).schema)
}

func projectArg() prop { return str("project", "default: current") }

// userArg and workspaceArg name whose a memory is, or whose are seen.
func userArg() prop      { return str("user") }
func workspaceArg() prop { return str("workspace") }

// sessionArg is in what writes: without a scope only that session sees it.
func sessionArg() prop { return str("session", "only it sees the memory") }
