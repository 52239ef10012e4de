package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/amber-memory/amber"
)

// file is a request about one file. Errors: invalid.
func (c *Client) file(op, method, path, uri string) (request, error) {
	r := request{op: op, method: method, path: path, id: uri, query: url.Values{"uri": {uri}}}
	return r, checkURI(op, uri)
}

// Download returns the bytes of a file as the server keeps them. Errors: not_found.
func (c *Client) Download(ctx context.Context, uri string) ([]byte, error) {
	r, err := c.file("download OpenViking file", http.MethodGet, "/api/v1/content/download", uri)
	if err != nil {
		return nil, err
	}
	a, err := c.send(ctx, r)
	return a.body, err
}

// Delete deletes a file, or a folder with all that is in it. A file that is not there is fine.
func (c *Client) Delete(ctx context.Context, uri string, recursive bool) error {
	r, err := c.file("delete OpenViking file", http.MethodDelete, "/api/v1/fs", uri)
	if err != nil {
		return err
	}
	if recursive {
		r.query.Set("recursive", strconv.FormatBool(true))
	}
	_, err = ask[any](ctx, c, r)
	if amber.KindOf(err) == amber.KindNotFound {
		return nil
	}
	return err
}
