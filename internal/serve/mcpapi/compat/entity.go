package compat

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
)

// An entity of the reference server is a memory: its name is the title, its
// observations are a list in the content, so that recall finds them.
//
//	topic     entity/HASH     one live memory per name
//	tags      entity, entity:HASH
//	metadata  entity_name, entity_type
//	content   NAME (TYPE)
//	          - first observation
//	          - second one,
//	            of two lines
//
// A relation is an [amber.Relation] between two such memories.
const (
	entityTag  = "entity"
	entityName = "entity_name"
	entityType = "entity_type"
)

// entity is an entity on the wire.
type entity struct {
	Name         string   `json:"name" need:"yes"`
	EntityType   string   `json:"entityType" need:"yes"`
	Observations []string `json:"observations" need:"yes"`
}

func entityHash(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// request returns the write that stores the entity. The error is of kind
// invalid.
func (e entity) request(scope amber.Scope, ids amber.Identities) (amber.WriteRequest, error) {
	if strings.TrimSpace(e.Name) == "" {
		return amber.WriteRequest{}, amber.Errorf(amber.KindInvalid, "check entity", "", "the name of the entity is empty")
	}
	hash := entityHash(e.Name)
	return amber.WriteRequest{
		Scope: scope, Identities: ids, Title: e.Name, Content: e.content(), Topic: entityTag + "/" + hash,
		Tags: []string{entityTag, entityTag + ":" + hash}, Metadata: map[string]string{entityName: e.Name, entityType: e.EntityType},
	}.Normalize()
}

func (e entity) content() string {
	var b strings.Builder
	b.WriteString(shown.OneLine(e.Name, op.TitleBytes))
	if e.EntityType != "" {
		b.WriteString(" (" + shown.OneLine(e.EntityType, op.TitleBytes) + ")")
	}
	for _, o := range e.Observations {
		b.WriteString("\n- " + strings.ReplaceAll(o, "\n", "\n  "))
	}
	return b.String()
}

// entityOf reads an entity back; false when the memory is not an entity.
func entityOf(m amber.Memory) (entity, bool) {
	name, ok := m.Metadata[entityName]
	if !ok {
		return entity{}, false
	}
	e := entity{Name: name, EntityType: m.Metadata[entityType], Observations: []string{}}
	for i, line := range strings.Split(m.Content, "\n") {
		switch o, item := strings.CutPrefix(line, "- "); {
		case i == 0:
		case item:
			e.Observations = append(e.Observations, o)
		case len(e.Observations) > 0: // of more than one line
			e.Observations[len(e.Observations)-1] += "\n" + strings.TrimPrefix(line, "  ")
		}
	}
	return e, true
}

// Most tools leave it to the store of their job to take secrets out of what they
// write. Those that cut a text, compare it with what is stored or repeat it in
// their answer take them out first.

// redactAll takes secrets out of texts in place; nil is left out.
func redactAll(c *op.Call, texts ...*string) {
	for _, s := range texts {
		if s != nil {
			*s = c.Redact(*s)
		}
	}
}

// redactedList returns a list without secrets, never nil.
func redactedList(c *op.Call, list []string) []string {
	out := orEmpty(list)
	for i := range out {
		redactAll(c, &out[i])
	}
	return out
}

// redacted returns an entity without secrets, its name included.
func (e entity) redacted(c *op.Call) entity {
	redactAll(c, &e.Name, &e.EntityType)
	e.Observations = redactedList(c, e.Observations)
	return e
}

// redacted returns a relation between entities as they are named now.
func (r relation) redacted(c *op.Call) relation {
	redactAll(c, &r.From, &r.To)
	return r
}
