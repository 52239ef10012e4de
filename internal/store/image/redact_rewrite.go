package image

import (
	"errors"
	"slices"
	"strings"
)

// redactedRow is a row while it is rewritten.
type redactedRow struct {
	table *RedactedTable
	key   []any
	old   []string
	new   []string
	more  []int64
	found []int64 // matches by column
	drop  bool
}

func (r *redactedRow) column(name string) int {
	return slices.IndexFunc(r.table.Columns, func(c redactedColumn) bool { return c.Name == name })
}

func (r *redactedRow) was(name string) string   { return r.old[r.column(name)] }
func (r *redactedRow) is(name string) string    { return r.new[r.column(name)] }
func (r *redactedRow) set(name, value string)   { r.new[r.column(name)] = value }
func (r *redactedRow) changed() bool            { return !slices.Equal(r.old, r.new) }
func (r *redactedRow) differs(name string) bool { return r.was(name) != r.is(name) }

// rewriteTable rewrites the rows of a table, some at a time.
func (d *redaction) rewriteTable(t *RedactedTable) error {
	first, next := t.queries()
	query, args := first, []any{}
	for {
		rows, err := d.batch(t, query, args)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, r := range rows {
			if err := d.rewriteRow(r); err != nil {
				return err
			}
		}
		query, args = next, rows[len(rows)-1].key
		if err := d.Ctx.Err(); err != nil {
			return err
		}
	}
}

// queries return the queries of the first batch and of those behind a key. All
// names are constants of this package.
func (t *RedactedTable) queries() (first, next string) {
	names := slices.Clone(t.Key)
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	names = append(names, t.more...)
	key := strings.Join(t.Key, ", ")
	from := "SELECT " + strings.Join(names, ", ") + " FROM " + t.Name
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(t.Key)), ", ")
	return from + " ORDER BY " + key, from + " WHERE (" + key + ") > (" + marks + ") ORDER BY " + key
}

// errBatch ends a batch that is large enough.
var errBatch = errors.New("the batch is full")

// batch reads rows until there are enough of them.
func (d *redaction) batch(t *RedactedTable, query string, args []any) (rows []*redactedRow, err error) {
	const most = 512
	size := 0
	err = d.Each(query, args, func(s scanner) error {
		r := &redactedRow{
			table: t, key: make([]any, len(t.Key)), old: make([]string, len(t.Columns)),
			more: make([]int64, len(t.more)), found: make([]int64, len(t.Columns)),
		}
		into := make([]any, 0, len(t.Key)+len(t.Columns)+len(t.more))
		for i := range r.key {
			into = append(into, &r.key[i])
		}
		for i := range r.old {
			into = append(into, &r.old[i])
		}
		for i := range r.more {
			into = append(into, &r.more[i])
		}
		if err := s.Scan(into...); err != nil {
			return err
		}
		for _, v := range r.old {
			size += len(v)
		}
		r.new = slices.Clone(r.old)
		rows = append(rows, r)
		if size >= batchBytes || len(rows) == most {
			return errBatch
		}
		return nil
	})
	if errors.Is(err, errBatch) {
		err = nil
	}
	return rows, err
}

// rewriteRow rewrites one row where that changes it.
func (d *redaction) rewriteRow(r *redactedRow) error {
	for i, c := range r.table.Columns {
		r.new[i], r.found[i] = d.redacted(c.As, r.old[i])
	}
	if err := d.checkNames(); err != nil {
		return err
	}
	if r.table.hook != nil {
		if err := r.table.hook(d, r); err != nil {
			return err
		}
	}
	d.place(r)
	switch {
	case r.drop:
		return d.dropRow(r)
	case r.changed():
		return d.storeRow(r)
	}
	return nil
}

func (d *redaction) storeRow(r *redactedRow) error {
	var set []string
	var args []any
	for i, c := range r.table.Columns {
		if r.old[i] != r.new[i] {
			set = append(set, c.Name+" = ?")
			args = append(args, r.new[i])
		}
	}
	_, err := d.Exec("UPDATE "+r.table.Name+" SET "+strings.Join(set, ", ")+r.table.where(), append(args, r.key...)...)
	return err
}

func (d *redaction) dropRow(r *redactedRow) error {
	_, err := d.Exec("DELETE FROM "+r.table.Name+r.table.where(), r.key...)
	return err
}

func (t *RedactedTable) where() string {
	return " WHERE " + strings.Join(t.Key, " = ? AND ") + " = ?"
}
