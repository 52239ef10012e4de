package daemon

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/store/postgres"
)

// WatchWorker is the worker that looks where the change logs of agents end that somebody listens to.
const WatchWorker = "other servers"

const (
	// endsInterval is how often it looks, however many listen.
	endsInterval = 200 * time.Millisecond
	// endsWithin is how long one look may take.
	endsWithin = 10 * time.Second
)

// ends are where the change logs of agents of a database end, as this process saw it last. Safe for concurrent use.
type ends struct {
	mu   sync.Mutex
	seen map[server.AgentName]string
}

// mark is another one whenever an agent was written, by whichever server; "": that is not known.
func (e *ends) mark(n server.AgentName) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen[n]
}

func (e *ends) set(seen map[server.AgentName]string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = seen
}

// markOf is the mark of an end.
func markOf(e postgres.End) string { return fmt.Sprint(e.Generation, "/", e.Memory, "/", e.Control) }

// watch looks where the change logs end, in one statement for all who listen. When that is not known, the feeds read the logs
// themselves now and then.
func (r *Replica) watch(ctx context.Context, s *Daemon, report server.Report) error {
	failed, count := true, -1
	return server.Every(ctx, endsInterval, func() {
		names := s.feeds.Watched()
		seen, err := r.look(ctx, names)
		s.ends.set(seen)
		if ctx.Err() == nil && (err != nil || failed || count != len(names)) {
			report(fmt.Sprintf("%d agents have listeners", len(names)), err)
		}
		failed, count = err != nil, len(names)
	})
}

// look returns the marks of agents.
func (r *Replica) look(ctx context.Context, names []server.AgentName) (map[server.AgentName]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	asked := make([]postgres.AgentName, len(names))
	for i, n := range names {
		asked[i] = postgres.AgentName(n)
	}
	ends, err := r.Server.Ends(ctx, asked)
	seen := make(map[server.AgentName]string, len(ends))
	for n, e := range ends {
		seen[server.AgentName(n)] = markOf(e)
	}
	return seen, err
}
