package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/guard/authorship"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/store/home"
)

// Closed is the agent the flags name, there or not, whose store stays closed.
func (a *App) Closed(c *config.Config) (*agent.Agent, error) {
	o, err := a.AgentOptions(c)
	if err != nil {
		return nil, err
	}
	return agent.At(o)
}

// Configured is [App.Closed] with the configuration.
func (a *App) Configured() (*agent.Agent, error) {
	loaded, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	return a.Closed(&loaded.Config)
}

// OpenHome opens the home, says so when it made it, and returns the agent the
// flags name.
func (a *App) OpenHome() (*home.Home, *home.Agent, error) {
	at, err := a.Closed(nil)
	if err != nil {
		return nil, nil, err
	}
	made, err := at.Make()
	a.NoteMade(made, at)
	return at.Home(), at.Folder(), err
}

// NoteMade says that a home was made.
func (a *App) NoteMade(made bool, at *agent.Agent) {
	if made {
		a.Out.Note("made a new home in %s", at.Home().Dir())
	}
}

// Opened is everything a verb works with.
type Opened struct {
	config.Resolved
	Local  *agent.Agent // nil when the agent is served elsewhere
	Config config.Loaded
	Home   *home.Home  // nil when the agent is served elsewhere, as is agent
	Agent  *home.Agent // tenantID and agentID work for both
	Remote *remote     // where the agent is served; nil: here
	// Spool is the agent with the crash journal of this machine where memory.backend leads to
	// the server; nil otherwise.
	Spool *agent.Agent
	Notes *notes.Dir // nil when notes are elsewhere
}

// newOpened is an agent of this machine, as verbs see it.
func newOpened(at *agent.Agent, c config.Loaded) *Opened {
	return &Opened{
		Resolved: config.Resolved{Store: at.Plain(), Policy: at.Policy, Report: at.Report, Close: at.Close},
		Local:    at, Config: c, Home: at.Home(), Agent: at.Folder(), Notes: at.Notes(),
	}
}

// TenantID is the tenant of the agent.
func (s *Opened) TenantID() amber.TenantID {
	if s.Remote != nil {
		return s.Remote.tenant
	}
	return s.Agent.Tenant()
}

// AgentID is the agent.
func (s *Opened) AgentID() amber.AgentID {
	if s.Remote != nil {
		return s.Remote.id
	}
	return s.Agent.ID()
}

// WithStore opens the store, runs fn and closes it. Every verb that touches
// memory is such an fn.
func (a *App) WithStore(cmd *cobra.Command, fn func(ctx context.Context, s *Opened) error) error {
	ctx := cmd.Context()
	s, err := a.Open(ctx)
	if err != nil {
		return err
	}
	ctx, taken := intake.WithReport(ctx)
	s.Store = authorship.Sign(intake.Clean(s.Store, s.writeRules()), a.Writer())
	err = fn(ctx, s)
	a.tellTaken(taken.Counts())
	return errors.Join(err, s.Close())
}

// Open resolves the configured store, or the one that is served elsewhere.
func (a *App) Open(ctx context.Context) (*Opened, error) {
	if a.Remote != nil {
		return a.openRemote(ctx)
	}
	loaded, err := a.LoadConfig()
	if err != nil {
		return nil, err
	}
	o, err := a.AgentOptions(&loaded.Config)
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
	a.NoteMade(at.MadeHome, at)
	a.NoteClamped(loaded.Clamped)
	return newOpened(at, loaded), nil
}

// Look resolves the configured store of an agent that is there, to read from:
// nothing is made or migrated.
func (a *App) Look(ctx context.Context, config config.Loaded) (*Opened, error) {
	o, err := a.AgentOptions(&config.Config)
	if err != nil {
		return nil, err
	}
	at, err := agent.Look(ctx, o)
	if err != nil {
		return nil, err
	}
	return newOpened(at, config), nil
}

// Writer is who speaks by this command: the owner, or the agent in whose shell the command runs.
func (a *App) Writer() authorship.Writer {
	program := "cli"
	if a.Verb == "tui" {
		program = a.Verb
	}
	return authorship.Shell(a.Getenv, program)
}

// OwnerOnly refuses a command that an agent's shell runs. The error is of kind refused.
func (a *App) OwnerOnly(op string) error {
	w := a.Writer()
	if w.Trust == amber.TrustOwn {
		return nil
	}
	return amber.Errorf(amber.KindRefused, op, "", "the command runs in the shell of an agent (%s); the owner alone decides this", w.Author.Host).
		WithHint("run it in a terminal of your own, or use the page (amber ui)")
}

// writeRules are the rules by which secrets are taken out of what a command
// writes; nil: none are. A server takes them out by its own configuration.
func (s *Opened) writeRules() *redact.Redactor {
	if s.Remote != nil {
		return nil
	}
	return s.Config.Config.Intake()
}

// tellTaken says what was taken out of what a command wrote.
func (a *App) tellTaken(counts map[string]int) {
	if len(counts) > 0 {
		a.Out.Note("secrets were taken out before it was stored: %s", intake.Said(counts))
	}
}

// OpenHomeDB opens the ledger: that of the home, both made now if they are missing, or of the PostgreSQL database that
// agents live in. The caller closes it.
func (a *App) OpenHomeDB(ctx context.Context) (*ledger.DB, error) {
	if _, _, err := a.OpenHome(); err != nil {
		return nil, err
	}
	at, err := a.Configured()
	if err != nil {
		return nil, err
	}
	return at.Ledger(ctx)
}

// LookAtHomeDB opens the ledger if there is one; otherwise it returns nil and makes nothing.
func (a *App) LookAtHomeDB(ctx context.Context) (*ledger.DB, error) {
	at, err := a.Configured()
	if err != nil {
		return nil, err
	}
	return at.LookAtLedger(ctx)
}

// WithMemory is withStore for a verb about one memory: it finds out which one
// the argument names.
func (a *App) WithMemory(cmd *cobra.Command, arg string, fn func(ctx context.Context, s *Opened, id amber.MemoryID) error) error {
	end, err := agent.ParseIDEnd(arg)
	if err != nil {
		return err
	}
	return a.WithStore(cmd, func(ctx context.Context, s *Opened) error {
		id, err := agent.FindMemory(ctx, s.Store, end)
		if err != nil {
			return err
		}
		return fn(ctx, s, id)
	})
}
