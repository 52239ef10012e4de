package api

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/amber-memory/amber"
)

// file is a request about one file. Errors: invalid.
func (c *Client) file(op, method, path, uri string) (request, error) {
	r := request{op: op, method: method, path: path, id: uri, query: url.Values{"uri": {uri}}}
	return r, checkURI(op, uri)
}

// Read returns the text of a file, without what the server added and without the white space
// around it. Errors: not_found.
func (c *Client) Read(ctx context.Context, uri string) (string, error) {
	r, err := c.file("read OpenViking file", http.MethodGet, "/api/v1/content/read", uri)
	if err != nil {
		return "", err
	}
	text, err := ask[*string](ctx, c, r)
	if err != nil {
		return "", err
	}
	if text == nil {
		return "", c.damaged(r, errShape)
	}
	return *text, nil
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

// Stat returns what is known of a file or folder. Errors: not_found.
func (c *Client) Stat(ctx context.Context, uri string) (Stat, error) {
	r, err := c.file("look at OpenViking file", http.MethodGet, "/api/v1/fs/stat", uri)
	if err != nil {
		return Stat{}, err
	}
	a, err := ask[struct {
		URI      *string `json:"uri"`
		Size     int64   `json:"size"`
		Modified string  `json:"modTime"`
		IsDir    *bool   `json:"isDir"`
	}](ctx, c, r)
	if err != nil {
		return Stat{}, err
	}
	if a.IsDir == nil || a.Size < 0 {
		return Stat{}, c.damaged(r, errShape)
	}
	if a.URI != nil {
		if err := c.same(r, uri, *a.URI); err != nil {
			return Stat{}, err
		}
	}
	return Stat{Size: a.Size, Modified: parseTime(a.Modified), IsDir: *a.IsDir}, nil
}

// parseTime reads a time, which is UTC where it has no zone. A text that is no time is absent.
func parseTime(s string) amber.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"} {
		if t, err := time.Parse(layout, s); err == nil {
			return amber.At(t)
		}
	}
	return amber.Time{}
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
