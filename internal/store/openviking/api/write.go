package api

import (
	"context"
	"net/http"
	"time"

	"github.com/amber-memory/amber"
)

const (
	// writeWait is how long the vectors of one request may take.
	writeWait = 2 * time.Minute
	// fileWait is how much longer a request may take for each file of a batch. A server that makes
	// vectors meanwhile was seen to need 5 to 20 ms for one.
	fileWait = 50 * time.Millisecond
)

// Write writes a file, with its folders, and returns when its vector is made; what is there is
// replaced. An acknowledged file may be lost by a power cut of the server. Errors: invalid, also for
// a server that took another name; busy; ErrNoVector.
func (c *Client) Write(ctx context.Context, uri, content string) error {
	r := request{op: "write OpenViking file", method: http.MethodPost, path: "/api/v1/content/write", id: uri, write: true, wait: writeWait}
	if err := checkFile(r.op, File{uri, content}); err != nil {
		return err
	}
	r.body = struct {
		URI     string `json:"uri"`
		Content string `json:"content"`
		Mode    string `json:"mode"`
		Wait    bool   `json:"wait"`
	}{uri, content, "create", true}
	a, err := ask[struct {
		URI string `json:"uri"`
	}](ctx, c, r)
	if err != nil {
		return err
	}
	if a.URI == "" {
		return c.damaged(r, errShape)
	}
	return c.same(r, uri, a.URI)
}

// Mkdir makes a folder and those above it.
func (c *Client) Mkdir(ctx context.Context, uri string) error {
	r := request{op: "make OpenViking folder", method: http.MethodPost, path: "/api/v1/fs/mkdir", id: uri}
	if err := checkURI(r.op, uri); err != nil {
		return err
	}
	r.body = map[string]string{"uri": uri}
	a, err := ask[struct {
		URI *string `json:"uri"`
	}](ctx, c, r)
	if err != nil || a.URI == nil {
		return err
	}
	return c.same(r, uri, *a.URI)
}

// operation is a file of a batch on the wire.
type operation struct {
	URI     string `json:"uri"`
	Content string `json:"content"`
	Mode    string `json:"mode"`
}

// batchAnswer is the answer to a batch.
type batchAnswer struct {
	Created   []string `json:"created"`
	Updated   []string `json:"updated"`
	Unchanged []string `json:"unchanged"`
}

// WriteBatch writes files below a folder, which must be there. The server makes their vectors
// later. Errors: invalid, also for a server that took other names; not_found for a folder that is
// not there; busy; ErrNoVector.
func (c *Client) WriteBatch(ctx context.Context, root string, files []File) error {
	r := request{op: "write OpenViking files", method: http.MethodPost, path: "/api/v1/content/batch-write", id: root, write: true, wait: time.Duration(len(files)) * fileWait}
	operations, err := c.operations(r, files)
	if err != nil || len(files) == 0 {
		return err
	}
	r.body = struct {
		Root       string      `json:"root_uri"`
		Operations []operation `json:"operations"`
		Wait       bool        `json:"wait"`
	}{root, operations, false}
	a, err := ask[batchAnswer](ctx, c, r)
	if err != nil {
		return err
	}
	if a.Created == nil && a.Updated == nil && a.Unchanged == nil {
		return c.damaged(r, errShape)
	}
	return c.sameFiles(r, files, a)
}

// operations checks the files of a batch. Errors: invalid.
func (c *Client) operations(r request, files []File) ([]operation, error) {
	if err := checkURI(r.op, r.id); err != nil {
		return nil, err
	}
	if len(files) > MaxBatch {
		return nil, c.fail(r, amber.KindInvalid, "the batch has %d files, want at most %d", len(files), MaxBatch)
	}
	operations, seen, size := make([]operation, 0, len(files)), map[string]bool{}, 0
	for _, f := range files {
		if err := checkFile(r.op, f); err != nil {
			return nil, err
		}
		if seen[f.URI] {
			return nil, amber.Errorf(amber.KindInvalid, r.op, f.URI, "the batch has the file twice")
		}
		seen[f.URI] = true
		if size += len(f.Content); size > maxBatchBytes {
			return nil, c.fail(r, amber.KindInvalid, "the batch has more than %d bytes", maxBatchBytes)
		}
		operations = append(operations, operation{f.URI, f.Content, "upsert"})
	}
	return operations, nil
}

// sameFiles compares the names of an answer with those that were asked for. Errors: invalid.
func (c *Client) sameFiles(r request, files []File, a batchAnswer) error {
	missing := make(map[string]bool, len(files))
	for _, f := range files {
		missing[f.URI] = true
	}
	strange := ""
	for _, list := range [][]string{a.Created, a.Updated, a.Unchanged} {
		for _, uri := range list {
			if !missing[uri] {
				strange = uri
			}
			delete(missing, uri)
		}
	}
	for _, f := range files {
		if missing[f.URI] {
			return c.same(r, f.URI, strange)
		}
	}
	return nil
}
