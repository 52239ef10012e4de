package mcpapi

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/op"
)

// chatTools are the two that ChatGPT and the deep research of others look for.
// Their answers are JSON in the text too, as they ask.
func chatTools() []*tool {
	return []*tool{
		define("search", "Search memory", "Search what is remembered; returns ids for fetch.",
			reading, hints{}, object(must(str("query"))),
			object(list("results", object(str("id"), str("title"), str("url")))), chatSearch),
		define("fetch", "Read a memory", "Read one result of search whole.",
			reading, hints{}, object(must(str("id"))),
			object(str("id"), str("title"), str("text"), str("url"), obj("metadata")), chatFetch),
	}
}

type chatSearchArgs struct{ Query string }

type chatResult struct {
	ID    amber.MemoryID `json:"id"`
	Title string         `json:"title"`
	URL   string         `json:"url"`
}

func chatSearch(ctx context.Context, b *bound, a *op.Call, in chatSearchArgs) (answer, error) {
	found, err := a.Store.LongTerm.Recall(ctx, amber.Query{
		Text: in.Query, Filter: amber.Filter{Identities: b.Identities("", "")}, Layers: []amber.RecallLayer{amber.LayerMemory}, // fetch reads memories
	})
	if err != nil {
		return answer{}, err
	}
	out := struct {
		Results []chatResult `json:"results"`
	}{[]chatResult{}}
	for _, h := range found.Hits {
		out.Results = append(out.Results, chatResult{h.ID, titleOf(h.Title, h.Snippet), memoryURI(h.ID)})
	}
	return answer{data: out}, nil
}

// titleOf names a memory that may have no title.
func titleOf(title, content string) string {
	title = cmp.Or(title, content)
	return shown.OneLine(title, 100)
}

// fetchBytes bounds the text of a fetch, which has no second page.
const fetchBytes = 64 << 10

func chatFetch(ctx context.Context, _ *bound, a *op.Call, in idArgs) (answer, error) {
	id, err := amber.ParseMemoryID(in.ID)
	if err != nil {
		return answer{}, err
	}
	m, err := a.Store.Memories.Get(ctx, id)
	if err != nil {
		return answer{}, err
	}
	p := shown.PageAt(m.Content, 0, fetchBytes)
	meta := map[string]string{"kind": string(m.Kind), "scope": string(m.Scope), "trust": string(m.Trust), "updated_at": m.UpdatedAt.String()}
	if p.Truncated {
		meta["truncated"] = "true"
	}
	return answer{data: struct {
		chatResult
		Text     string            `json:"text"`
		Metadata map[string]string `json:"metadata"`
	}{chatResult{m.ID, titleOf(m.Title, m.Content), memoryURI(m.ID)}, p.Marked("the rest is longer than an answer"), meta}}, nil
}
