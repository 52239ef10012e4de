package metrics

import (
	"context"

	"github.com/amber-memory/amber/events"
)

type publisher struct {
	watched
	next events.Publisher
}

var _ events.Publisher = publisher{}

func (p publisher) Publish(ctx context.Context, e events.Event) (err error) {
	ctx, end, err := p.of(e.Tenant, e.Agent).begin(ctx, "publish")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Publish(ctx, e)
}
