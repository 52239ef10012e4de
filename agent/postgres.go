package agent

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/vaultrow"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// maxDSN bounds the file with the address of a database.
const maxDSN = 8192

// Databases are the PostgreSQL databases that a program has open: its agents share
// their connections. The zero value is ready for use. It is safe for concurrent use.
type Databases struct {
	// Keep lets databases stay open until Close, for a program that needs them again soon.
	Keep bool

	mu   sync.Mutex
	open map[string]*sharedDatabase // by address
}

// sharedDatabase is one of them.
type sharedDatabase struct {
	server *postgres.Server
	users  int
}

// Get opens a database, or returns the one that is open. Done is called once by each who got it.
// Errors: those of [postgres.Connect].
func (d *Databases) Get(ctx context.Context, o postgres.ServerOptions) (server *postgres.Server, done func() error, err error) {
	return d.get(o, func() (*postgres.Server, error) { return postgres.Connect(ctx, o) })
}

// Await is Get for a database that does not answer: it is used once it does, see [postgres.Await].
func (d *Databases) Await(o postgres.ServerOptions, accept func(postgres.Settings) error) (server *postgres.Server, done func() error, err error) {
	return d.get(o, func() (*postgres.Server, error) { return postgres.Await(o, accept) })
}

func (d *Databases) get(o postgres.ServerOptions, open func() (*postgres.Server, error)) (server *postgres.Server, done func() error, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == nil {
		d.open = map[string]*sharedDatabase{}
	}
	s := d.open[o.DSN]
	if s == nil {
		if server, err = open(); err != nil {
			return nil, nil, err
		}
		if o.Look { // no other agent can use it
			return server, server.Close, nil
		}
		s = &sharedDatabase{server: server}
		d.open[o.DSN] = s
	}
	s.users++
	return s.server, func() error { return d.done(o.DSN, s) }, nil
}

// done closes a database when no agent uses it any more.
func (d *Databases) done(address string, s *sharedDatabase) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.users--; s.users > 0 || d.Keep {
		return nil
	}
	delete(d.open, address)
	return s.server.Close()
}

// Close closes the databases that were kept. No agent uses them any more.
func (d *Databases) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for address, s := range d.open {
		delete(d.open, address)
		errs = append(errs, s.server.Close())
	}
	return errors.Join(errs...)
}

// Database opens the database that the configuration has for the tenant of the agent. Errors: invalid; not_found and
// refused for the file with its address; those of [postgres.Connect].
func (a *Agent) Database(ctx context.Context) (*postgres.Server, func() error, error) {
	return a.DatabaseOf(ctx, a.Tenant())
}

// CommonDatabase opens the database of all tenants who have none of their own, which has the ledger. Errors: as [Agent.Database].
func (a *Agent) CommonDatabase(ctx context.Context) (*postgres.Server, func() error, error) {
	return a.DatabaseOf(ctx, "")
}

// DatabaseOf opens the database that the configuration has for a tenant; "": that of all who have none of their own. Errors: as
// [Agent.Database].
func (a *Agent) DatabaseOf(ctx context.Context, tenant amber.TenantID) (*postgres.Server, func() error, error) {
	o, err := a.optionsOf(tenant)
	if err != nil {
		return nil, nil, err
	}
	return a.databases().Get(ctx, o)
}

// AwaitDatabase is [Agent.DatabaseOf] for a database that does not answer: it is used once it does and accept returned nil for its settings. Errors:
// invalid; not_found and refused for the file with its address.
func (a *Agent) AwaitDatabase(tenant amber.TenantID, accept func(postgres.Settings) error) (*postgres.Server, func() error, error) {
	o, err := a.optionsOf(tenant)
	if err != nil {
		return nil, nil, err
	}
	return a.databases().Await(o, accept)
}

func (a *Agent) databases() *Databases {
	if a.o.Databases != nil {
		return a.o.Databases
	}
	return &Databases{}
}

// DatabaseOptions say how the database of the agent's tenant is reached. Errors: invalid; not_found
// and refused for the file with its address.
func (a *Agent) DatabaseOptions() (postgres.ServerOptions, error) { return a.optionsOf(a.Tenant()) }

func (a *Agent) optionsOf(tenant amber.TenantID) (postgres.ServerOptions, error) {
	const op = "open database"
	c, file := a.config.Memory.Backends.Postgres, a.config.DSNFileOf(string(tenant))
	if file == "" {
		return postgres.ServerOptions{}, amber.Errorf(amber.KindInvalid, op, "memory.backends.postgres.dsn_file", "the file with the address of the database is not set").
			WithHint("set memory.backends.postgres.dsn_file")
	}
	if file == a.config.DSNFileOf("") { // the tenant has none of its own
		tenant = ""
	}
	dsn, err := SecretFile(op, followed(file), maxDSN)
	return postgres.ServerOptions{
		DSN: strings.TrimSpace(dsn), Plain: c.Plain, Connections: c.Connections, Lock: c.LockTimeout, Settle: c.Settle,
		Migrate: c.Migrate == config.MigrateAuto, Look: a.probe,
		Seen: filepath.Join(a.home.KeysDir(), seenFile(tenant)), Tenant: tenant,
		Clock: a.o.Clock, Random: a.o.Random,
	}, err
}

// seenFile names the file of a home that says how far the own database of a tenant was, or that of all others.
func seenFile(tenant amber.TenantID) string {
	if tenant == "" {
		return "database.json"
	}
	return "database-" + string(tenant) + ".json"
}

// openPostgres opens the store of the agent in the database.
func (a *Agent) openPostgres(ctx context.Context, c config.Config) (config.Opened, error) {
	model, err := NewModel(c.Search, a.o.Home, a.o.Getenv)
	if err != nil {
		return config.Opened{}, err
	}
	server, done, err := a.Database(ctx)
	if err != nil {
		return config.Opened{}, err
	}
	if err := a.checkHere(ctx, server); err != nil {
		_ = done()
		return config.Opened{}, err
	}
	store, err := server.Open(ctx, a.Tenant(), a.ID(), postgres.Options{
		Queue: c.Control.Queue, Model: model, Crowded: proc.Crowded, MeaningOnly: a.o.MeaningOnly, SetAside: a.o.SetAside, Existing: a.look,
	})
	if err != nil {
		_ = done()
		return config.Opened{}, err
	}
	if err = checkName(a.folder); err == nil && !a.look {
		err = a.keepFolder(ctx)
	}
	if err != nil {
		_ = store.Close() // ends its use alone
		_ = done()
		return config.Opened{}, err
	}
	a.core, a.rows = store.Contracts, store
	return config.Opened{Parts: store.Parts(), Close: func() error {
		_ = store.Close() // ends its use alone
		return done()
	}}, nil
}

// checkHere keeps an agent whose memory lies in this home from looking like one that knows nothing.
func (a *Agent) checkHere(ctx context.Context, server *postgres.Server) error {
	if !sqlite.IsHere(a.folder) {
		return nil
	}
	if there, err := server.Has(ctx, a.Tenant(), a.ID()); there || err != nil {
		return err
	}
	return amber.Errorf(amber.KindRefused, "open store", string(a.ID()), "the memory of this agent lies in the folder %s and not in the database", a.folder.Dir()).
		WithHint("amber move --to postgres takes it there; memory.backend: sqlite uses it where it is")
}

// checkName keeps the agent of a folder apart from another one in the database that has its name: what hooks have written down for the
// one is nothing for the other.
func checkName(folder *home.Agent) error {
	if !sqlite.IsHere(folder) {
		return nil
	}
	return amber.Errorf(amber.KindRefused, "open store", string(folder.ID()), "an agent of this name lies in the folder %s, and another one in the database", folder.Dir()).
		WithHint("--agent NAME uses another agent of the database; with memory.backend: sqlite the one of the folder can be used, or deleted by amber agent delete")
}

// keepFolder makes the folder of the agent, which has the crash journal of this machine.
func (a *Agent) keepFolder(ctx context.Context) error {
	_, _, err := a.data.Create(ctx, func(dir string, _ home.Current) error { return sqlite.LeaveElsewhere(dir) })
	return err
}

// Exists reports whether the agent is there: in the database, where agents live in one, or as a folder of the
// home. Nothing is made. Errors: those of [Agent.Database].
func (a *Agent) Exists(ctx context.Context) (bool, error) {
	if !a.config.OnPostgres() {
		return a.folder.Exists()
	}
	server, done, err := a.Database(ctx)
	if err != nil {
		return false, err
	}
	there, err := server.Has(ctx, a.Tenant(), a.ID())
	if cerr := done(); err == nil {
		err = cerr
	}
	return there, err
}

// Vault returns the files of the agent's vault in the database, and reports whether the agent is there. Nothing is made. The database is
// open until done is called. Errors: those of [Agent.Database].
func (a *Agent) Vault(ctx context.Context) (rows vaultrow.Rows, there bool, done func() error, err error) {
	server, done, err := a.Database(ctx)
	if err != nil {
		return nil, false, nil, err
	}
	if there, err = server.Has(ctx, a.Tenant(), a.ID()); err != nil {
		return nil, false, nil, errors.Join(err, done())
	}
	return server.Vault(a.Tenant(), a.ID()), there, done, nil
}

// isReadOnly reports whether the store can be read and not written.
func (a *Agent) isReadOnly() bool { return a.sqlite != nil && a.sqlite.ReadOnly() }
