package inmem

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/amber-memory/amber"
)

// place is where an item stands in a listing: by time, then by id, both
// falling.
type place struct {
	MS int64  `json:"ms"`
	ID string `json:"id"`
}

func (p place) compare(q place) int { return cmp.Or(cmp.Compare(p.MS, q.MS), cmp.Compare(p.ID, q.ID)) }

// cursor is what an [amber.Cursor] says: the place of the last item of a page
// of one listing.
type cursor struct {
	Listing string `json:"list"`
	place
}

func (c cursor) encode() amber.Cursor {
	b, err := json.Marshal(c)
	if err != nil {
		panic("inmem: a cursor always marshals: " + err.Error())
	}
	return amber.Cursor(base64.RawURLEncoding.EncodeToString(b))
}

func decodeCursor(listing string, s amber.Cursor) (cursor, error) {
	var c cursor
	b, err := base64.RawURLEncoding.DecodeString(string(s))
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Listing != listing {
		return c, invalid("list "+listing, "", "the cursor is not one of this listing")
	}
	return c, nil
}

// paginate returns the page of sorted items that follows a cursor.
func paginate[T any](listing string, items []T, after amber.Cursor, limit int, at func(T) place) (amber.Page[T], error) {
	if after != "" {
		c, err := decodeCursor(listing, after)
		if err != nil {
			return amber.Page[T]{Items: []T{}}, err
		}
		items = slices.DeleteFunc(items, func(v T) bool { return at(v).compare(c.place) >= 0 })
	}
	return firstPage(items, limit, func(last T) amber.Cursor { return cursor{listing, at(last)}.encode() }), nil
}

// enumerate returns the page of items that follows a cursor, where items are only added and
// removed at the end of the list.
func enumerate[T any](op, listing string, items []T, p amber.Paging) (amber.Page[T], error) {
	size, err := p.Size(op)
	if err != nil {
		return amber.Page[T]{Items: []T{}}, err
	}
	var after cursor
	if p.Cursor != "" {
		if after, err = decodeCursor(listing, p.Cursor); err != nil {
			return amber.Page[T]{Items: []T{}}, err
		}
	}
	from := min(max(after.MS, 0), int64(len(items)))
	page := firstPage(items[from:], size, func(T) amber.Cursor { return "" })
	if to := from + int64(len(page.Items)); to < int64(len(items)) {
		page.Next = cursor{listing, place{MS: to}}.encode()
	}
	return page, nil
}

// firstPage returns as many of the items as a page holds.
func firstPage[T any](items []T, limit int, mark func(last T) amber.Cursor) amber.Page[T] {
	n, bytes := 0, 0
	for n < min(limit, len(items)) && bytes < amber.MaxPageBytes {
		bytes += weight(items[n])
		n++
	}
	page := amber.Page[T]{Items: copyList(items[:n])}
	if len(items) > n && n > 0 {
		page.Next = mark(items[n-1])
	}
	return page
}

// weight is how many bytes an item has, roughly.
func weight(item any) int {
	b, err := json.Marshal(item)
	if err != nil {
		return 0
	}
	return len(b)
}
