package sqlcore

import (
	"context"
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// maxCursor bounds what is decoded; a valid cursor is below 350 bytes.
const maxCursor = 512

// encodeCursor marks the place after the item with the given time and id in a
// listing that goes from the newest to the oldest: three lines in base64url.
func encodeCursor(listing string, ms int64, id string) amber.Cursor {
	text := listing + "\n" + strconv.FormatInt(ms, 10) + "\n" + id
	return amber.Cursor(base64.RawURLEncoding.EncodeToString([]byte(text)))
}

// decodeCursor takes a cursor of the listing apart. The empty cursor gives a
// place before every item. The error is of kind invalid.
func decodeCursor(listing string, c amber.Cursor) (ms int64, id string, err error) {
	if c == "" {
		return math.MaxInt64, "\U0010ffff", nil
	}
	fail := func() (int64, string, error) {
		return 0, "", amber.Errorf(amber.KindInvalid, "read cursor", "", "the cursor is not one of %s", listing)
	}
	if len(c) > maxCursor {
		return fail()
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(string(c))
	if err != nil {
		return fail()
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) != 3 || lines[0] != listing || amber.CheckID("id", lines[2]) != nil {
		return fail()
	}
	if ms, err = strconv.ParseInt(lines[1], 10, 64); err != nil {
		return fail()
	}
	return ms, lines[2], nil
}

// readPage reads a page of a query whose last value is a limit. Mark makes the cursor of its
// last item.
func readPage[T any](t *Tx, table string, scan func(scanner) (T, error), size int, mark func(last T) amber.Cursor, query string, args ...any) (amber.Page[T], error) {
	items, more, err := sqlrows.ReadPage(t.Tx, table, scan, size, query, args...)
	page := amber.Page[T]{Items: items, SetAside: t.Aside}
	if more {
		page.Next = mark(items[len(items)-1])
	}
	return page, err
}

// placed is a record and the number of its place in a listing.
type placed[T any] struct {
	record T
	place  int64
}

// scanPlaced scans a row that begins with the place of its record.
func scanPlaced[T any](scan func(scanner) (T, error)) func(scanner) (placed[T], error) {
	return func(s scanner) (p placed[T], err error) {
		p.record, err = scan(behind{s, []any{&p.place}})
		return p, err
	}
}

// behind scans columns that come before those of a record.
type behind struct {
	scanner
	front []any
}

func (b behind) Scan(to ...any) error { return b.scanner.Scan(append(b.front, to...)...) }

// listing is a listing of what belongs to one record, ordered by numbers that grow.
type listing[T any] struct {
	op, name string // the name is in its cursors
	table    string
	scan     func(scanner) (T, error)
	query    string // its columns begin with the place; its last values are a place and a limit
}

// start reads what a caller asks for: how many items, and after which place.
func (l listing[T]) start(p amber.Paging) (size int, after int64, err error) {
	if size, err = p.Size(l.op); err != nil || p.Cursor == "" {
		return size, math.MinInt64, err
	}
	after, _, err = decodeCursor(l.name, p.Cursor)
	return size, after, err
}

func (l listing[T]) page(t *Tx, size int, after int64, args ...any) (amber.Page[T], error) {
	mark := func(last placed[T]) amber.Cursor { return encodeCursor(l.name, last.place, "-") }
	found, err := readPage(t, l.table, scanPlaced(l.scan), size, mark, l.query, append(args, after)...)
	return records(found), err
}

// records is a page without the places.
func records[T any](found amber.Page[placed[T]]) amber.Page[T] {
	page := amber.Page[T]{Items: make([]T, 0, len(found.Items)), Next: found.Next, SetAside: found.SetAside}
	for _, f := range found.Items {
		page.Items = append(page.Items, f.record)
	}
	return page
}

// list reads a page in a view of its own.
func (l listing[T]) list(ctx context.Context, d Database, id string, p amber.Paging, args ...any) (amber.Page[T], error) {
	size, after, err := l.start(p)
	if err != nil {
		return amber.Page[T]{Items: []T{}}, err
	}
	return view(ctx, d, l.op, id, func(t *Tx) (amber.Page[T], error) { return l.page(t, size, after, args...) })
}
