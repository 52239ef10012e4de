package client

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/tagged"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// longTerm is the long-term memory of an agent.
type longTerm struct{ *Agent }

// memoryID is an id in the inputs of operations.
func memoryID(id amber.MemoryID) op.MemoryID { return op.MemoryID{ID: string(id)} }

// Recall implements [amber.LongTerm].
func (l longTerm) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	return op.MemoryRecall.Call(ctx, l, op.Payload[amber.Query]{Body: q})
}

// Write implements [amber.LongTerm].
func (l longTerm) Write(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
	return op.MemoryWrite.Call(ctx, l, op.WriteIn{Body: r})
}

// Delete implements [amber.LongTerm].
func (l longTerm) Delete(ctx context.Context, id amber.MemoryID) error {
	return done(op.MemoryForget.Call(ctx, l, memoryID(id)))
}

// Health implements [amber.LongTerm]. A server that does not answer is
// unavailable.
func (l longTerm) Health(ctx context.Context) (amber.Health, error) {
	h, err := op.AgentHealth.Call(ctx, l, op.None{})
	if err != nil && ctx.Err() == nil {
		return amber.Health{Backend: "remote", Status: amber.Unavailable, Detail: err.Error()}, nil
	}
	return h, err
}

// Get implements [amber.MemoryReader].
func (l longTerm) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	return op.MemoryGet.Call(ctx, l, memoryID(id))
}

// List implements [amber.MemoryReader].
func (l longTerm) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	return memories(q, func(in op.MemoriesIn) (amber.Page[amber.Memory], error) { return op.MemoryList.Call(ctx, l, in) })
}

// memories reads a page of memories. One whose text is too much for an answer
// is asked for again with fewer of them; the cursor goes on from there.
func memories(q amber.ListQuery, read func(op.MemoriesIn) (amber.Page[amber.Memory], error)) (amber.Page[amber.Memory], error) {
	in := op.MemoriesIn{
		Paging: op.Paging{Limit: q.Limit, Cursor: q.Cursor}, All: q.All, Deleted: q.Deleted, Trust: q.Trust, Waiting: string(q.Waiting),
		MemoryFilter: op.MemoryFilter{
			Scope: q.Scope, Session: q.SessionID, User: q.UserID, Project: q.ProjectID, Workspace: q.WorkspaceID, Kinds: q.Kinds, Tags: q.Tags, Since: q.Since, Until: q.Until,
		},
	}
	for {
		p, err := read(in)
		in.Limit = cmp.Or(in.Limit, amber.DefaultPageSize)
		if !errors.Is(err, errTooLarge) || in.Limit <= 1 {
			return p, err
		}
		in.Limit = max(1, in.Limit/8)
	}
}

// History implements [amber.MemoryReader].
func (l longTerm) History(ctx context.Context, id amber.MemoryID, p amber.Paging) (amber.Page[amber.Memory], error) {
	return op.MemoryHistory.Call(ctx, l, op.HistoryIn{MemoryID: memoryID(id), Paging: paging(p)})
}

// Timeline implements [amber.MemoryReader].
func (l longTerm) Timeline(ctx context.Context, id amber.MemoryID, before, after int) ([]amber.Memory, error) {
	return list(op.MemoryTimeline.Call(ctx, l, op.TimelineIn{MemoryID: memoryID(id), Before: before, After: after}))
}

// WriteBatch implements [amber.BatchWriter].
func (l longTerm) WriteBatch(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
	for _, r := range rs {
		if _, err := r.Normalize(); err != nil {
			return nil, err
		}
	}
	in := op.WriteBatchIn{}
	in.Body.Items = rs
	page, err := op.MemoryWriteBatch.Call(ctx, l, in)
	if err == nil && len(page.Items) != len(rs) {
		err = incomplete("answer for each of them")
	}
	if err == nil && slices.ContainsFunc(page.Items, func(ack amber.WriteAck) bool { return ack.ID == "" }) {
		err = incomplete("id")
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
	return op.MemoryEdit.Call(ctx, l, op.EditIn{MemoryID: memoryID(r.ID), Body: r})
}

// checkEdit refuses what is no text, which JSON would mend. Everything else is
// the store's to judge: whether the memory is there comes first.
func checkEdit(r amber.EditRequest) error {
	valid := true
	check := func(s string) string {
		valid = valid && utf8.ValidString(s)
		return s
	}
	pairs := func(m map[string]string) map[string]string {
		for k, v := range m {
			check(k)
			check(v)
		}
		return m
	}
	tagged.Change{Text: check, Pairs: pairs}.Apply(&r)
	if !valid {
		return amber.Errorf(amber.KindInvalid, "edit memory", string(r.ID), "the text is not UTF-8")
	}
	return nil
}

// Erase implements [amber.Eraser].
func (l longTerm) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	return op.MemoryErase.Call(ctx, l, memoryID(id))
}

// Context makes a block of memory as the policy of the server decides. Errors:
// invalid for a size out of bounds; those of recall.
func (a *Agent) Context(ctx context.Context, r wire.ContextRequest) (wire.ContextBlock, error) {
	return op.MemoryContext.Call(ctx, a, op.Payload[wire.ContextRequest]{Body: r})
}

// beside is what hangs on the memories of an agent.
type beside struct{ *Agent }

// Relate implements [amber.Relations].
func (b beside) Relate(ctx context.Context, r amber.Relation) (amber.Relation, error) {
	r, err := r.Normalize()
	if err != nil {
		return amber.Relation{}, err
	}
	return op.RelationRelate.Call(ctx, b, op.Payload[amber.Relation]{Body: r})
}

// Relation implements [amber.Relations].
func (b beside) Relation(ctx context.Context, id string) (amber.Relation, error) {
	return op.RelationGet.Call(ctx, b, op.RelationID{ID: id})
}

// Unrelate implements [amber.Relations].
func (b beside) Unrelate(ctx context.Context, id string) error {
	return done(op.RelationUnrelate.Call(ctx, b, op.RelationID{ID: id}))
}

// Related implements [amber.Relations].
func (b beside) Related(ctx context.Context, id amber.MemoryID) ([]amber.Relation, error) {
	return list(op.RelationList.Call(ctx, b, memoryID(id)))
}

// Neighbours implements [amber.Relations].
func (b beside) Neighbours(ctx context.Context, q amber.NeighbourQuery) (amber.Neighbourhood, error) {
	if _, err := q.Normalize(); err != nil {
		return amber.Neighbourhood{}, err
	}
	n, err := op.RelationNeighbours.Call(ctx, b, op.NeighboursIn{
		MemoryID: memoryID(q.ID), Depth: some(q.Depth), Types: q.Types, Limit: some(min(q.Limit, amber.MaxNeighbours)), All: q.All,
		Session: q.SessionID, User: q.UserID, Project: q.ProjectID, Workspace: q.WorkspaceID,
	})
	switch {
	case err != nil:
		return amber.Neighbourhood{}, err
	case len(n.Memories) == 0:
		return amber.Neighbourhood{}, incomplete("memories")
	case n.Memories[0].ID != q.ID:
		return amber.Neighbourhood{}, another(string(q.ID))
	}
	return n, nil
}

// SetConcepts implements [amber.Concepts].
func (b beside) SetConcepts(ctx context.Context, id amber.MemoryID, concepts []string) error {
	concepts, err := amber.NormalizeConcepts(concepts)
	if err != nil {
		return err
	}
	in := op.ConceptsIn{MemoryID: memoryID(id)}
	in.Body.Items = concepts
	return done(op.ConceptSet.Call(ctx, b, in))
}

// Concepts implements [amber.Concepts].
func (b beside) Concepts(ctx context.Context, id amber.MemoryID) ([]string, error) {
	return list(op.ConceptList.Call(ctx, b, memoryID(id)))
}

// CountConcepts implements [amber.Concepts].
func (b beside) CountConcepts(ctx context.Context) ([]amber.ConceptCount, error) {
	return list(op.ConceptCount.Call(ctx, b, op.None{}))
}
