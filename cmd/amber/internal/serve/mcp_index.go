package serve

import (
	"context"

	"github.com/amber-memory/amber/agent"
)

// change says that the host may have changed something.
func (h *hosted) change() {
	select {
	case h.changed <- struct{}{}:
	default: // a signal waits already
	}
}

// completeIndex makes vectors behind the calls of the host: of what is missing when the agent
// is opened, and of everything that is written. It reports the first failure. Stop ends it, and
// what is not made then is made later.
func (h *hosted) completeIndex(at *agent.Agent) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for told := false; ctx.Err() == nil; {
			if err := at.CompleteIndex(ctx); err != nil && !told {
				told = true
				h.Out.Warn("the index is not complete: %v", err)
			}
			select {
			case <-ctx.Done():
			case <-h.changed:
			}
		}
	}()
	return func() {
		cancel()
		<-done
	}
}
