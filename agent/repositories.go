package agent

import (
	"context"
	"errors"

	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target/location"
)

// Repositories is the list of repositories that were added to the home.
func (a *Agent) Repositories() location.Known {
	return location.Known{Home: a.home.Dir(), Env: a.targetEnv()}
}

func (a *Agent) targetEnv() location.Env {
	return location.Env{Getenv: a.o.Getenv, Random: a.o.Random}
}

// RepositoryContent says what a repository holds of a tenant.
type RepositoryContent struct {
	Snapshots int
	Encrypted bool
}

// LookInto counts what a repository holds of the tenant; a location without a
// repository of the tenant holds nothing.
func (a *Agent) LookInto(ctx context.Context, l location.Location) (found RepositoryContent, err error) {
	t, err := a.OpenTarget(ctx, l, a.Tenant(), false)
	switch {
	case errors.Is(err, location.ErrNoTenant):
		return found, nil
	case err == nil:
		found.Snapshots, found.Encrypted, err = repo.Glance(ctx, t)
	}
	return found, err
}
