package nexo

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	sqlite3 "modernc.org/sqlite"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/image"
)

// Export writes the memories and turns of an agent, and what belongs to them,
// into the four databases that nexo knows, in the folder dir, as the agent of
// that name. Values without a column in nexo lie in tables of Amber beside
// them, from which [Import] brings them back. Export counts what is left out. It
// syncs nothing. The databases are whole when
// it returns nil; after an error the caller throws the folder away. Errors:
// those of from; conflict when one of the files exists; invalid for a name that
// no agent may have.
func Export(ctx context.Context, from *image.Records, dir string, agent amber.AgentID) (left []Count, err error) {
	if _, err := amber.ParseAgentID(string(agent)); err != nil {
		return nil, err
	}
	e := &exporter{from: from, dir: dir, agent: agent, left: tally{}, kept: tally{}}
	err = e.run(ctx)
	return e.left.list(), sqlconn.Wrap("export for nexo", dir, err)
}

// exporter is one export on its way.
type exporter struct {
	from   *image.Records
	dir    string
	agent  amber.AgentID
	left   tally
	kept   tally // rows of amber_fields that keepNext has written, by kind
	fields conn  // long_term.sqlite
}

func (e *exporter) run(ctx context.Context) error {
	return e.file(ctx, LongTerm, longTermSchema, func(t conn) error {
		e.fields = t
		for _, part := range []func(conn) error{e.memories, e.relations, e.turns, e.sessions} {
			if err := part(t); err != nil {
				return err
			}
		}
		for _, f := range []struct {
			name, schema string
			fill         func(conn) error
		}{
			{Vector, vectorSchema, e.vectors},
			{Concepts, memoriesSchema, e.concepts},
			{Compactions, compactionsSchema, e.compactions},
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
func (e *exporter) file(ctx context.Context, name, schema string, fill func(conn) error) (err error) {
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
	t := conn{sqlconn.New(one), ctx}
	defer func() { err = errors.Join(err, t.Close()) }()
	if _, err := one.ExecContext(ctx, "BEGIN; "+schema); err != nil {
		return fmt.Errorf("make %s: %w", name, err)
	}
	if err := fill(t); err != nil {
		return fmt.Errorf("fill %s: %w", name, err)
	}
	return t.exec("COMMIT")
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
func (e *exporter) keep(kind, id string, seq int64, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return e.fields.exec(insertFields, kind, id, seq, string(body))
}

// keepNext is keep for rows that have no order of their own: that in which they are written counts.
func (e *exporter) keepNext(kind, id string, v any) error {
	e.kept.add(kind, 1)
	return e.keep(kind, id, e.kept[kind], v)
}

// countRest counts what is not written at all.
func (e *exporter) countRest() error {
	return e.from.Rest(func(what string, n int64) error {
		e.left.add(what, n)
		return nil
	})
}
