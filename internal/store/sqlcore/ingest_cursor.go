package sqlcore

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectCursor = `SELECT ` + sqlrows.CursorColumns + `, NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = c.session_id AND s.ended_at IS NULL)
FROM journal_cursors c WHERE c.journal = ?`
	upsertCursor = `INSERT INTO journal_cursors (journal, host, session_id, seq, last_at, pid, process_start, boot, namespace)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (journal) DO UPDATE SET host = excluded.host, session_id = excluded.session_id, seq = excluded.seq, last_at = excluded.last_at,
 pid = excluded.pid, process_start = excluded.process_start, boot = excluded.boot, namespace = excluded.namespace`

	// selectOpenCursors begins with the sessions that have not ended: there
	// are few of them, however many cursors there are.
	selectOpenCursors = `SELECT ` + sqlrows.CursorColumns + `, false FROM sessions s INDEXED BY sessions_open
CROSS JOIN journal_cursors c
WHERE c.session_id = s.id AND s.ended_at IS NULL ORDER BY c.last_at, c.journal LIMIT ?`
)

// moveCursor compares the cursor with what the ingestion expects and moves it.
func (t *Tx) moveCursor(in amber.Ingestion) error {
	c, err := t.cursor(in.Journal)
	if err != nil {
		return err
	}
	if c.Seq != in.After {
		return amber.Errorf(amber.KindConflict, "ingest", in.Journal, "the cursor is at %d, want %d", c.Seq, in.After)
	}
	lastAt, p := cmp.Or(in.LastAt, c.LastAt), cmp.Or(in.Process, c.Process)
	return t.Do(upsertCursor, in.Journal, in.Host, in.Session, in.Through, lastAt.UnixMilli(), p.PID, p.Start, p.Boot, p.Namespace)
}

// cursor returns a cursor, a zero one where there is none.
func (t *Tx) cursor(journal string) (amber.JournalCursor, error) {
	c, err := sqlrows.ScanCursor(t.Row(selectCursor, journal))
	if sqlrows.Absent(err) {
		return amber.JournalCursor{Journal: journal}, nil
	}
	return c, err
}

// JournalCursor implements [amber.Ingester].
func (s *Contracts) JournalCursor(ctx context.Context, journal string) (amber.JournalCursor, error) {
	return view(ctx, s.memory, "read cursor", journal, func(t *Tx) (amber.JournalCursor, error) { return t.cursor(journal) })
}

// OpenJournals implements [amber.Ingester].
func (s *Contracts) OpenJournals(ctx context.Context) ([]amber.JournalCursor, error) {
	return view(ctx, s.memory, "list cursors", "", func(t *Tx) ([]amber.JournalCursor, error) {
		open, _, err := sqlrows.ReadPage(t.Tx, "journal_cursors", sqlrows.ScanCursor, amber.MaxPageSize, selectOpenCursors)
		return open, err
	})
}
