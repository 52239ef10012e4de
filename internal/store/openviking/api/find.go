package api

import (
	"context"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// Bounds and words of a query.
const (
	maxQuery   = 64 << 10
	maxTargets = 100
	maxLimit   = 1000

	levelFile     = 2 // the others are summaries of folders
	contextMemory = "memory"
)

// hit is a file that was found, on the wire.
type hit struct {
	URI     string   `json:"uri"`
	Context string   `json:"context_type"`
	Level   int      `json:"level"`
	Score   *float64 `json:"score"`
}

// Find returns the files that are nearest to a text, the nearest first, however far they are.
// Summaries of folders, what is no memory, and names with control characters are left out.
// Errors: invalid; unreachable, also while the model that makes vectors is away.
func (c *Client) Find(ctx context.Context, q Query) ([]Found, error) {
	r := request{op: "find in OpenViking", method: http.MethodPost, path: "/api/v1/search/find"}
	if err := c.checkQuery(r, q); err != nil {
		return nil, err
	}
	r.body = struct {
		Query   string   `json:"query"`
		Targets []string `json:"target_uri"`
		Limit   int      `json:"limit"`
		Level   int      `json:"level"`
		Context string   `json:"context_type"`
	}{q.Text, q.Targets, q.Limit, levelFile, contextMemory}
	a, err := ask[struct {
		Memories []hit `json:"memories"`
	}](ctx, c, r)
	if err != nil {
		return nil, err
	}
	if a.Memories == nil {
		return nil, c.damaged(r, errShape)
	}
	return c.found(r, a.Memories, q.Limit)
}

// checkQuery checks what is sent. Errors: invalid.
func (c *Client) checkQuery(r request, q Query) error {
	switch {
	case strings.TrimSpace(q.Text) == "" || len(q.Text) > maxQuery || !utf8.ValidString(q.Text):
		return c.fail(r, amber.KindInvalid, "the query is not valid: want 1 to %d bytes of UTF-8", maxQuery)
	case q.Limit < 1 || q.Limit > maxLimit:
		return c.fail(r, amber.KindInvalid, "the limit is %d, want 1 to %d", q.Limit, maxLimit)
	case len(q.Targets) == 0 || len(q.Targets) > maxTargets:
		return c.fail(r, amber.KindInvalid, "the query has %d folders, want 1 to %d", len(q.Targets), maxTargets)
	}
	for _, uri := range q.Targets {
		if err := checkURI(r.op, uri); err != nil {
			return err
		}
	}
	return nil
}

// found takes the files out of the hits. Errors: damaged for a hit without a score.
func (c *Client) found(r request, hits []hit, limit int) ([]Found, error) {
	var found []Found
	for _, h := range hits {
		if h.Score == nil {
			return nil, c.damaged(r, errShape)
		}
		if h.Context == contextMemory && h.Level == levelFile && isURI(h.URI) && len(found) < limit {
			found = append(found, Found{URI: h.URI, Score: *h.Score})
		}
	}
	return found, nil
}
