package agent

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/store/openviking"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// Options say which agent to open. Home, Clock and Random are required.
type Options struct {
	Home   string         // an absolute path
	Tenant amber.TenantID // "": amber.DefaultTenant
	Agent  amber.AgentID  // "": amber.DefaultAgent
	Config *config.Config // nil: config.Default()
	Clock  amber.Clock
	Random io.Reader // unpredictable
	// ServerClock tells how long a server beside the store is waited for, where Clock does not
	// go by itself. nil: Clock.
	ServerClock amber.Clock

	// Getenv reads the environment: credentials and regions of object stores.
	// nil: no variable is set.
	Getenv func(name string) string
	Access Access
	// Publisher receives the events of snapshots, notes and documents. If it is
	// nil, events go to the outbox of the home where a broker is configured, and
	// otherwise nowhere.
	Publisher events.Publisher
	// Snapshots stands in for the engine of the home. nil: the engine is opened
	// when it is first needed.
	Snapshots func(ctx context.Context) (Snapshots, error)

	// Databases are those that agents of this program share; nil: the agent opens one of its
	// own.
	Databases *Databases
	// Version is that of Amber, for what snapshots say of themselves; "": not said.
	Version string

	// MeaningOnly answers questions by the model alone, for measuring.
	MeaningOnly bool

	Warn     func(text string)                    // nil: warnings are dropped
	SetAside func(amber.SetAside)                 // gets rows that cannot be read
	Progress func(step string, done, total int64) // of snapshots and drains
}

// Access says which repository of snapshots is used, and with which keys, beside
// what the configuration names.
type Access struct {
	Repository string   // the name of one that was added; "": the configured one
	Identities []string // files with age or SSH secret keys, absolute paths
	Passphrase string   // opens bundles
	Sign       bool     // sign though snapshot.sign is false
}

// Agent is one agent of a home: its store, notes, journal and snapshots. It is safe
// for concurrent use.
type Agent struct {
	Policy amber.Policy
	Report config.Report // how the configuration was resolved; zero unless open
	// MadeHome reports that Open has made the home.
	MadeHome bool

	o      Options
	config config.Config
	home   *home.Home
	folder *home.Agent
	look   bool        // nothing is made or migrated
	probe  bool        // databases are examined: nothing is made or migrated in them
	open   bool        // its store is
	absent bool        // there is no agent
	data   *home.Agent // where the store and the notes lie: folder, or another one where there is no agent

	// Set once, before the agent is given out.
	plain  amber.Store
	core   *sqlcore.Contracts // of the store with the index; nil where it is elsewhere
	sqlite *sqlite.Store      // nil when no layer is on SQLite
	rows   *postgres.Store    // nil when the agent is not in a PostgreSQL database
	viking *openviking.Store  // nil when no OpenViking server stands beside it
	notes  *notes.Dir         // nil when notes are elsewhere
	remote *client.Agent      // nil when memory lies in the home

	clean sync.Once
	store amber.Store // under clean

	mu      sync.Mutex // guards what follows
	outbox  *ledger.DB // of this agent's own; nil: Options.Publisher, or none
	engine  Snapshots
	closers []func() error // in the order of opening
}

// At returns an agent whose store stays closed: neither the agent nor its home need
// be there, and nothing is made. Its journal, its snapshots and the doctor work.
// Errors: invalid.
func At(o Options) (*Agent, error) {
	a := &Agent{o: o, plain: amber.NewStore(amber.Parts{}), look: true}
	a.config = config.Default()
	if o.Config != nil {
		a.config = *o.Config
	}
	if a.o.Tenant == "" {
		a.o.Tenant = amber.DefaultTenant
	}
	if a.o.Agent == "" {
		a.o.Agent = amber.DefaultAgent
	}
	if a.o.Getenv == nil {
		a.o.Getenv = func(string) string { return "" }
	}
	if a.o.Warn == nil {
		a.o.Warn = func(string) {}
	}
	if _, err := amber.ParseTenantID(string(a.o.Tenant)); err != nil {
		return nil, err
	}
	if _, err := amber.ParseAgentID(string(a.o.Agent)); err != nil {
		return nil, err
	}
	var err error
	if a.home, err = home.At(o.Home, home.Options{Clock: o.Clock, Random: o.Random}); err != nil {
		return nil, err
	}
	a.folder, err = a.home.Agent(a.o.Tenant, a.o.Agent)
	a.data = a.folder
	return a, err
}

// Open opens an agent, made with its home if they are missing. The caller closes
// it. Errors: invalid; refused; those of the backends.
func Open(ctx context.Context, o Options) (*Agent, error) {
	a, err := At(o)
	if err == nil {
		a.MadeHome, err = a.Make()
	}
	if err != nil {
		return nil, err
	}
	a.look = false
	return a, a.resolve(ctx)
}

// Look opens an agent that is there to read from it: nothing is made or migrated.
// The caller closes it. Errors: not_found; those of Open.
func Look(ctx context.Context, o Options) (*Agent, error) {
	a, err := At(o)
	if err != nil {
		return nil, err
	}
	return a, a.resolve(ctx)
}

// Make makes the home of the agent if it is missing, and reports whether it was.
// Errors: those of [home.Open]; refused for a home on a network file system.
func (a *Agent) Make() (made bool, err error) {
	if err := sqlite.CheckHome(a.o.Home, a.Tenant(), a.ID()); err != nil {
		return false, err
	}
	_, made, err = home.Open(a.o.Home, home.Options{Clock: a.o.Clock, Random: a.o.Random})
	return made, err
}

// resolve opens the configured backends.
func (a *Agent) resolve(ctx context.Context) error {
	r, err := a.backends()
	if err != nil {
		return err
	}
	resolved, err := r.Resolve(ctx, a.config)
	if err != nil {
		return err
	}
	a.open, a.plain, a.Policy, a.Report = true, resolved.Store, resolved.Policy, resolved.Report
	a.closers = append(a.closers, resolved.Close)
	a.follow()
	if a.look || a.absent || a.remote != nil { // a server publishes its changes itself
		return nil
	}
	if err := a.announce(ctx); err != nil {
		return errors.Join(err, a.Close())
	}
	return nil
}

// Close closes everything that was opened, the last first. It may be called twice.
func (a *Agent) Close() error {
	a.mu.Lock()
	closers := a.closers
	a.closers, a.engine, a.outbox = nil, nil, nil
	a.mu.Unlock()
	var errs []error
	for i := len(closers) - 1; i >= 0; i-- {
		errs = append(errs, closers[i]())
	}
	return errors.Join(errs...)
}

// Tenant is the tenant of the agent.
func (a *Agent) Tenant() amber.TenantID { return a.o.Tenant }

// ID is the id of the agent.
func (a *Agent) ID() amber.AgentID { return a.o.Agent }

// Home is the home of the agent, there or not.
func (a *Agent) Home() *home.Home { return a.home }

// Folder is the folder of the agent, there or not.
func (a *Agent) Folder() *home.Agent { return a.folder }

// Config is the configuration that the agent was opened with.
func (a *Agent) Config() config.Config { return a.config }

// Notes is the git repository of notes; nil when notes are kept elsewhere.
func (a *Agent) Notes() *notes.Dir { return a.notes }

// Plain is the store as the backends serve it: each layer on its own. To erase
// there leaves the copies in other parts of the agent.
func (a *Agent) Plain() amber.Store { return a.plain }

// Parts are those of the store with the promises about the whole agent: the eraser
// erases everywhere, a session is deleted once the journal holds nothing of it, and
// events are frozen before they are compacted, by the server where memory lies on one. Secrets
// in what is written stay.
func (a *Agent) Parts() amber.Parts {
	parts := a.plain.Present()
	if parts.Eraser != nil {
		parts.Eraser = a
	}
	if parts.Sessions != nil {
		parts.Sessions = settledSessions{parts.Sessions, a}
	}
	if parts.Events != nil && a.remote == nil {
		parts.Events = a.Events()
	}
	return parts
}

// Store is the store of the agent: that of [Agent.Parts], and secrets are taken out
// of what is written as the configuration says.
func (a *Agent) Store() amber.Store {
	a.clean.Do(func() { a.store = intake.Clean(a.Served(), a.config.Intake()) })
	return a.store
}

// Served is [Agent.Store] for a server that takes secrets out itself.
func (a *Agent) Served() amber.Store {
	if !a.Report.Enabled {
		return a.plain // its layers say why they are off
	}
	return amber.NewStore(a.Parts())
}

// Context makes a block of memory to put before a prompt, as the policy decides; that of the
// server where memory lies on one. Errors: invalid for a size out of bounds; those of recall.
func (a *Agent) Context(ctx context.Context, r wire.ContextRequest) (wire.ContextBlock, error) {
	if a.remote != nil && a.config.Memory.CheckRecall() == nil {
		return a.remote.Context(ctx, r)
	}
	return contextblock.Build(ctx, a.plain, a.Policy, r, a.o.Random)
}
