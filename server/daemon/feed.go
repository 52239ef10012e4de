package daemon

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/server"
)

// FeedWorker is the worker that feeds indexes outside of the stores.
const FeedWorker = "openviking"

// feedAgent gives the index outside of an agent's store what it does not have yet.
func (s *Daemon) feedAgent(ctx context.Context, agent *home.Agent) (detail string, err error) {
	err = s.with(ctx, agent, func(a *server.Agent) error {
		if a.Feed == nil {
			return nil
		}
		var done bool
		if detail, done, err = a.Feed(ctx); err == nil && !done {
			return errNotNow
		}
		return err
	})
	if amber.KindOf(err) == amber.KindBusy { // another process is at it
		return detail, errNotNow
	}
	return detail, err
}
