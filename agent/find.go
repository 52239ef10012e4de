package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/store/home"
)

// Find is like Open, but creates neither the agent nor its home. If the agent does
// not exist, Find returns an empty one in a temporary folder, so that every lookup
// reports not found. The caller closes it. Errors: those of Open.
func Find(ctx context.Context, o Options) (*Agent, error) {
	a, err := At(o)
	if err != nil {
		return nil, err
	}
	exists, err := a.Exists(ctx)
	if err != nil && a.config.OnPostgres() {
		return nil, err
	}
	if exists || err != nil {
		return Open(ctx, o)
	}
	if a.config.OnPostgres() { // an empty folder does for a database
		a.config.Memory.Backend = config.Default().Memory.Backend
	}
	if err = a.empty(); err == nil {
		err = a.resolve(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// empty lets the store and the notes lie in a folder that goes when the agent is
// closed.
func (a *Agent) empty() error {
	dir, err := os.MkdirTemp("", "amber-empty-")
	if err != nil {
		return &amber.Error{Op: "make temporary folder", Kind: amber.KindInternal, Err: err}
	}
	a.closers = append(a.closers, func() error { return os.RemoveAll(dir) })
	h, _, err := home.Open(filepath.Join(dir, "home"), home.Options{Clock: a.o.Clock, Random: a.o.Random})
	if err != nil {
		return err
	}
	a.absent = true
	a.data, err = h.Agent(a.o.Tenant, a.o.Agent)
	return err
}
