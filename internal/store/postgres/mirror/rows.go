package mirror

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/amber-memory/amber/internal/store/rowfile"
)

// binaryRows asks for values as the server has them.
var binaryRows = pgx.QueryResultFormats{pgtype.BinaryFormatCode}

// cursor reads the rows of a table of a generation in the order of its key.
type cursor struct {
	rows  pgx.Rows
	table rowfile.Table
}

// open asks for the rows. The transaction says of which generation.
func open(ctx context.Context, c *pgx.Conn, file string, t rowfile.Table) (cursor, error) {
	rows, err := c.Query(ctx, fmt.Sprintf(`SELECT %s FROM %s ORDER BY %s`, quoted(t.Names()), name(file, t), quoted(t.Key)), binaryRows)
	return cursor{rows, t}, err
}

// once is for a statement that is sent only once: the connection does not keep it prepared.
const once = pgx.QueryExecModeDescribeExec

// openWhere asks for the rows for which a condition holds that is another one each time, in any order.
func openWhere(ctx context.Context, c *pgx.Conn, file string, t rowfile.Table, where string) (cursor, error) {
	rows, err := c.Query(ctx, fmt.Sprintf(`SELECT %s FROM %s %s`, quoted(t.Names()), name(file, t), where), once, binaryRows)
	return cursor{rows, t}, err
}

// next returns the next row, nil after the last one. Its values stay as they are.
func (c cursor) next() ([]any, error) {
	if !c.rows.Next() {
		return nil, c.rows.Err()
	}
	raw := c.rows.RawValues()
	row := make([]any, len(raw))
	for i, b := range raw {
		v, err := decode(c.table.Columns[i], b)
		if err != nil {
			return nil, fmt.Errorf("table %s, column %s: %w", c.table.Name, c.table.Columns[i].Name, err)
		}
		row[i] = v
	}
	return row, nil
}

func decode(c rowfile.Column, raw []byte) (any, error) {
	if raw == nil {
		return nil, nil
	}
	switch c.Type {
	case rowfile.Text:
		return string(raw), nil
	case rowfile.Blob:
		return append([]byte{}, raw...), nil
	}
	if len(raw) != 8 {
		return nil, fmt.Errorf("a number has %d bytes, want 8", len(raw))
	}
	bits := binary.BigEndian.Uint64(raw)
	if c.Type == rowfile.Real {
		return math.Float64frombits(bits), nil
	}
	return int64(bits), nil
}

// batch are rows that one statement inserts: a list for each column.
type batch struct {
	table rowfile.Table
	lists []list
	rows  int
	bytes int
}

// The most that one statement carries, and one transaction.
const (
	batchRows  = 2000
	batchBytes = 4 << 20
)

func newBatch(t rowfile.Table) *batch {
	b := &batch{table: t}
	for _, c := range t.Columns {
		switch c.Type {
		case rowfile.Integer:
			b.lists = append(b.lists, &values[int64]{kind: "int8"})
		case rowfile.Real:
			b.lists = append(b.lists, &values[float64]{kind: "float8"})
		case rowfile.Text:
			b.lists = append(b.lists, &values[string]{kind: "text"})
		case rowfile.Blob:
			b.lists = append(b.lists, &values[[]byte]{kind: "bytea"})
		}
	}
	return b
}

func (b *batch) full() bool { return b.rows >= batchRows || b.bytes >= batchBytes }

func (b *batch) add(row []any) {
	b.rows++
	for i, v := range row {
		b.lists[i].add(v)
		switch v := v.(type) {
		case string:
			b.bytes += len(v)
		case []byte:
			b.bytes += len(v)
		default:
			b.bytes += 8
		}
	}
}

func (b *batch) clear() {
	b.rows, b.bytes = 0, 0
	for _, l := range b.lists {
		l.clear()
	}
}

// insert writes the rows. COPY would be the way to do it, but PostgreSQL has none into tables
// with policies.
func (b *batch) insert(ctx context.Context, c *pgx.Conn, file string) error {
	names, kinds := b.table.Names(), ""
	args := make([]any, len(b.lists))
	for i, l := range b.lists {
		if i > 0 {
			kinds += ", "
		}
		kinds += fmt.Sprintf("$%d::%s[]", i+1, l.name())
		args[i] = l.all()
	}
	_, err := c.Exec(ctx, fmt.Sprintf(`INSERT INTO %s (%s) SELECT * FROM unnest(%s)`, name(file, b.table), quoted(names), kinds), args...)
	return err
}

// list is the values of a column.
type list interface {
	add(v any)
	name() string
	all() any
	clear()
}

type values[T any] struct {
	kind string
	list []*T // nil: NULL
}

func (l *values[T]) add(v any) {
	if t, ok := v.(T); ok {
		l.list = append(l.list, &t)
		return
	}
	l.list = append(l.list, nil)
}

func (l *values[T]) name() string { return l.kind }
func (l *values[T]) all() any     { return l.list }
func (l *values[T]) clear()       { l.list = l.list[:0] }
