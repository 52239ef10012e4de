package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/postgres/schema"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// ErrEmpty is in the error about a database that has no tables of Amber yet.
var ErrEmpty = schema.ErrEmpty

// Settings are those of a server that decide what an acknowledged write is worth.
type Settings struct {
	Version           string // of PostgreSQL
	Schema            schema.Version
	FSync             bool
	FullPageWrites    bool
	SynchronousCommit string // as this program's user has it
	Standbys          string // synchronous_standby_names
	Pooled            bool   // a pooler lies between
}

const selectSettings = `SELECT current_setting('server_version'), current_setting('fsync'), current_setting('full_page_writes'),
 current_setting('synchronous_commit'), current_setting('synchronous_standby_names')`

// Settings asks the server. With an error about the schema the settings are those of the server. Errors: those of [schema.Check].
func (s *Server) Settings(ctx context.Context) (x Settings, err error) {
	err = s.db.Conn(ctx, func(c *pgx.Conn) error {
		x, err = readSettings(ctx, c)
		return err
	})
	x.Pooled = s.db.Pooled()
	return x, pgerr.Wrap("read settings", "", err)
}

func readSettings(ctx context.Context, c *pgx.Conn) (x Settings, err error) {
	var fsync, pages string
	if err := c.QueryRow(ctx, selectSettings).Scan(&x.Version, &fsync, &pages, &x.SynchronousCommit, &x.Standbys); err != nil {
		return x, err
	}
	x.FSync, x.FullPageWrites = fsync == "on", pages == "on"
	x.Schema, err = schema.Check(ctx, c)
	return x, err
}

// Unsafe names the settings by which an acknowledged write can be lost.
func (x Settings) Unsafe() (why []string) {
	if !x.FSync {
		why = append(why, "fsync is off: a crash of the machine loses or breaks the database")
	}
	if !x.FullPageWrites {
		why = append(why, "full_page_writes is off: a crash of the machine can break pages")
	}
	switch {
	case slices.Contains([]string{"off", "false", "no", "0"}, x.SynchronousCommit):
		why = append(why, "synchronous_commit is off: a crash loses what was acknowledged just before")
	case x.Standbys != "" && x.SynchronousCommit == "local":
		why = append(why, "synchronous_commit is local though there are synchronous standbys: a failover loses what was acknowledged just before")
	}
	return why
}

// String describes the settings in one line for an operator.
func (x Settings) String() string {
	standbys := "no synchronous standby: what was acknowledged just before the loss of the machine is lost with it"
	if x.Standbys != "" {
		standbys = "synchronous standbys: " + x.Standbys
	}
	pooled := ""
	if x.Pooled {
		pooled = ", through a pooler"
	}
	return fmt.Sprintf("PostgreSQL %s%s, schema %d; synchronous_commit %s; %s", x.Version, pooled, x.Schema.Number, x.SynchronousCommit, standbys)
}

// Finding is what one check of the rows of an agent found.
type Finding struct {
	Check string // stable: "memory.full_text", "memory.counters", "memory.rows", "control.counters", "control.rows"
	Scope string // what was looked at
	Err   error  // nil when all is well
}

// Check reads every row of the agent as its reader does, and compares the index with the rows. It changes nothing.
// Check does not look at the pages and indexes of PostgreSQL below the rows: PostgreSQL has amcheck and checksums for
// them.
func (s *Store) Check(ctx context.Context) (findings []Finding) {
	text := sqlrows.Check{Name: "full_text", Scope: "every list and every passage of the index", Run: func(t *sqlrows.Tx) error { return t.CheckIndex(false) }}
	for _, d := range []struct {
		*database
		checks []sqlrows.Check
	}{
		{s.memory, append([]sqlrows.Check{text}, sqlrows.MemoryChecks(newestFile, true)...)},
		{s.control, sqlrows.ControlChecks(newestFile, true)},
	} {
		for _, c := range d.checks {
			err := d.View(ctx, "check "+c.Name, d.Name(), func(t *tx) error { return c.Run(t.Tx) })
			findings = append(findings, Finding{d.log + "." + c.Name, c.Scope, err})
		}
	}
	return findings
}

// newestFile is later than any schema of a file: the tables have all that files have.
const newestFile = 1 << 30
