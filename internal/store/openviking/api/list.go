package api

import (
	"context"
	"hash/maphash"
	"net/http"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
)

// Bounds of a listing.
const (
	pageSize  = 1000
	maxListed = 2_000_000
)

// List calls fn with every URI below a folder. A folder that is not there has none. While files
// come and go, fn may be called twice for one, or not for another; names with control characters
// are left out. An error of fn ends the listing and is returned. Errors: invalid for a name that
// is not below the folder; damaged for a listing without an end.
func (c *Client) List(ctx context.Context, root string, fn func(uri string) error) error {
	r, err := c.file("list OpenViking folder", http.MethodGet, "/api/v1/fs/ls", root)
	if err != nil {
		return err
	}
	r.query.Set("recursive", "true")
	r.query.Set("simple", "true")
	r.query.Set("limit", strconv.Itoa(pageSize))
	l := listing{c: c, r: r, below: strings.TrimRight(root, "/") + "/", seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}, fn: fn}
	for more := true; more && err == nil; {
		more, err = l.page(ctx)
	}
	return err
}

// listing is a listing under way.
type listing struct {
	c      *Client
	r      request
	below  string // every name begins so
	offset int
	// seen has a sum for each name so far, which is smaller than the name. It only shows whether a page is new, so that
	// two names with one sum do no harm.
	seed maphash.Seed
	seen map[uint64]struct{}
	fn   func(uri string) error
}

// page reads the next page and reports whether there are more.
func (l *listing) page(ctx context.Context) (more bool, err error) {
	l.r.query.Set("offset", strconv.Itoa(l.offset))
	uris, e, err := askPage[[]string](ctx, l.c, l.r)
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		return false, nil
	case err != nil:
		return false, err
	case uris == nil || e.HasMore == nil:
		return false, l.c.damaged(l.r, errShape)
	}
	l.offset += len(uris)
	if isNew := l.note(uris); l.offset > maxListed || *e.HasMore && !isNew {
		return false, l.c.damaged(l.r, errEndless)
	}
	for _, uri := range uris {
		if err := l.tell(uri); err != nil {
			return false, err
		}
	}
	return *e.HasMore, nil
}

// note reports whether a page has a name that earlier ones have not.
func (l *listing) note(uris []string) bool {
	before := len(l.seen)
	for _, uri := range uris {
		l.seen[maphash.String(l.seed, uri)] = struct{}{}
	}
	return len(l.seen) > before
}

// tell passes a name on.
func (l *listing) tell(uri string) error {
	switch {
	case !isURI(uri), uri+"/" == l.below, uri == l.below:
		return nil
	case !strings.HasPrefix(uri, l.below):
		return l.c.fail(l.r, amber.KindInvalid, "the server lists the URI %q, want only those below %q", clean(uri), l.below)
	}
	return l.fn(uri)
}
