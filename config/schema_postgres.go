package config

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/amber-memory/amber"
)

// PostgresBackend is the backend of agents that live in a PostgreSQL database.
const PostgresBackend = "postgres"

const postgresPath = "memory.backends.postgres."

// Postgres holds the options of the postgres backend.
type Postgres struct {
	DSNFile     string        // holds the address of the database; "" for none
	Plain       bool          // a server beyond this machine needs no certificate
	Connections int           // at most
	LockTimeout time.Duration // how long a write waits for one of another program
	Settle      time.Duration // how long a writer looks for the outcome of a commit
	Migrate     Insistence    // who brings an older database to the schema of this program
	// Tenants are those that have a database of their own, by name. Use [Config.DSNFileOf].
	Tenants map[string]PostgresTenant
}

// PostgresTenant is the database of one tenant.
type PostgresTenant struct {
	DSNFile string // holds the address of its database; "": that of all others
}

// postgresTenantsPath is the section where tenants have a database of their own.
const postgresTenantsPath = postgresPath + "tenants"

// postgresTenantKeys returns the keys of one tenant.
func postgresTenantKeys(name string) []Key {
	file := key(join(postgresTenantsPath, name)+".dsn_file", "", "", nil).as(Path)
	file.set = func(c *Config, v any) {
		p := &c.Memory.Backends.Postgres
		p.Tenants = changed(p.Tenants, name, func(t *PostgresTenant) { t.DSNFile = v.(string) })
	}
	file.get = func(c *Config) any { return c.Memory.Backends.Postgres.Tenants[name].DSNFile }
	return []Key{file}
}

// DSNFileOf returns the file with the address of the database that keeps the agents of a tenant.
func (c Config) DSNFileOf(tenant string) string {
	return cmp.Or(c.Memory.Backends.Postgres.Tenants[tenant].DSNFile, c.Memory.Backends.Postgres.DSNFile)
}

// OwnDatabases returns the tenants that have a database of their own, sorted.
func (c Config) OwnDatabases() (tenants []string) {
	for _, name := range slices.Sorted(maps.Keys(c.Memory.Backends.Postgres.Tenants)) {
		if c.Memory.Backends.Postgres.Tenants[name].DSNFile != "" {
			tenants = append(tenants, name)
		}
	}
	return tenants
}

// Ways to bring an older database to the schema of a program.
const (
	MigrateManual Insistence = "manual" // amber migrate
	MigrateAuto   Insistence = "auto"   // the first program that opens it, as far as that only adds
)

func postgresKeys() []Key {
	of := func(c *Config) *Postgres { return &c.Memory.Backends.Postgres }
	return []Key{
		key(postgresPath+"dsn_file", "", "", func(c *Config) *string { return &of(c).DSNFile }).as(Path),
		key(postgresPath+"plain", false, false, func(c *Config) *bool { return &of(c).Plain }),
		key(postgresPath+"connections", 16, 1000, func(c *Config) *int { return &of(c).Connections }),
		key(postgresPath+"lock_timeout", 10*time.Second, 10*time.Minute, func(c *Config) *time.Duration { return &of(c).LockTimeout }),
		key(postgresPath+"settle", 15*time.Second, 10*time.Minute, func(c *Config) *time.Duration { return &of(c).Settle }),
		key(postgresPath+"migrate", MigrateManual, "", func(c *Config) *Insistence { return &of(c).Migrate }).among(MigrateManual, MigrateAuto),
	}
}

// OnPostgres reports whether agents live in a PostgreSQL database.
func (c Config) OnPostgres() bool { return c.Memory.Backend == PostgresBackend }

// IsElsewhere reports whether the memory of this home is not in its folders: on a server of
// Amber, or in a database.
func (c Config) IsElsewhere() bool { return c.IsEdge() || c.OnPostgres() }

// checkPostgres checks that agents live in a database as a whole or not at all. Errors: invalid.
func (c Config) checkPostgres() error {
	const op = "choose backend"
	for _, l := range amber.Layers() {
		switch name := c.BackendOf(l); {
		case c.OnPostgres() && name != PostgresBackend:
			return amber.Errorf(amber.KindInvalid, op, layerPath(l), "the backend is %s, want none: with %s: %s every layer lies in the database", quote(name), backendPath, PostgresBackend)
		case !c.OnPostgres() && name == PostgresBackend:
			return amber.Errorf(amber.KindInvalid, op, layerPath(l), "%q is not for one layer, but for all of them", PostgresBackend).
				WithHint("set " + backendPath + " to " + PostgresBackend)
		}
	}
	if c.OnPostgres() && c.Memory.Backends.Postgres.DSNFile == "" {
		return amber.Errorf(amber.KindInvalid, op, postgresPath+"dsn_file", "the file with the address of the database is not set, and %s is %s", backendPath, PostgresBackend).
			WithHint("set " + postgresPath + "dsn_file to a file for its owner alone, with an address as in postgres://amber@db.example.org/amber")
	}
	return nil
}
