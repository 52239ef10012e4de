package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type longTerm part[amber.LongTerm]

func (p longTerm) Recall(ctx context.Context, q amber.Query) (r amber.RecallResult, err error) {
	defer p.watch(&ctx, &err, "recall")(func() size { return size{in: len(q.Text), out: hitBytes(r.Hits), items: len(r.Hits)} })
	return p.next.Recall(ctx, q)
}

func (p longTerm) Write(ctx context.Context, r amber.WriteRequest) (ack amber.WriteAck, err error) {
	defer p.watch(&ctx, &err, "write")(func() size { return size{in: requestBytes(r), items: 1} })
	return p.next.Write(ctx, r)
}

func (p longTerm) Delete(ctx context.Context, id amber.MemoryID) (err error) {
	defer p.watch(&ctx, &err, "delete")(one)
	return p.next.Delete(ctx, id)
}

func (p longTerm) Health(ctx context.Context) (h amber.Health, err error) {
	defer p.watch(&ctx, &err, "health")(none)
	return p.next.Health(ctx)
}

type memories part[amber.MemoryReader]

func (p memories) Get(ctx context.Context, id amber.MemoryID) (m amber.Memory, err error) {
	defer p.watch(&ctx, &err, "get")(func() size { return size{out: memoryBytes(m), items: 1} })
	return p.next.Get(ctx, id)
}

func (p memories) List(ctx context.Context, q amber.ListQuery) (l amber.Page[amber.Memory], err error) {
	defer p.watch(&ctx, &err, "list")(func() size { return size{out: memoryBytes(l.Items...), items: len(l.Items)} })
	return p.next.List(ctx, q)
}

func (m memories) History(ctx context.Context, id amber.MemoryID, p amber.Paging) (l amber.Page[amber.Memory], err error) {
	defer m.watch(&ctx, &err, "history")(func() size { return size{out: memoryBytes(l.Items...), items: len(l.Items)} })
	return m.next.History(ctx, id, p)
}

func (p memories) Timeline(ctx context.Context, id amber.MemoryID, before, after int) (l []amber.Memory, err error) {
	defer p.watch(&ctx, &err, "timeline")(func() size { return size{out: memoryBytes(l...), items: len(l)} })
	return p.next.Timeline(ctx, id, before, after)
}

type batch part[amber.BatchWriter]

func (p batch) WriteBatch(ctx context.Context, rs []amber.WriteRequest) (acks []amber.WriteAck, err error) {
	defer p.watch(&ctx, &err, "write_batch")(func() size { return size{in: requestBytes(rs...), items: len(rs)} })
	return p.next.WriteBatch(ctx, rs)
}

type editor part[amber.Editor]

func (p editor) Edit(ctx context.Context, r amber.EditRequest) (m amber.Memory, err error) {
	defer p.watch(&ctx, &err, "edit")(func() size { return size{in: editBytes(r), items: 1} })
	return p.next.Edit(ctx, r)
}

type eraser part[amber.Eraser]

func (p eraser) Erase(ctx context.Context, id amber.MemoryID) (r amber.EraseReport, err error) {
	defer p.watch(&ctx, &err, "erase")(one)
	return p.next.Erase(ctx, id)
}

type relations part[amber.Relations]

func (p relations) Relate(ctx context.Context, r amber.Relation) (out amber.Relation, err error) {
	defer p.watch(&ctx, &err, "relate")(one)
	return p.next.Relate(ctx, r)
}

func (p relations) Relation(ctx context.Context, id string) (out amber.Relation, err error) {
	defer p.watch(&ctx, &err, "relation")(one)
	return p.next.Relation(ctx, id)
}

func (p relations) Unrelate(ctx context.Context, id string) (err error) {
	defer p.watch(&ctx, &err, "unrelate")(one)
	return p.next.Unrelate(ctx, id)
}

func (p relations) Related(ctx context.Context, id amber.MemoryID) (l []amber.Relation, err error) {
	defer p.watch(&ctx, &err, "related")(func() size { return size{items: len(l)} })
	return p.next.Related(ctx, id)
}

func (p relations) Neighbours(ctx context.Context, q amber.NeighbourQuery) (n amber.Neighbourhood, err error) {
	defer p.watch(&ctx, &err, "neighbours")(func() size { return size{items: len(n.Memories)} })
	return p.next.Neighbours(ctx, q)
}

type concepts part[amber.Concepts]

func (p concepts) SetConcepts(ctx context.Context, id amber.MemoryID, concepts []string) (err error) {
	defer p.watch(&ctx, &err, "set_concepts")(func() size { return size{items: len(concepts)} })
	return p.next.SetConcepts(ctx, id, concepts)
}

func (p concepts) Concepts(ctx context.Context, id amber.MemoryID) (l []string, err error) {
	defer p.watch(&ctx, &err, "concepts")(func() size { return size{items: len(l)} })
	return p.next.Concepts(ctx, id)
}

func (p concepts) CountConcepts(ctx context.Context) (l []amber.ConceptCount, err error) {
	defer p.watch(&ctx, &err, "count_concepts")(func() size { return size{items: len(l)} })
	return p.next.CountConcepts(ctx)
}

type stats part[amber.StatsReader]

func (p stats) Stats(ctx context.Context) (s amber.Stats, err error) {
	defer p.watch(&ctx, &err, "stats")(none)
	return p.next.Stats(ctx)
}

type changes part[amber.ChangeLog]

func (p changes) Changes(ctx context.Context, after amber.Position, limit int) (l []amber.Change, err error) {
	defer p.watch(&ctx, &err, "changes")(func() size { return size{items: len(l)} })
	return p.next.Changes(ctx, after, limit)
}

func (p changes) ChangesBefore(ctx context.Context, q amber.ChangeQuery) (l []amber.Change, err error) {
	defer p.watch(&ctx, &err, "changes_before")(func() size { return size{items: len(l)} })
	return p.next.ChangesBefore(ctx, q)
}

func (p changes) Head(ctx context.Context) (h amber.Position, err error) {
	defer p.watch(&ctx, &err, "head")(none)
	return p.next.Head(ctx)
}
