package daemon

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/serve/backup"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
)

// BackupWorker is the worker that keeps notes in a vault.
const BackupWorker = "vault backup"

// backUp keeps the notes of every agent in the vault that is configured.
func (s *Daemon) backUp(ctx context.Context, report server.Report) error {
	w := &backup.Worker{
		Clock: s.o.Clock, Records: backup.In(s.o.Home.Dir()), Config: func() config.Vault { return s.current().Vault },
		Agents: s.agentNames, Mark: s.agentMark, Ended: s.sessionEnded, Backup: s.backupAgent, Observe: s.watchers, Log: s.o.Log,
	}
	return w.Run(ctx, report)
}

// agentNames names the agents of the home that are there.
func (s *Daemon) agentNames() (keys []server.AgentName, err error) {
	agents, err := s.roster()
	for _, a := range agents {
		keys = append(keys, server.AgentName{Tenant: a.Tenant(), Agent: a.ID()})
	}
	return keys, err
}

// names lists the agents for the API.
func (s *Daemon) names(ctx context.Context, tenant amber.TenantID) ([]server.AgentName, error) {
	if s.parts.Names != nil {
		return s.parts.Names(ctx, tenant)
	}
	return s.agentNames()
}

// agentMark returns a text that changes whenever the agent changes. It is "" where the change mark
// is not known.
func (s *Daemon) agentMark(k server.AgentName) string {
	agent, err := s.o.Home.Agent(k.Tenant, k.Agent)
	if err != nil {
		return ""
	}
	return changeMark(agent)
}

// sessionEnded reports whether a session of an agent ended between two times, and when the first
// session ends after that. It looks first at the sessions that changed last.
func (s *Daemon) sessionEnded(ctx context.Context, k server.AgentName, since, now amber.Time) (ended bool, ahead amber.Time, err error) {
	agent, err := s.o.Home.Agent(k.Tenant, k.Agent)
	if err != nil {
		return false, ahead, err
	}
	ctx = metrics.Unwatched(ctx)
	err = s.with(ctx, agent, func(a *op.Agent) error {
		q := amber.SessionQuery{Limit: amber.MaxPageSize}
		for {
			page, err := a.Store.Sessions.ListSessions(ctx, q)
			if err != nil {
				return err
			}
			for _, one := range page.Items {
				switch {
				case one.EndedAt.IsZero() || one.EndedAt.Before(since):
				case !now.Before(one.EndedAt):
					ended = true
					return nil
				case ahead.IsZero() || one.EndedAt.Before(ahead):
					ahead = one.EndedAt
				}
				if one.UpdatedAt.Before(since) {
					return nil // so are all that follow
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return nil
			}
		}
	})
	if amber.KindOf(err) == amber.KindUnsupported {
		return false, amber.Time{}, nil // it has no sessions
	}
	return ended, ahead, err
}

// backupAgent backs up the notes of an agent.
func (s *Daemon) backupAgent(ctx context.Context, k server.AgentName, c config.Vault) (backup.Outcome, error) {
	agent, err := s.o.Home.Agent(k.Tenant, k.Agent)
	if err != nil {
		return "", err
	}
	return s.parts.Backup(ctx, agent, c, func(fn func(*op.Agent) error) error { return s.with(ctx, agent, fn) })
}
