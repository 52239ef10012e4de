package sqlcore

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
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

// pageSize returns how many items a page holds. The error is of kind invalid.
func pageSize(op string, limit int) (int, error) {
	switch {
	case limit < 0:
		return 0, amber.Errorf(amber.KindInvalid, op, "", "the limit is negative, want 0 or more")
	case limit == 0:
		return amber.DefaultPageSize, nil
	}
	return min(limit, amber.MaxPageSize), nil
}

// pageOf cuts a page from items, which were asked for one more than it holds:
// the one too many says that there is a next page.
func pageOf[T any](items []T, size int, mark func(last T) amber.Cursor) amber.Page[T] {
	if len(items) <= size {
		return amber.Page[T]{Items: items}
	}
	return amber.Page[T]{Items: items[:size], Next: mark(items[size-1])}
}
