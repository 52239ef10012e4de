package sqlfile

import (
	"fmt"
	"net/url"
	"time"

	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// MinVersion is the oldest SQLite the schema may be used with: FTS5
// secure-delete, contentless tables and the WAL fixes Amber relies on.
const MinVersion = 3_051_000

// Access says what a connection is for.
type Access string

const (
	Write Access = "rw"
	Read  Access = "ro"
)

// Pragmas are set on every connection, not once on a pool: a connection that
// the pool opens later must keep the same promises.
func Pragmas(a Access, busy time.Duration) []string {
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
	if a == Read {
		// Readers are the first to look at a file that may not be ours: they
		// leave its journal mode, which it keeps, as it is.
		return append(p, "query_only(1)")
	}
	// Savepoints keep pages as they were: not in files outside of the home.
	return append(p, "journal_mode(WAL)", "temp_store(2)")
}

// Dsn names a database file for the driver. The mode never creates a file: a missing database is damage, not a fresh start. A reader must be
// able to make the shared-memory file, and query_only keeps it from writing.
func Dsn(path string, a Access, busy time.Duration) string {
	q := url.Values{"mode": {"rw"}, "_dqs": {"0"}}
	for _, p := range Pragmas(a, busy) {
		q.Add("_pragma", p)
	}
	return sqlconn.FileURI(path, q)
}

// OpenPool prepares for at most n connections to the file. None is opened
// yet.
func OpenPool(path string, a Access, busy time.Duration, n int) (*sqlconn.Pool, error) {
	return sqlconn.Open(Dsn(path, a, busy), n)
}
