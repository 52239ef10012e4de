package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	sqlite3 "modernc.org/sqlite"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/sqlconn"
)

// ExportNexo writes the live memories, the turns and what hangs on them of a
// memory.db that nobody writes into the four databases that nexo knows, in the
// folder dir, as the agent of that name. What nexo has no column for lies in
// tables of Amber's own beside them, from which [ImportNexo] brings it back;
// the report counts it, and what is left out. Nothing is synced. The databases
// are whole when it returns nil; after an error the caller throws the folder
// away. Errors: those of [Examine] for memory; conflict when one of the files
// exists; invalid for a name that is no agent's.
func ExportNexo(ctx context.Context, memory, dir string, agent amber.AgentID) (report NexoReport, err error) {
	const op = "export for nexo"
	if _, err := amber.ParseAgentID(string(agent)); err != nil {
		return report, err
	}
	h, err := lookAtStranger(memory)
	if err == nil && h.schema.file != memorySchema.file {
		err = amber.Errorf(amber.KindInvalid, op, memory, "it is not a memory.db")
	}
	if err != nil {
		return report, aboutFile(memory, err)
	}
	s, err := openStranger(ctx, strangerDSN(memory, nil))
	if err != nil {
		return report, sqlconn.Wrap(op, memory, err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := h.checkShape(ctx, s); err != nil {
		return report, aboutFile(memory, err)
	}
	e := &nexoExport{from: s.begin(ctx), version: h.version, dir: dir, agent: agent, left: tally{}, beside: tally{}}
	err = e.run(ctx)
	e.report.LeftOut, e.report.Beside = e.left.list(), e.beside.list()
	return e.report, sqlconn.Wrap(op, memory, err)
}

// nexoExport is one export on its way.
type nexoExport struct {
	from         *tx
	version      int64 // of the schema
	dir          string
	agent        amber.AgentID
	report       NexoReport
	left, beside tally
	fields       *tx // long_term.sqlite
}

func (e *nexoExport) run(ctx context.Context) error {
	return e.file(ctx, NexoLongTerm, nexoLongTermSchema, func(t *tx) error {
		e.fields = t
		for _, part := range []func(*tx) error{e.memories, e.relations, e.turns, e.sessions} {
			if err := part(t); err != nil {
				return err
			}
		}
		for _, f := range []struct {
			name, schema string
			fill         func(*tx) error
		}{
			{NexoVector, nexoVectorSchema, e.vectors},
			{NexoConcepts, nexoMemories, e.concepts},
			{NexoCompactions, nexoCompactionsSchema, e.compactions},
		} {
			if err := e.file(ctx, f.name, f.schema, f.fill); err != nil {
				return err
			}
		}
		return e.countRest()
	})
}

// file makes a database and fills it in one transaction. It is no longer
// than what it holds, and has no journal.
func (e *nexoExport) file(ctx context.Context, name, schema string, fill func(*tx) error) (err error) {
	path := filepath.Join(e.dir, name)
	if err := makeEmpty(path); err != nil {
		return err
	}
	q := url.Values{"mode": {"rw"}, "_dqs": {"0"}, "_pragma": {
		"journal_mode(OFF)", "synchronous(OFF)", "trusted_schema(0)", "temp_store(2)", "locking_mode(EXCLUSIVE)",
	}}
	c, err := sqlite3.NewConnector(sqlconn.FileURI(path, q))
	if err != nil {
		return err
	}
	db := sql.OpenDB(c)
	defer func() { err = errors.Join(err, db.Close()) }()
	one, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	t := &tx{ctx: ctx, conn: sqlconn.New(one)}
	defer func() { err = errors.Join(err, t.conn.Close()) }()
	if _, err := one.ExecContext(ctx, "BEGIN; "+schema); err != nil {
		return fmt.Errorf("make %s: %w", name, err)
	}
	if err := fill(t); err != nil {
		return fmt.Errorf("fill %s: %w", name, err)
	}
	_, err = t.exec("COMMIT")
	return err
}

// makeEmpty makes an empty file that only its owner may read, which is an empty
// database.
func makeEmpty(path string) error {
	f, err := fsx.OS().OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &amber.Error{Op: "make database", Kind: amber.KindConflict, ID: path, Err: err}
	}
	if err != nil {
		return err
	}
	return f.Close()
}

const insertFields = `INSERT INTO amber_fields (kind, id, seq, json) VALUES (?, ?, ?, ?)`

// keep writes down what a row has no columns for.
func (e *nexoExport) keep(kind, id string, seq int64, v any) error {
	body, err := marshal(v)
	if err != nil {
		return err
	}
	_, err = e.fields.exec(insertFields, kind, id, seq, body)
	return err
}

// countRest counts what is not written at all.
func (e *nexoExport) countRest() error {
	for _, c := range []struct {
		since       int64 // the first schema that has it
		what, query string
	}{
		{1, "deleted memories", `SELECT count(*) FROM memories WHERE deleted_at IS NOT NULL`},
		{1, "earlier revisions", `SELECT count(*) FROM revisions r JOIN memories m ON m.id = r.memory_id WHERE m.deleted_at IS NULL`},
		{1, "names of erased memories", `SELECT count(*) FROM erased`},
		{1, "deleted relations", `SELECT count(*) FROM relations WHERE deleted_at IS NOT NULL`},
		{1, "marks of active sessions", `SELECT count(*) FROM active_sessions`},
		{1, "states of sessions", `SELECT count(*) FROM session_states`},
		{1, "loops", `SELECT count(*) FROM loops`},
		{2, "activities", `SELECT count(*) FROM activity`},
		{2, "cursors of the journal", `SELECT count(*) FROM journal_cursors`},
		{3, "prompts of others", `SELECT count(*) FROM turns WHERE trust = 'imported'`},
	} {
		if e.version < c.since {
			continue
		}
		var n int64
		if err := e.from.row(c.query).Scan(&n); err != nil {
			return err
		}
		e.left.add(c.what, n)
	}
	return nil
}
