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
	page := amber.Page[T]{Items: copyList(items[:min(limit, len(items))])}
	if len(items) > limit {
		page.Next = cursor{listing, at(items[limit-1])}.encode()
	}
	return page, nil
}

// pageLimit fills in and checks the size of a page.
func pageLimit(op string, limit int) (int, error) {
	switch {
	case limit < 0:
		return 0, invalid(op, "", "the limit is negative, want 0 or more")
	case limit == 0:
		return amber.DefaultPageSize, nil
	}
	return min(limit, amber.MaxPageSize), nil
}
