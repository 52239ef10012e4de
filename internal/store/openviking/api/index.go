package api

import (
	"context"
	"net/http"
	"time"
)

// reindexWait is how long vectors that are made again may take.
const reindexWait = 15 * time.Minute

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
