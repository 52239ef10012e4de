package compat

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
)

// The two tools that ChatGPT and the deep research of others look for. Their answers are JSON in the text too, as they ask.

// queryArgs ask a question.
type queryArgs struct {
	Query string `json:"query" need:"yes"`
}

type chatResult struct {
	ID    amber.MemoryID `json:"id"`
	Title string         `json:"title"`
	URL   string         `json:"url"`
}

type chatResults struct {
	Results []chatResult `json:"results" shows:"id title url"`
}

var search = op.NewTool(op.Tool{
	Op: op.MemoryRecall.Row, Name: "search", Title: "Search memory", Use: "Search what is remembered; returns ids for fetch.",
}, func(ctx context.Context, c *op.Call, in queryArgs) (chatResults, string, error) {
	found, err := c.Store.LongTerm.Recall(ctx, amber.Query{
		Text: in.Query, Filter: amber.Filter{Identities: c.Host.Identities("", "")}, Layers: []amber.RecallLayer{amber.LayerMemory}, // fetch reads memories
	})
	out := chatResults{[]chatResult{}}
	for _, h := range found.Hits {
		out.Results = append(out.Results, chatResult{h.ID, titleOf(h.Title, h.Snippet), op.MemoryURI + string(h.ID)})
	}
	return out, "", err
})

// titleOf names a memory that may have no title.
func titleOf(title, content string) string { return shown.OneLine(cmp.Or(title, content), 100) }

// fetchBytes bounds the text of a fetch, which has no second page.
const fetchBytes = 64 << 10

type fetched struct {
	chatResult
	Text     string            `json:"text"`
	Metadata map[string]string `json:"metadata"`
}

var fetch = op.NewTool(op.Tool{
	Op: op.MemoryGet.Row, Name: "fetch", Title: "Read a memory", Use: "Read one result of search whole.", Shows: "id title text url metadata",
}, func(ctx context.Context, c *op.Call, in op.IDArgs) (fetched, string, error) {
	m, err := memoryOf(ctx, c, in.ID)
	p := shown.PageAt(m.Content, 0, fetchBytes)
	meta := map[string]string{"kind": string(m.Kind), "scope": string(m.Scope), "trust": string(m.Trust), "updated_at": m.UpdatedAt.String()}
	if p.Truncated {
		meta["truncated"] = "true"
	}
	return fetched{chatResult{m.ID, titleOf(m.Title, m.Content), op.MemoryURI + string(m.ID)}, p.Marked("the rest is longer than an answer"), meta}, "", err
})
