package pgdb

import (
	"context"

	"github.com/amber-memory/amber/internal/base/pgerr"
)

// Instant is what a transaction sees: on which server, and which other transactions had ended when it began.
type Instant struct {
	System, Timeline int64
	Snapshot         string // as pg_current_snapshot tells it: xmin:xmax:xip
	// Lossy says that a crash of the server may undo what the transaction sees.
	Lossy bool
}

const (
	selectInstant = `SELECT system_identifier, ` + onTimeline + `, pg_current_snapshot()::text, current_setting('synchronous_commit') = 'off' FROM pg_control_system()`
	aside         = "amber_aside"
)

// Instant asks for what the transaction sees. It is ok where the server tells, which some that are hosted do not; the transaction goes on in
// both cases.
func (c *Conn) Instant(ctx context.Context) (i Instant, ok bool, err error) {
	if _, err := c.PG().Exec(ctx, "SAVEPOINT "+aside); err != nil {
		return i, false, err
	}
	err = c.PG().QueryRow(ctx, selectInstant).Scan(&i.System, &i.Timeline, &i.Snapshot, &i.Lossy)
	if err != nil && (pgerr.Code(err) == "" || !isUntold(err)) {
		return i, false, err
	}
	if err != nil {
		_, err = c.PG().Exec(ctx, "ROLLBACK TO SAVEPOINT "+aside)
		return Instant{}, false, err
	}
	_, err = c.PG().Exec(ctx, "RELEASE SAVEPOINT "+aside)
	return i, i.Timeline != 0, err
}
