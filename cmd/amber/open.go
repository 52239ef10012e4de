package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/intake"
	"github.com/amber-memory/amber/internal/redact"
	"github.com/amber-memory/amber/ledger"
	"github.com/amber-memory/amber/notes"
)

// closed is the agent the flags name, there or not, whose store stays closed.
func (a *app) closed(c *config.Config) (*agent.Agent, error) {
	o, err := a.agentOptions(c)
	if err != nil {
		return nil, err
	}
	return agent.At(o)
}

// configured is [app.closed] with the configuration.
func (a *app) configured() (*agent.Agent, error) {
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	return a.closed(&loaded.Config)
}

// openHome opens the home, says so when it made it, and returns the agent the
// flags name.
func (a *app) openHome() (*home.Home, *home.Agent, error) {
	at, err := a.closed(nil)
	if err != nil {
		return nil, nil, err
	}
	made, err := at.Make()
	a.noteMade(made, at)
	return at.Home(), at.Folder(), err
}

func (a *app) noteMade(made bool, at *agent.Agent) {
	if made {
		a.out.note("made a new home in %s", at.Home().Dir())
	}
}

// opened is everything a verb works with.
type opened struct {
	config.Resolved
	local  *agent.Agent // nil when the agent is served elsewhere
	config config.Loaded
	home   *home.Home  // nil when the agent is served elsewhere, as is agent
	agent  *home.Agent // tenantID and agentID work for both
	remote *remote     // where the agent is served; nil: here
	notes  *notes.Dir  // nil when notes are elsewhere
}

// newOpened is an agent of this machine, as verbs see it.
func newOpened(at *agent.Agent, c config.Loaded) *opened {
	return &opened{
		Resolved: config.Resolved{Store: at.Plain(), Policy: at.Policy, Report: at.Report, Close: at.Close},
		local:    at, config: c, home: at.Home(), agent: at.Folder(), notes: at.Notes(),
	}
}

// tenantID is the tenant of the agent.
func (s *opened) tenantID() amber.TenantID {
	if s.remote != nil {
		return s.remote.tenant
	}
	return s.agent.Tenant()
}

// agentID is the agent.
func (s *opened) agentID() amber.AgentID {
	if s.remote != nil {
		return s.remote.id
	}
	return s.agent.ID()
}

// withStore opens the store, runs fn and closes it. Every verb that touches
// memory is such an fn.
func (a *app) withStore(cmd *cobra.Command, fn func(ctx context.Context, s *opened) error) error {
	ctx := cmd.Context()
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	ctx, taken := intake.WithReport(ctx)
	s.Store = intake.Clean(s.Store, s.writeRules())
	err = fn(ctx, s)
	a.tellTaken(taken.Counts())
	return errors.Join(err, s.Close())
}

// open resolves the configured store, or the one that is served elsewhere.
func (a *app) open(ctx context.Context) (*opened, error) {
	if a.remote != nil {
		return a.remote.open(ctx)
	}
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	o, err := a.agentOptions(&loaded.Config)
	if err != nil {
		return nil, err
	}
	open := agent.Open
	if a.absent {
		open = agent.Find
	}
	at, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	a.noteMade(at.MadeHome, at)
	a.noteClamped(loaded.Clamped)
	return newOpened(at, loaded), nil
}

// look resolves the configured store of an agent that is there, to read from:
// nothing is made or migrated.
func (a *app) look(ctx context.Context, config config.Loaded) (*opened, error) {
	o, err := a.agentOptions(&config.Config)
	if err != nil {
		return nil, err
	}
	at, err := agent.Look(ctx, o)
	if err != nil {
		return nil, err
	}
	return newOpened(at, config), nil
}

// writeRules are the rules by which secrets are taken out of what a command
// writes; nil: none are. A server takes them out by its own configuration.
func (s *opened) writeRules() *redact.Redactor {
	if s.remote != nil {
		return nil
	}
	return s.config.Config.Intake()
}

// tellTaken says what was taken out of what a command wrote.
func (a *app) tellTaken(counts map[string]int) {
	if len(counts) > 0 {
		a.out.note("secrets were taken out before it was stored: %s", intake.Said(counts))
	}
}

// openHomeDB opens the database of the home, both made now if they are missing. The
// caller closes it.
func (a *app) openHomeDB(ctx context.Context) (*ledger.DB, error) {
	if _, _, err := a.openHome(); err != nil {
		return nil, err
	}
	at, err := a.closed(nil)
	if err != nil {
		return nil, err
	}
	return at.Ledger(ctx)
}

// lookAtHomeDB opens the database of the home if there is one; otherwise it
// returns nil and makes nothing.
func (a *app) lookAtHomeDB(ctx context.Context) (*ledger.DB, error) {
	at, err := a.closed(nil)
	if err != nil {
		return nil, err
	}
	return at.LookAtLedger(ctx)
}

// withMemory is withStore for a verb about one memory: it finds out which one
// the argument names.
func (a *app) withMemory(cmd *cobra.Command, arg string, fn func(ctx context.Context, s *opened, id amber.MemoryID) error) error {
	end, err := agent.ParseIDEnd(arg)
	if err != nil {
		return err
	}
	return a.withStore(cmd, func(ctx context.Context, s *opened) error {
		id, err := agent.FindMemory(ctx, s.Store, end)
		if err != nil {
			return err
		}
		return fn(ctx, s, id)
	})
}
