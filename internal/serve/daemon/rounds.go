package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/store/home"
)

// pause waits, and calls fn for every agent that comes meanwhile.
func pause(ctx context.Context, d time.Duration, hasty <-chan server.AgentName, fn func(server.AgentName)) {
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			return
		case n := <-hasty:
			fn(n)
		}
	}
}

// visit does something for an agent, and returns what in words.
type visit func(ctx context.Context, agent *home.Agent) (string, error)

// rounds goes from agent to agent of the home, again and again, and visits those whose files have
// changed. It also visits every agent that was not visited for the time after; when after is 0, it
// visits no agent without a reason. Between two rounds it visits the agents that come from hasty at
// once.
func (s *Daemon) rounds(ctx context.Context, report server.Report, after time.Duration, hasty <-chan server.AgentName, visit visit) error {
	return s.roundsOver(ctx, report, after, hasty, func(context.Context) ([]*home.Agent, func(*home.Agent) string, error) {
		agents, err := s.roster()
		return agents, changeMark, err
	}, visit)
}

// sharedRounds is rounds for work that one server of a database does for an agent at a time, over all agents of all databases. Kind names the work.
func (s *Daemon) sharedRounds(ctx context.Context, report server.Report, kind string, hasty <-chan server.AgentName, visit leasedVisit) error {
	if s.o.Replica == nil {
		return s.rounds(ctx, report, 0, hasty, func(ctx context.Context, agent *home.Agent) (string, error) { return visit(ctx, agent, nil) })
	}
	return s.roundsOver(ctx, report, 0, hasty, s.everybody, s.o.Replica.alone(s, kind, visit))
}

// roundsOver goes over the agents of a roster. The roster also returns the function that marks an
// agent: another mark means that the agent has changed.
func (s *Daemon) roundsOver(ctx context.Context, report server.Report, after time.Duration, hasty <-chan server.AgentName, roster func(context.Context) ([]*home.Agent, func(*home.Agent) string, error), visit visit) error {
	seen := map[string]glimpse{}
	for ctx.Err() == nil {
		var did []string
		agents, mark, err := roster(ctx)
		errs := []error{err}
		visited := map[string]glimpse{}
		for _, agent := range agents {
			if ctx.Err() != nil {
				return nil
			}
			last, known := seen[agent.Dir()]
			now := glimpse{mark: mark(agent), at: s.o.Clock()}
			if known && !now.reason(last, after) {
				visited[agent.Dir()] = last
				continue
			}
			detail, err := visit(ctx, agent)
			switch {
			case ctx.Err() != nil:
				return nil
			case errors.Is(err, errNotNow):
				if detail != "" {
					did = append(did, fmt.Sprintf("%s/%s: %s", agent.Tenant(), agent.ID(), detail))
				}
				continue
			case err != nil:
				errs = append(errs, fmt.Errorf("%s/%s: %w", agent.Tenant(), agent.ID(), err))
				continue // the next round visits it again
			}
			now.settled = known && last.mark == now.mark
			visited[agent.Dir()] = now
			if detail != "" {
				did = append(did, fmt.Sprintf("%s/%s: %s", agent.Tenant(), agent.ID(), detail))
			}
		}
		seen = visited
		report(strings.Join(did[:min(len(did), 10)], "; "), server.JoinSome(errs))
		pause(ctx, roundInterval, hasty, func(n server.AgentName) {
			if agent, err := s.o.Home.Agent(n.Tenant, n.Agent); err == nil {
				_, _ = visit(ctx, agent) // the next round reports failures
			}
		})
	}
	return nil
}

// glimpse is what a round saw of an agent.
type glimpse struct {
	mark    string
	at      time.Time
	settled bool // it was visited once more after it had changed
}

// reason reports whether an agent is to be visited. Equal size and time do not
// prove equal content, so one that has changed is visited twice.
func (g glimpse) reason(last glimpse, after time.Duration) bool {
	return g.mark == "" || g.mark != last.mark || !last.settled || after > 0 && g.at.Sub(last.at) >= after
}

// errNotNow is returned by a visit that has left something to do, so that the agent is
// visited again though it does not change.
var errNotNow = errors.New("not now")

// roster lists the agents of the home that are there.
func (s *Daemon) roster() (agents []*home.Agent, err error) {
	tenants, err := s.o.Home.Tenants()
	if err != nil {
		return nil, err
	}
	for _, t := range tenants {
		ids, err := s.o.Home.Agents(t)
		if err != nil {
			return nil, fmt.Errorf("tenant %s: %w", t, err)
		}
		for _, id := range ids {
			agent, err := s.o.Home.Agent(t, id)
			if err != nil {
				return nil, err
			}
			if _, err := agent.Current(); amber.KindOf(err) != amber.KindNotFound {
				agents = append(agents, agent)
			}
		}
	}
	return agents, nil
}
