package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
)

// Client is a vault behind HTTP. Safe for concurrent use.
type Client struct {
	o    Options
	base string // without a slash at the end
	host string
	http *http.Client
	// session is behind a pointer, so that no way of printing the client shows
	// the token.
	session *session
	// versions says that the vault gives versions to files, so that it is taken
	// to keep conditions. It never becomes false again.
	versions atomic.Bool
}

var (
	_ colony.ConditionalBackend = (*Client)(nil)
	_ colony.GuardedBackend     = (*Client)(nil)
)

// Close lets idle connections go.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Status implements [colony.Backend].
func (c *Client) Status(ctx context.Context) (colony.Status, error) {
	r := request{op: "ask vault for its room", method: http.MethodGet, path: "/vault/status"}
	a, err := c.call(ctx, r)
	if err != nil {
		return colony.Status{}, err
	}
	s, err := parseStatus(a.body)
	if err != nil {
		return colony.Status{}, r.senseless(err)
	}
	return s, nil
}

// List implements [colony.Backend].
func (c *Client) List(ctx context.Context, prefix string) ([]colony.FileInfo, error) {
	r := request{op: "list vault", method: http.MethodGet, path: "/vault/files"}
	files, whole, err := c.pages(ctx, r, prefix, prefix)
	if err == nil && !whole && prefix != "" {
		// It may count more than it was asked for: then all of them say so.
		files, whole, err = c.pages(ctx, r, "", prefix)
	}
	if err != nil {
		return nil, err
	}
	if !whole {
		return nil, r.senseless(errNotWhole)
	}
	slices.SortFunc(files, func(a, b colony.FileInfo) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(files, func(a, b colony.FileInfo) bool { return a.Name == b.Name }), nil
}

// pages reads a listing to its end and returns the files whose names begin with
// wanted. It is whole when the vault does not count more files than it named.
func (c *Client) pages(ctx context.Context, r request, prefix, wanted string) (files []colony.FileInfo, whole bool, err error) {
	r.query = url.Values{}
	if prefix != "" {
		r.query.Set("prefix", prefix)
	}
	named, size := 0, 0
	for seen := map[string]bool{}; ; {
		a, err := c.call(ctx, r)
		if err != nil {
			return nil, false, err
		}
		if size += len(a.body); size > maxListing {
			return nil, false, r.senseless(errTooLarge)
		}
		p, err := parsePage(a.body, maxListed-named)
		if err != nil {
			return nil, false, r.senseless(err)
		}
		named += len(p.files)
		for _, f := range p.files {
			if strings.HasPrefix(f.Name, wanted) {
				files = append(files, f)
			}
		}
		if !p.more {
			return files, p.total <= int64(named), nil
		}
		if p.cursor == "" {
			return nil, false, amber.Errorf(amber.KindUnsupported, r.op, "", "the vault has more files than it lists, and gives no cursor for the rest")
		}
		if seen[p.cursor] || len(seen) >= maxPages {
			return nil, false, r.senseless(errEndless)
		}
		seen[p.cursor] = true
		r.query.Set("cursor", p.cursor)
	}
}

// Get implements [colony.Backend]. A vault that gives no version gets one made
// of the content.
func (c *Client) Get(ctx context.Context, name string) (colony.File, error) {
	r, err := file("get vault file", http.MethodGet, name)
	if err != nil {
		return colony.File{}, err
	}
	a, err := c.call(ctx, r)
	if err != nil {
		return colony.File{}, err
	}
	f, err := parseFile(name, a)
	if err != nil {
		return colony.File{}, r.senseless(err)
	}
	c.noteVersion(f.Version)
	if f.Version == "" {
		f.Version = localVersion(f.Content)
	}
	return f, nil
}

// Put implements [colony.Backend].
func (c *Client) Put(ctx context.Context, name, content string) (colony.FileInfo, error) {
	info, _, err := c.put(ctx, name, content, nil)
	return info, err
}

// Delete implements [colony.Backend].
func (c *Client) Delete(ctx context.Context, name string) error {
	r, err := file("delete vault file", http.MethodDelete, name)
	if err != nil {
		return err
	}
	a, err := c.call(ctx, r)
	if a.unsure && amber.KindOf(err) == amber.KindNotFound {
		return nil // an earlier request did it, and its answer was lost
	}
	if err != nil || a.status == http.StatusNoContent {
		return err
	}
	// Any page could answer with success, so the client checks that the file is gone.
	if _, err := c.Get(ctx, name); amber.KindOf(err) != amber.KindNotFound {
		return r.senseless(errNotDone)
	}
	return nil
}

// MayWrite implements [colony.GuardedBackend]. A vault that does not say is
// asked by writing. Errors also: unreachable, quota.
func (c *Client) MayWrite(ctx context.Context) error {
	r := request{op: "ask vault for permission", method: http.MethodGet, path: "/me/capabilities"}
	a, err := c.call(ctx, r)
	if errors.Is(err, errNoCall) { // the vault does not know the question
		return nil
	}
	if err != nil {
		return err
	}
	allowed, why, err := parseCapability(a.body, "write_vault")
	if err != nil {
		return r.senseless(err)
	}
	if allowed {
		return nil
	}
	text := "the vault says that this key may not write"
	if why = clean(c.session.secrets.Scrub(why)); why != "" {
		text += ": " + why
	}
	return amber.Errorf(amber.KindRefused, r.op, "", "%s", text)
}

// file is a request about one file. Errors: invalid.
func file(op, method, name string) (request, error) {
	path, err := escape(op, name)
	return request{op: op, method: method, path: "/vault/files/" + path, name: name}, err
}
