package ledger

import (
	"fmt"
	"net/url"
	"time"

	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// dsn names the database for the driver. No connection ever makes the file, and
// every one keeps the same promises: a pool may open another at any time.
func dsn(path string, busy time.Duration, writes bool) string {
	q := url.Values{"mode": {"rw"}, "_dqs": {"0"}, "_defensive": {"1"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busy.Milliseconds()),
		"synchronous(FULL)",
		"fullfsync(1)",
		"checkpoint_fullfsync(1)",
		"secure_delete(1)",
		"trusted_schema(0)",
		"cell_size_check(1)",
	}}
	if writes {
		q.Add("_pragma", "journal_mode(WAL)")
	} else {
		// Readers look first at a file that may not be ours, so they leave its
		// journal mode alone. They may make the shared-memory file.
		q.Add("_pragma", "query_only(1)")
	}
	return sqlconn.FileURI(path, q)
}
