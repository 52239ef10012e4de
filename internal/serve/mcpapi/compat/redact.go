package compat

import "github.com/amber-memory/amber/op"

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
