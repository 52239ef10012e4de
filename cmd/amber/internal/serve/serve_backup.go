package serve

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/share"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/serve/backup"
	"github.com/amber-memory/amber/internal/serve/metrics"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/documents"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/home"
)

// backupAgent backs up the notes of an agent to its vault. An agent without notes
// is left alone, and so is its vault: an empty backup never replaces documents.
// Neither does a backup replace documents that this home has never seen, because
// there is no user to ask. The vault is pruned only after a backup that succeeded.
func (s *serving) backupAgent(ctx context.Context, agent *home.Agent, c config.Vault, with func(func(*op.Agent) error) error) (backup.Outcome, error) {
	one, o, docs, err := s.readForBackup(ctx, agent, with)
	if err != nil {
		return "", err
	}
	log := s.log.With("tenant", agent.Tenant(), "agent", agent.ID())
	for _, skipped := range docs.Skipped {
		log.Warn("vault backup", "left_out", skipped.Path, "reason", skipped.Reason)
	}
	if len(docs.Documents) == 0 {
		return backup.Nothing, nil
	}
	v, err := share.OpenVault(ctx, one.App, o)
	if err != nil {
		return "", err
	}
	r, err := v.Backup(ctx, docs.Documents, colony.BackupOptions{Keep: c.Keep, OnlySeen: true})
	for _, w := range r.Warnings {
		log.Warn("vault backup", "warning", w)
	}
	if p := r.Pruned; p != nil && len(p.Failed) > 0 {
		log.Warn("vault backup", "not_pruned", len(p.Failed), "error", p.Failed[0].Error)
	}
	if err != nil {
		return "", fmt.Errorf("back up to %s: %w", c.URL, err)
	}
	if r.Unchanged {
		return backup.Unchanged, nil
	}
	log.Info("vault backup", "snapshot", r.ID, "documents", len(docs.Documents), "files", len(r.Uploaded))
	return backup.Made, nil
}

// readForBackup reads the notes of an agent. The agent is released before the
// vault is asked, which may take long.
func (s *serving) readForBackup(ctx context.Context, agent *home.Agent, with func(func(*op.Agent) error) error) (one *app, o *cli.Opened, docs documents.Set, err error) {
	one = &app{s.ForAgent(agent.Tenant(), agent.ID())}
	one.Global.Quiet, one.Out.Quiet = true, true // it has no user to report to
	err = with(func(a *op.Agent) error {
		o = &cli.Opened{
			Resolved: config.Resolved{Store: a.Store, Policy: a.Policy},
			Config:   config.Loaded{Config: s.current()}, Home: s.home, Agent: agent,
		}
		docs, err = share.NoteDocuments(metrics.Unwatched(ctx), one.App, o)
		return err
	})
	return one, o, docs, err
}
