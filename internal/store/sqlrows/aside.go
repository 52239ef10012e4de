package sqlrows

import (
	"errors"
	"reflect"
	"strings"

	"github.com/amber-memory/amber"
)

// A row that no reader can read, because its JSON is not valid or a number is out of
// range, comes from a damaged or hostile file that was restored. It is set
// aside: a call that reads many rows answers with the others and names it, and
// a call for that one row gets an error of kind damaged.

const (
	// MaxCount bounds every counter, so that there is always a next one: half as
	// much again as sync takes from elsewhere.
	MaxCount = 3 << 61
	// firstTime and lastTime are the milliseconds that RFC 3339 can write, years
	// 1 to 9999.
	firstTime, lastTime = -62_135_596_800_000, 253_402_300_799_999
)

// badRow is what is wrong with one row. It holds no stored text.
type badRow struct {
	table, id string
	reason    string
}

func (b *badRow) Error() string { return b.reason }

// unreadable is the error about a row that cannot be read.
func unreadable(table, id, reason string) error {
	e := &amber.Error{Op: "read " + table, Kind: amber.KindDamaged, ID: id, Err: &badRow{table, id, reason}, Hint: "amber doctor"}
	if table == "memories" {
		e.Hint = "amber forget " + id
	}
	return e
}

// AsBadRow reports whether an error is about one row only.
func AsBadRow(err error) (*badRow, bool) {
	var b *badRow
	return b, errors.As(err, &b)
}

// strictRow is a row that tells values which do not fit from errors of the
// database.
type strictRow struct{ scanner }

func (r strictRow) Scan(dest ...any) error {
	err := r.scanner.Scan(dest...)
	if err == nil || !strings.HasPrefix(err.Error(), "sql: Scan error on column index") {
		return err
	}
	name, id := "a column", ""
	if _, rest, ok := strings.Cut(err.Error(), `name "`); ok {
		name, _, _ = strings.Cut(rest, `"`)
	}
	if len(dest) > 0 { // columns are read in order, and most tables begin with their id
		if v := reflect.ValueOf(dest[0]); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.String {
			id = v.Elem().String()
		}
	}
	return unreadable("", id, name+" is out of range")
}

// fit returns what is wrong with a row whose counters and times are given.
func fit(table, id string, counts, times []int64) error {
	for _, n := range counts {
		if n < 0 || n > MaxCount {
			return unreadable(table, id, "a counter is out of range")
		}
	}
	for _, ms := range times {
		if ms < firstTime || ms > lastTime {
			return unreadable(table, id, "a time is out of range")
		}
	}
	return nil
}

// fitOrigin is fit for an origin.
func fitOrigin(table, id string, o amber.Origin) error {
	if o.Counter > MaxCount {
		return unreadable(table, id, "a counter is out of range")
	}
	return nil
}

// NotJSON is the error about a column that must be JSON and is not.
func NotJSON(table, id, column string) error {
	return unreadable(table, id, column+" is not valid JSON")
}

// SetAside notes a row that was left out, and reports whether the error was
// about one row only.
func (t *Tx) SetAside(table string, err error) bool {
	b, ok := AsBadRow(err)
	if !ok || t.Ctx.Err() != nil {
		return false
	}
	if b.table == "" {
		b.table = table
	}
	one := amber.SetAside{Table: b.table, ID: printable(b.id), Reason: b.reason}
	if len(t.Aside) < amber.MaxSetAside {
		t.Aside = append(t.Aside, one)
	}
	if t.Told != nil {
		t.Told(one)
	}
	return true
}

// printable returns an id that is fit for a message: what is stored may be no id
// at all.
func printable(id string) string {
	if amber.CheckID("id", id) != nil {
		return "?"
	}
	return id
}

// ReadRows collects what scan makes of every row that can be read, and sets the
// others aside. The list is never nil.
func ReadRows[T any](t *Tx, table string, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	out := []T{}
	err := t.Each(query, args, func(s scanner) error {
		v, err := scan(s)
		switch {
		case err == nil:
			out = append(out, v)
		case !t.SetAside(table, err):
			return err
		}
		return nil
	})
	return out, err
}

// ReadPage is ReadRows for a query whose last value is a limit: it answers with n rows
// where there are n that can be read, however many are set aside, or with fewer where their
// text reaches [amber.MaxPageBytes] before. More says that there are others behind them.
func ReadPage[T any](t *Tx, table string, scan func(scanner) (T, error), n int, query string, args ...any) (out []T, more bool, err error) {
	before := len(t.Aside)
	for ask := n + 1; ; ask *= 2 {
		t.Aside = t.Aside[:before]
		out, rows, full, err := readPage(t, table, scan, n, query, append(args[:len(args):len(args)], ask)...)
		if err != nil || full || rows < ask {
			return out, full, err
		}
	}
}

// errFull ends the reading of rows.
var errFull = errors.New("the page is full")

// readPage reads rows until there are n, or their text is enough for a page, and there is
// one more: then the page is full. It also tells how many rows it saw.
func readPage[T any](t *Tx, table string, scan func(scanner) (T, error), n int, query string, args ...any) (out []T, rows int, full bool, err error) {
	out, bytes := []T{}, 0
	err = t.Each(query, args, func(s scanner) error {
		if len(out) == n || bytes >= amber.MaxPageBytes && len(out) > 0 {
			return errFull
		}
		rows++
		v, err := scan(measured{s, &bytes})
		switch {
		case err == nil:
			out = append(out, v)
		case !t.SetAside(table, err):
			return err
		}
		return nil
	})
	if errors.Is(err, errFull) {
		return out, rows, true, nil
	}
	return out, rows, false, err
}

// measured is a row whose text is counted.
type measured struct {
	scanner
	bytes *int
}

func (m measured) Scan(dest ...any) error {
	err := m.scanner.Scan(dest...)
	for _, d := range dest {
		switch d := d.(type) {
		case *string:
			*m.bytes += len(*d)
		case *[]byte:
			*m.bytes += len(*d)
		}
	}
	return err
}
