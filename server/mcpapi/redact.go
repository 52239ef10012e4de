package mcpapi

import (
	"context"

	"github.com/amber-memory/amber/server"
)

// Most tools leave it to the store of their job to take secrets out of what they
// write. Those that cut a text, compare it with what is stored or repeat it in
// their answer take them out first.

// redactAll takes secrets out of texts in place; nil is left out.
func redactAll(ctx context.Context, texts ...*string) {
	for _, s := range texts {
		if s != nil {
			*s = server.Redact(ctx, *s)
		}
	}
}

// redactedList returns a list without secrets, never nil.
func redactedList(ctx context.Context, list []string) []string {
	out := orEmpty(list)
	for i := range out {
		redactAll(ctx, &out[i])
	}
	return out
}

// redacted returns an entity without secrets, its name included.
func (e entity) redacted(ctx context.Context) entity {
	redactAll(ctx, &e.Name, &e.EntityType)
	e.Observations = redactedList(ctx, e.Observations)
	return e
}

// redacted returns a relation between entities as they are named now.
func (r relation) redacted(ctx context.Context) relation {
	redactAll(ctx, &r.From, &r.To)
	return r
}
