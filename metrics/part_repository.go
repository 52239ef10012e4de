package metrics

import (
	"context"

	"github.com/amber-memory/amber/wire"
)

type checker struct {
	watched
	next wire.RepositoryChecker
}

var _ wire.RepositoryChecker = checker{}

func (c checker) CheckRepository(ctx context.Context, r wire.CheckRequest) (out wire.CheckReport, err error) {
	ctx, end, err := c.whole(r.Tenant).begin(ctx, "check_repository")
	defer func() { end(err, size{items: out.Snapshots}) }()
	return c.next.CheckRepository(ctx, r)
}
