package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type checker struct {
	watched
	next amber.RepositoryChecker
}

var _ amber.RepositoryChecker = checker{}

func (c checker) CheckRepository(ctx context.Context, r amber.CheckRequest) (out amber.CheckReport, err error) {
	ctx, end, err := c.whole(r.Tenant).begin(ctx, "check_repository")
	defer func() { end(err, size{items: out.Snapshots}) }()
	return c.next.CheckRepository(ctx, r)
}
