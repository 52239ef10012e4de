package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type longTerm part[amber.LongTerm]

func (p longTerm) Recall(ctx context.Context, q amber.Query) (r amber.RecallResult, err error) {
	ctx, end, err := p.begin(ctx, "recall")
	defer func() { end(err, size{in: len(q.Text), out: hitBytes(r.Hits), items: len(r.Hits)}) }()
	return p.next.Recall(ctx, q)
}

func (p longTerm) Write(ctx context.Context, r amber.WriteRequest) (ack amber.WriteAck, err error) {
	ctx, end, err := p.begin(ctx, "write")
	defer func() { end(err, size{in: requestBytes(r), items: 1}) }()
	return p.next.Write(ctx, r)
}

func (p longTerm) Delete(ctx context.Context, id amber.MemoryID) (err error) {
	ctx, end, err := p.begin(ctx, "delete")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Delete(ctx, id)
}

func (p longTerm) Health(ctx context.Context) (h amber.Health, err error) {
	ctx, end, err := p.begin(ctx, "health")
	defer func() { end(err, size{}) }()
	return p.next.Health(ctx)
}

type memories part[amber.MemoryReader]

func (p memories) Get(ctx context.Context, id amber.MemoryID) (m amber.Memory, err error) {
	ctx, end, err := p.begin(ctx, "get")
	defer func() { end(err, size{out: memoryBytes(m), items: 1}) }()
	return p.next.Get(ctx, id)
}

func (p memories) List(ctx context.Context, q amber.ListQuery) (l amber.Page[amber.Memory], err error) {
	ctx, end, err := p.begin(ctx, "list")
	defer func() { end(err, size{out: memoryBytes(l.Items...), items: len(l.Items)}) }()
	return p.next.List(ctx, q)
}

func (p memories) History(ctx context.Context, id amber.MemoryID) (l []amber.Memory, err error) {
	ctx, end, err := p.begin(ctx, "history")
	defer func() { end(err, size{out: memoryBytes(l...), items: len(l)}) }()
	return p.next.History(ctx, id)
}

func (p memories) Timeline(ctx context.Context, id amber.MemoryID, before, after int) (l []amber.Memory, err error) {
	ctx, end, err := p.begin(ctx, "timeline")
	defer func() { end(err, size{out: memoryBytes(l...), items: len(l)}) }()
	return p.next.Timeline(ctx, id, before, after)
}

type batch part[amber.BatchWriter]

func (p batch) WriteBatch(ctx context.Context, rs []amber.WriteRequest) (acks []amber.WriteAck, err error) {
	ctx, end, err := p.begin(ctx, "write_batch")
	defer func() { end(err, size{in: requestBytes(rs...), items: len(rs)}) }()
	return p.next.WriteBatch(ctx, rs)
}

type editor part[amber.Editor]

func (p editor) Edit(ctx context.Context, r amber.EditRequest) (m amber.Memory, err error) {
	ctx, end, err := p.begin(ctx, "edit")
	defer func() { end(err, size{in: editBytes(r), items: 1}) }()
	return p.next.Edit(ctx, r)
}

type eraser part[amber.Eraser]

func (p eraser) Erase(ctx context.Context, id amber.MemoryID) (r amber.EraseReport, err error) {
	ctx, end, err := p.begin(ctx, "erase")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Erase(ctx, id)
}

type relations part[amber.Relations]

func (p relations) Relate(ctx context.Context, r amber.Relation) (out amber.Relation, err error) {
	ctx, end, err := p.begin(ctx, "relate")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Relate(ctx, r)
}

func (p relations) Unrelate(ctx context.Context, id string) (err error) {
	ctx, end, err := p.begin(ctx, "unrelate")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Unrelate(ctx, id)
}

func (p relations) Related(ctx context.Context, id amber.MemoryID) (l []amber.Relation, err error) {
	ctx, end, err := p.begin(ctx, "related")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.Related(ctx, id)
}

type concepts part[amber.Concepts]

func (p concepts) SetConcepts(ctx context.Context, id amber.MemoryID, concepts []string) (err error) {
	ctx, end, err := p.begin(ctx, "set_concepts")
	defer func() { end(err, size{items: len(concepts)}) }()
	return p.next.SetConcepts(ctx, id, concepts)
}

func (p concepts) Concepts(ctx context.Context, id amber.MemoryID) (l []string, err error) {
	ctx, end, err := p.begin(ctx, "concepts")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.Concepts(ctx, id)
}

func (p concepts) CountConcepts(ctx context.Context) (l []amber.ConceptCount, err error) {
	ctx, end, err := p.begin(ctx, "count_concepts")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.CountConcepts(ctx)
}

type stats part[amber.StatsReader]

func (p stats) Stats(ctx context.Context) (s amber.Stats, err error) {
	ctx, end, err := p.begin(ctx, "stats")
	defer func() { end(err, size{}) }()
	return p.next.Stats(ctx)
}

type changes part[amber.ChangeLog]

func (p changes) Changes(ctx context.Context, after amber.Position, limit int) (l []amber.Change, err error) {
	ctx, end, err := p.begin(ctx, "changes")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.Changes(ctx, after, limit)
}

func (p changes) Head(ctx context.Context) (h amber.Position, err error) {
	ctx, end, err := p.begin(ctx, "head")
	defer func() { end(err, size{}) }()
	return p.next.Head(ctx)
}
