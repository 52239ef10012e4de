package sqlite

import (
	"fmt"
	"net/url"
	"time"

	"github.com/amber-memory/amber/internal/sqlconn"
)

// minVersion is the oldest SQLite the schema may be used with: FTS5
// secure-delete, contentless tables and the WAL fixes Amber relies on.
const minVersion = 3_051_000

// access says what a connection is for.
type access string

const (
	create access = "rwc" // only while an agent is being made
	write  access = "rw"
	read   access = "ro"
)

// pragmas are set on every connection, not once on a pool: a connection that
// the pool opens later must keep the same promises.
func pragmas(a access, busy time.Duration) []string {
	p := []string{
		fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()),
		"synchronous(FULL)",
		"fullfsync(1)",
		"checkpoint_fullfsync(1)",
		"foreign_keys(1)",
		"secure_delete(1)",
		"trusted_schema(0)",
		"cell_size_check(1)",
		"recursive_triggers(1)",
		"wal_autocheckpoint(0)", // see checkpoint.go
	}
	if a == read {
		// Readers are the first to look at a file that may not be ours: they
		// leave its journal mode, which it keeps, as it is.
		return append(p, "query_only(1)")
	}
	return append(p, "journal_mode(WAL)")
}

// dsn names a database file for the driver. The mode never creates a file but
// while an agent is made: a missing database is damage, not a fresh start.
func dsn(path string, a access, busy time.Duration) string {
	mode := a
	if a == read {
		mode = write // a reader must be able to make the shared-memory file; query_only keeps it from writing
	}
	q := url.Values{"mode": {string(mode)}, "_dqs": {"0"}}
	for _, p := range pragmas(a, busy) {
		q.Add("_pragma", p)
	}
	return sqlconn.FileURI(path, q)
}

// openPool prepares for at most n connections to the file. None is opened
// yet.
func openPool(path string, a access, busy time.Duration, n int) (*sqlconn.Pool, error) {
	return sqlconn.Open(dsn(path, a, busy), n)
}
