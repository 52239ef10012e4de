package sqlite

import (
	"context"
	"fmt"
	"os"

	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// checkpointFrames is how many frames the write-ahead log may hold that are
// not in the database yet before a checkpoint is made: SQLite's own number.
const checkpointFrames = 1000

// smallestFrame is how many bytes a frame of the log has at least: a page of the smallest size, and its header.
const smallestFrame = 512 + 24

// tidy makes a checkpoint when the write-ahead log has grown. SQLite would do
// so inside the commit that passes the mark, and a fence would wait for it;
// here the write is acknowledged and no lock of the agent is held. Readers and
// writers go on meanwhile. A checkpoint that cannot be made now is made after
// a later write, or when the last connection closes. A log that is too small to
// have grown is not looked into: the first look needs a connection of its own,
// which reads the whole schema.
func (d *database) tidy(ctx context.Context, h *handles) error {
	if log, err := os.Stat(d.path(h.current) + "-wal"); err == nil && log.Size() < checkpointFrames*smallestFrame {
		return nil
	}
	if !h.tidying.TryLock() {
		return nil // another caller is making a checkpoint
	}
	defer h.tidying.Unlock()
	conn, err := h.keeper.Get(ctx)
	if err != nil {
		return err
	}
	defer h.keeper.Put(conn)
	log, done, err := checkpoint(ctx, conn, "NOOP")
	if err != nil || log-done < checkpointFrames {
		return err
	}
	_, _, err = checkpoint(ctx, conn, "PASSIVE")
	return err
}

// checkpoint returns how many frames the log has and how many of them are in
// the database.
func checkpoint(ctx context.Context, c *sqlconn.Conn, mode string) (log, done int, err error) {
	var busy int
	err = c.Row(ctx, fmt.Sprintf("PRAGMA wal_checkpoint(%s)", mode)).Scan(&busy, &log, &done)
	return log, done, err
}
