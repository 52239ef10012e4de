package client

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// longTerm is the long-term memory of an agent.
type longTerm struct{ *Agent }

// Recall implements [amber.LongTerm].
func (l longTerm) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	if _, _, err := q.Normalize(); err != nil {
		return amber.RecallResult{}, err
	}
	got, err := ask[amber.RecallResult](ctx, l.Agent, q, "recall")
	if err == nil && got.Hits == nil {
		err = incomplete("hits") // no answer is not the same as nothing known
	}
	return got, err
}

// Write implements [amber.LongTerm].
func (l longTerm) Write(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
	if _, err := r.Normalize(); err != nil { // JSON would mend what is no text
		return amber.WriteAck{}, err
	}
	ack, err := call[amber.WriteAck](ctx, l.c, request{
		method: http.MethodPost, path: l.path("memories"), body: r, repeatable: r.IdempotencyKey != "",
	})
	return ack, hasID(ack.ID, err)
}

// Delete implements [amber.LongTerm].
func (l longTerm) Delete(ctx context.Context, id amber.MemoryID) error {
	return l.remove(ctx, nil, "memories", string(id))
}

// Health implements [amber.LongTerm]. A server that does not answer is
// unavailable.
func (l longTerm) Health(ctx context.Context) (amber.Health, error) {
	h, err := get[amber.Health](ctx, l.Agent, nil, "health")
	if err != nil && ctx.Err() == nil {
		return amber.Health{Backend: "remote", Status: amber.Unavailable, Detail: err.Error()}, nil
	}
	return h, err
}

// Get implements [amber.MemoryReader].
func (l longTerm) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	m, err := get[amber.Memory](ctx, l.Agent, nil, "memories", string(id))
	return m, about(m.ID, id, err)
}

// List implements [amber.MemoryReader].
func (l longTerm) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	return memories(ctx, l.Agent, q, "memories")
}

// memories reads a page of memories. One whose text is too much for an answer
// is asked for again with fewer of them; the cursor goes on from there.
func memories(ctx context.Context, a *Agent, q amber.ListQuery, elements ...string) (amber.Page[amber.Memory], error) {
	for {
		p, err := page[amber.Memory](ctx, a, listValues(q).Values, elements...)
		q.Limit = cmp.Or(q.Limit, amber.DefaultPageSize)
		if !errors.Is(err, errTooLarge) || q.Limit <= 1 {
			return p, err
		}
		q.Limit = max(1, q.Limit/8)
	}
}

func listValues(q amber.ListQuery) values {
	v := filterValues(q.Filter).flag("all", q.All).flag("deleted", q.Deleted).text("trust", string(q.Trust)).text("waiting", string(q.Waiting))
	return v.number("limit", q.Limit).text("cursor", string(q.Cursor))
}

func filterValues(f amber.Filter) values {
	v := newValues().text("scope", string(f.Scope)).text("session_id", string(f.SessionID)).text("user_id", f.UserID).
		text("project_id", f.ProjectID).text("workspace_id", f.WorkspaceID).
		text("since", f.Since.String()).text("until", f.Until.String())
	for _, k := range f.Kinds {
		v.Add("kind", string(k))
	}
	for _, t := range f.Tags {
		v.Add("tag", t)
	}
	return v
}

// History implements [amber.MemoryReader].
func (l longTerm) History(ctx context.Context, id amber.MemoryID, p amber.Paging) (amber.Page[amber.Memory], error) {
	return page[amber.Memory](ctx, l.Agent, newValues().paging(p).Values, "memories", string(id), "history")
}

// Timeline implements [amber.MemoryReader].
func (l longTerm) Timeline(ctx context.Context, id amber.MemoryID, before, after int) ([]amber.Memory, error) {
	return list[amber.Memory](ctx, l.Agent, newValues().number("before", before).number("after", after).Values, "memories", string(id), "timeline")
}

// WriteBatch implements [amber.BatchWriter].
func (l longTerm) WriteBatch(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
	for _, r := range rs {
		if _, err := r.Normalize(); err != nil {
			return nil, err
		}
	}
	body := fields{"items": rs}
	page, err := post[amber.Page[amber.WriteAck]](ctx, l.Agent, body, "memories", "batch")
	if err == nil && len(page.Items) != len(rs) {
		err = incomplete("answer for each of them")
	}
	for _, ack := range page.Items {
		err = hasID(ack.ID, err)
	}
	return page.Items, err
}

// Edit implements [amber.Editor].
func (l longTerm) Edit(ctx context.Context, r amber.EditRequest) (amber.Memory, error) {
	if err := checkEdit(r); err != nil {
		return amber.Memory{}, err
	}
	if r.Tags != nil && *r.Tags == nil { // null would be no change
		r.Tags = &[]string{}
	}
	if r.Metadata != nil && *r.Metadata == nil {
		r.Metadata = &map[string]string{}
	}
	m, err := call[amber.Memory](ctx, l.c, request{
		method: http.MethodPatch, path: l.path("memories", string(r.ID)), body: r,
	})
	return m, about(m.ID, r.ID, err)
}

// checkEdit refuses what is no text, which JSON would mend. Everything else is
// the store's to judge: whether the memory is there comes first.
func checkEdit(r amber.EditRequest) error {
	var all []string
	for _, s := range []*string{r.Title, r.Content, r.Summary} {
		if s != nil {
			all = append(all, *s)
		}
	}
	if r.Tags != nil {
		all = append(all, *r.Tags...)
	}
	if r.Metadata != nil {
		for k, v := range *r.Metadata {
			all = append(all, k, v)
		}
	}
	if slices.ContainsFunc(all, func(s string) bool { return !utf8.ValidString(s) }) {
		return amber.Errorf(amber.KindInvalid, "edit memory", string(r.ID), "the text is not UTF-8")
	}
	return nil
}

// Erase implements [amber.Eraser].
func (l longTerm) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	return call[amber.EraseReport](ctx, l.c.slow(), request{method: http.MethodPost, path: l.path("memories", string(id), "erase"), repeatable: true})
}

// Context makes a block of memory as the policy of the server decides. Errors:
// invalid for a size out of bounds; those of recall.
func (a *Agent) Context(ctx context.Context, r wire.ContextRequest) (wire.ContextBlock, error) {
	b, err := ask[wire.ContextBlock](ctx, a, r, "context")
	if err == nil && b.Memories == nil {
		err = incomplete("memories")
	}
	return b, err
}
