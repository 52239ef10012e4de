package main

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/colony/documents"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/metrics"
	"github.com/amber-memory/amber/server"
)

// backupWorker is the worker that keeps notes in a vault.
const backupWorker = "vault backup"

// backUp keeps the notes of every agent in the vault that is configured.
func (s *serving) backUp(ctx context.Context, report server.Report) error {
	b := &backups{
		clock: s.clock, records: backupsOf(s.home.Dir()), config: func() config.Vault { return s.current().Vault },
		agents: s.agentKeys, mark: s.agentMark, ended: s.sessionEnded, backup: s.backupAgent, observe: s.watchers, log: s.log,
	}
	return b.run(ctx, report, s.every)
}

// agentKeys names the agents of the home that are there.
func (s *serving) agentKeys() (keys []agentKey, err error) {
	agents, err := s.roster()
	for _, a := range agents {
		keys = append(keys, agentKey{a.Tenant(), a.ID()})
	}
	return keys, err
}

// agentMark is another one whenever an agent has changed; "": nobody knows.
func (s *serving) agentMark(k agentKey) string {
	agent, err := s.home.Agent(k.tenant, k.agent)
	if err != nil {
		return ""
	}
	return changeMark(agent)
}

// sessionEnded tells whether a session of an agent ended between two times, and
// when the first one ends after that. Those that changed last are looked at first.
func (s *serving) sessionEnded(ctx context.Context, k agentKey, since, now amber.Time) (ended bool, ahead amber.Time, err error) {
	agent, err := s.home.Agent(k.tenant, k.agent)
	if err != nil {
		return false, ahead, err
	}
	ctx = metrics.Unwatched(ctx)
	err = s.with(ctx, agent, func(a *server.Agent) error {
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

// backupAgent backs up the notes of an agent. One without notes is left alone,
// and so is what the vault has of it: nothing never takes the place of
// something. Neither does it take the place of what this home has never seen:
// nobody is there to be asked. It is pruned only after a backup that succeeded.
func (s *serving) backupAgent(ctx context.Context, k agentKey, c config.Vault) (backedUp, error) {
	agent, err := s.home.Agent(k.tenant, k.agent)
	if err != nil {
		return "", err
	}
	one, o, docs, err := s.readForBackup(ctx, agent)
	if err != nil {
		return "", err
	}
	for _, skipped := range docs.Skipped {
		s.log.Warn("vault backup", "tenant", k.tenant, "agent", k.agent, "left_out", skipped.Path, "reason", skipped.Reason)
	}
	if len(docs.Documents) == 0 {
		return backupNothing, nil
	}
	v, err := one.openVault(ctx, o, vaultFlags{})
	if err != nil {
		return "", err
	}
	r, err := v.Backup(ctx, docs.Documents, colony.BackupOptions{Keep: c.Keep, OnlySeen: true})
	for _, w := range r.Warnings {
		s.log.Warn("vault backup", "tenant", k.tenant, "agent", k.agent, "warning", w)
	}
	if p := r.Pruned; p != nil && len(p.Failed) > 0 {
		s.log.Warn("vault backup", "tenant", k.tenant, "agent", k.agent, "not_pruned", len(p.Failed), "error", p.Failed[0].Error)
	}
	if err != nil {
		return "", fmt.Errorf("back up to %s: %w", c.URL, err)
	}
	if r.Unchanged {
		return backupUnchanged, nil
	}
	s.log.Info("vault backup", "tenant", k.tenant, "agent", k.agent, "snapshot", r.ID, "documents", len(docs.Documents), "files", len(r.Uploaded))
	return backupMade, nil
}

// readForBackup reads the notes of an agent. It is let go of before the vault is
// asked, which may take long.
func (s *serving) readForBackup(ctx context.Context, agent *home.Agent) (one *app, o *opened, docs documents.Set, err error) {
	one = s.forAgent(agent.Tenant(), agent.ID())
	one.global.quiet, one.out.quiet = true, true // it has nobody to tell
	err = s.with(ctx, agent, func(a *server.Agent) error {
		o = &opened{
			Resolved: config.Resolved{Store: a.Store, Policy: a.Policy},
			config:   config.Loaded{Config: s.current()}, home: s.home, agent: agent,
		}
		docs, err = one.noteDocuments(metrics.Unwatched(ctx), o)
		return err
	})
	return one, o, docs, err
}
