package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type publisher struct {
	watched
	next amber.Publisher
}

var _ amber.Publisher = publisher{}

func (p publisher) Publish(ctx context.Context, e amber.Event) (err error) {
	ctx, end, err := p.of(e.Tenant, e.Agent).begin(ctx, "publish")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Publish(ctx, e)
}
