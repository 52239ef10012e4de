package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/amber-memory/amber"
)

// Bounds of waits.
const (
	reindexWait = 15 * time.Minute
	longestWait = time.Hour
)

// Missing says what lacks a vector below a folder. Errors: not_found for a folder that is not there.
func (c *Client) Missing(ctx context.Context, root string) (Missing, error) {
	r := request{op: "look for missing vectors of OpenViking", method: http.MethodPost, path: "/api/v1/system/consistency", id: root}
	if err := checkURI(r.op, root); err != nil {
		return Missing{}, err
	}
	r.body = map[string]string{"uri": root}
	a, err := ask[missingAnswer](ctx, c, r)
	if err != nil {
		return Missing{}, err
	}
	if a.Expected == nil || a.Count == nil || a.Truncated == nil || *a.Expected < 0 || *a.Count < 0 || *a.Count > *a.Expected {
		return Missing{}, c.damaged(r, errShape)
	}
	m := Missing{Expected: *a.Expected, Count: *a.Count, Whole: !*a.Truncated && len(a.Records) == *a.Count}
	seen := map[string]bool{} // a folder has more than one record
	for _, record := range a.Records {
		switch {
		case !isURI(record.URI):
			m.Whole = false
		case !seen[record.URI]:
			seen[record.URI] = true
			m.URIs = append(m.URIs, record.URI)
		}
	}
	return m, nil
}

// missingAnswer is the answer to the question what lacks a vector.
type missingAnswer struct {
	Expected  *int  `json:"expected_count"`
	Count     *int  `json:"missing_record_count"`
	Truncated *bool `json:"missing_records_truncated"`
	Records   []struct {
		URI string `json:"uri"`
	} `json:"missing_records"`
}

// Reindex makes the vectors of a file, or of all below a folder, again and waits for them, also
// while the model is away, until ctx ends or a quarter of an hour is over.
func (c *Client) Reindex(ctx context.Context, uri string) (Rebuilt, error) {
	r := request{op: "make OpenViking vectors again", method: http.MethodPost, path: "/api/v1/content/reindex", id: uri, wait: reindexWait}
	if err := checkURI(r.op, uri); err != nil {
		return Rebuilt{}, err
	}
	r.body = struct {
		URI  string `json:"uri"`
		Mode string `json:"mode"`
		Wait bool   `json:"wait"`
	}{uri, "vectors_only", true}
	a, err := ask[struct {
		Made   *int `json:"rebuilt_records"`
		Failed *int `json:"failed_records"`
	}](ctx, c, r)
	if err != nil {
		return Rebuilt{}, err
	}
	if a.Made == nil || a.Failed == nil || *a.Made < 0 || *a.Failed < 0 {
		return Rebuilt{}, c.damaged(r, errShape)
	}
	return Rebuilt{Made: *a.Made, Failed: *a.Failed}, nil
}

// Wait waits until the server has no vector left to make, at most so long: the server may not keep
// to it, so that the request ends, too. Errors: unreachable when the time is over.
func (c *Client) Wait(ctx context.Context, most time.Duration) error {
	r := request{op: "wait for OpenViking", method: http.MethodPost, path: "/api/v1/system/wait", wait: most}
	if most <= 0 || most > longestWait {
		return c.fail(r, amber.KindInvalid, "the wait is %s, want more than 0s and at most %s", most, longestWait)
	}
	r.body = map[string]int64{"timeout": int64((most + time.Second - 1) / time.Second)}
	_, err := ask[any](ctx, c, r)
	return err
}

// Task reports whether a task is done. Errors: not_found for a task that is not known, or no
// longer; ErrNoVector for one that failed.
func (c *Client) Task(ctx context.Context, id string) (done bool, err error) {
	r := request{op: "ask for OpenViking task", method: http.MethodGet, path: "/api/v1/tasks/" + id, id: id}
	if err := checkIDs(r.op, id); err != nil {
		return false, err
	}
	a, err := ask[struct {
		Status string          `json:"status"`
		Error  json.RawMessage `json:"error"`
	}](ctx, c, r)
	if err != nil {
		return false, err
	}
	switch a.Status {
	case "completed":
		return true, nil
	case "pending", "running", "cancelling":
		return false, nil
	case "failed", "cancelled":
		why, _ := decode[string](a.Error)
		return false, c.fail(r, amber.KindUnreachable, "%w: the task is %s, the server says %q", ErrNoVector, a.Status, clean(c.secrets.Scrub(why)))
	}
	return false, c.damaged(r, errShape)
}
