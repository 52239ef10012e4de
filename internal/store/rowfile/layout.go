// Package rowfile reads and makes memory.db and control.db row by row, so that another
// engine can give its rows to files and take those of files. It knows the tables by
// their schema alone: what the rows mean is for others.
package rowfile

import (
	"context"
	"database/sql"
	"slices"
	"sync"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
)

// Type is what a column holds.
type Type string

// The types, as a value of each in Go: int64, float64, string, []byte.
const (
	Integer Type = "INTEGER"
	Real    Type = "REAL"
	Text    Type = "TEXT"
	Blob    Type = "BLOB"
)

// Column is one column of a table.
type Column struct {
	Name string
	Type Type
	Null bool // it may be NULL, which is nil in Go
}

// Table is one table.
type Table struct {
	Name    string
	Columns []Column
	Key     []string // the columns of its key, in order
}

// Names are the names of the columns.
func (t Table) Names() []string {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	return names
}

// File is the layout of one of the two files, in the newest schema.
type File struct {
	Name   string // "memory.db" or "control.db"
	Tables []Table
}

// Files returns both layouts, memory.db first. A table comes after those it refers to.
func Files() ([]File, error) { return known() }

var known = sync.OnceValues(func() ([]File, error) {
	var files []File
	for _, s := range []sqlfile.Schema{sqlfile.MemorySchema, sqlfile.ControlSchema} {
		tables, err := tablesOf(context.Background(), s)
		if err != nil {
			return nil, sqlconn.Wrap("read schema", s.File, err)
		}
		files = append(files, File{Name: s.File, Tables: tables})
	}
	return files, nil
})

func schemaOf(file string) (sqlfile.Schema, error) {
	for _, s := range []sqlfile.Schema{sqlfile.MemorySchema, sqlfile.ControlSchema} {
		if s.File == file {
			return s, nil
		}
	}
	return sqlfile.Schema{}, amber.Errorf(amber.KindInvalid, "read schema", file, "the file is neither memory.db nor control.db")
}

const (
	selectColumns = `SELECT m.name, c.name, c.type, NOT (c."notnull" OR c.pk), c.pk FROM sqlite_schema m, pragma_table_info(m.name) c
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY m.name, c.cid`
	selectParents = `SELECT m.name, f."table" FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`
)

// tablesOf runs the migrations of a schema in memory and reads what they make.
func tablesOf(ctx context.Context, s sqlfile.Schema) ([]Table, error) {
	var tables []Table
	parents := map[string][]string{}
	err := s.InMemory(ctx, nil, func(conn *sql.Conn) (err error) {
		c := sqlconn.New(conn)
		if tables, err = readTables(ctx, c); err != nil {
			return err
		}
		return c.Each(ctx, selectParents, nil, func(r sqlconn.Row) error {
			var child, parent string
			err := r.Scan(&child, &parent)
			parents[child] = append(parents[child], parent)
			return err
		})
	})
	return inOrder(tables, parents), err
}

func readTables(ctx context.Context, db *sqlconn.Conn) (tables []Table, err error) {
	keys := map[string]map[int]string{}
	err = db.Each(ctx, selectColumns, nil, func(r sqlconn.Row) error {
		var table string
		var c Column
		var place int
		if err := r.Scan(&table, &c.Name, &c.Type, &c.Null, &place); err != nil {
			return err
		}
		if len(tables) == 0 || tables[len(tables)-1].Name != table {
			tables, keys[table] = append(tables, Table{Name: table}), map[int]string{}
		}
		t := &tables[len(tables)-1]
		t.Columns = append(t.Columns, c)
		if place > 0 {
			keys[table][place] = c.Name
		}
		return nil
	})
	for i, t := range tables {
		for place := 1; place <= len(keys[t.Name]); place++ {
			tables[i].Key = append(tables[i].Key, keys[t.Name][place])
		}
	}
	return tables, err
}

// inOrder puts each table behind its parents.
func inOrder(tables []Table, parents map[string][]string) (out []Table) {
	has := func(name string) bool {
		return slices.ContainsFunc(out, func(t Table) bool { return t.Name == name })
	}
	for len(out) < len(tables) {
		before := len(out)
		for _, t := range tables {
			if !has(t.Name) && !slices.ContainsFunc(parents[t.Name], func(p string) bool { return p != t.Name && !has(p) }) {
				out = append(out, t)
			}
		}
		if len(out) == before { // two that refer to each other
			for _, t := range tables {
				if !has(t.Name) {
					out = append(out, t)
				}
			}
		}
	}
	return out
}
