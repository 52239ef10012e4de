package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/store/postgres"
)

// WatchWorker is the worker that looks for the ends of the change logs of those agents that have
// listeners.
const WatchWorker = "other servers"

const (
	// endsInterval is how often it looks, however many listen.
	endsInterval = 200 * time.Millisecond
	// newsEvery is at how many of these looks a server without listeners asks what others tell.
	newsEvery = 5
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

// mark is that of an agent in the database of its tenant.
func (r *Replica) mark(n server.AgentName) string { return r.of(n.Tenant).ends.mark(n) }

// watch looks for the ends of the change logs of all agents of a database that have listeners, in
// one statement, and hears what the servers of the database tell each other. A database that does
// not answer delays no other database. While the end of a log is not known, the feeds read that log
// themselves now and then.
func (r *Replica) watch(ctx context.Context, s *Daemon, report server.Report) error {
	var mu sync.Mutex
	failed, count := map[*Database]error{}, map[*Database]int{}
	tell := func(d *Database, n int, err error) {
		mu.Lock()
		defer mu.Unlock()
		before, known := count[d]
		if known && before == n && err == nil && failed[d] == nil {
			return
		}
		failed[d], count[d] = err, n
		sum, errs := 0, []error(nil)
		for _, n := range count {
			sum += n
		}
		for _, err := range failed {
			errs = append(errs, err)
		}
		report(words.Count(sum, "agent has", "agents have")+" listeners", errors.Join(errs...))
	}
	var all sync.WaitGroup
	for _, d := range r.All() {
		all.Go(func() {
			round := 0
			_ = server.Every(ctx, endsInterval, func() { // ends with the context alone
				names := slices.DeleteFunc(s.feeds.Watched(), func(n server.AgentName) bool { return r.of(n.Tenant) != d })
				seen, err := d.look(ctx, names)
				d.ends.set(seen)
				if round%newsEvery == 0 || len(names) > 0 {
					err = errors.Join(err, r.hear(ctx, d, s.o.Config.Loaded().Config.Events.LifecyclePrefix, s.bus))
				}
				if round++; ctx.Err() == nil {
					tell(d, len(names), err)
				}
			})
		})
	}
	all.Wait()
	return nil
}

// look returns the marks of agents of the database.
func (d *Database) look(ctx context.Context, names []server.AgentName) (map[server.AgentName]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	asked := make([]postgres.AgentName, len(names))
	for i, n := range names {
		asked[i] = postgres.AgentName(n)
	}
	ends, err := d.Server.Ends(ctx, asked)
	seen := make(map[server.AgentName]string, len(ends))
	for n, e := range ends {
		seen[server.AgentName(n)] = markOf(e)
	}
	return seen, err
}
