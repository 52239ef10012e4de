package foreign

import (
	"context"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// maxGrowth bounds what the rows of a table give, as times of what is stored of them.
const maxGrowth = 16

// reading is one reading of a table.
type reading struct {
	*table
	name string
	n    int64 // rows that were read
	size int64 // and bytes of their values
	fn   func(Row) error
	told error // of fn, which is not about the table
}

// row reads one row, within what the walk has counted: a default value, which the schema holds once, can be that of every row.
func (r *reading) row(s sqlconn.Row) error {
	r.n++
	row, size, err := scanRow(s, r.n, r.columns)
	if err != nil {
		return err
	}
	switch r.size += size; {
	case r.n > r.tally.Rows:
		return amber.Errorf(amber.KindDamaged, "read table", r.name, "there are more rows than the %d of its pages", r.tally.Rows)
	case r.size > freeBytes && r.size > maxGrowth*r.tally.Bytes:
		return amber.Errorf(amber.KindInvalid, "read table", r.name, "the rows give more than %d times what is stored, the limit", maxGrowth)
	}
	r.told = r.fn(row)
	return r.told
}

// all reads the rows in the order in which they are stored. No index is used, since none was walked, and nothing is sorted.
func (d *Database) all(ctx context.Context, r *reading) error {
	return d.conn.Each(ctx, "SELECT "+cells(r.columns)+" FROM "+quoted(r.name)+" NOT INDEXED", nil, r.row)
}

// scanRow reads a row of a query of cells, and returns how many bytes its values have.
func scanRow(r sqlconn.Row, n int64, columns []string) (row Row, size int64, err error) {
	row = Row{N: n, values: make(map[string]any, len(columns))}
	into, values := make([]any, len(columns), len(columns)+1), make([]any, len(columns))
	for i := range into {
		into[i] = &values[i]
	}
	if err := r.Scan(append(into, &row.TooLong)...); err != nil {
		return row, 0, err
	}
	for i, c := range columns {
		row.values[c] = values[i]
		switch v := values[i].(type) {
		case string:
			size += int64(len(v))
		case []byte:
			size += int64(len(v))
		}
	}
	return row, size, nil
}

// cells are the columns of a query, and how many values are too long. One of those would end the query.
func cells(columns []string) string {
	var b, long strings.Builder
	long.WriteString("0")
	for _, c := range columns {
		b.WriteString(cell(c) + ", ")
		long.WriteString(" + (" + tooLong(c) + ")")
	}
	return b.String() + long.String()
}

// cell is a column, null where its value is too long. An expression has no declared type, so that the driver leaves a time as
// it is written: it would lose its zone.
func cell(column string) string {
	return fmt.Sprintf("CASE WHEN %s THEN NULL ELSE %s END", tooLong(column), quoted(column))
}

func tooLong(column string) string {
	return fmt.Sprintf("ifnull(octet_length(%s), 0) > %d", quoted(column), MaxItemBytes)
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
