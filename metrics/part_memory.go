package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type longTerm struct {
	watched
	next amber.LongTerm
}

var _ amber.LongTerm = longTerm{}

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

type memories struct {
	watched
	next amber.MemoryReader
}

var _ amber.MemoryReader = memories{}

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

type batch struct {
	watched
	next amber.BatchWriter
}

var _ amber.BatchWriter = batch{}

func (p batch) WriteBatch(ctx context.Context, rs []amber.WriteRequest) (acks []amber.WriteAck, err error) {
	ctx, end, err := p.begin(ctx, "write_batch")
	defer func() { end(err, size{in: requestBytes(rs...), items: len(rs)}) }()
	return p.next.WriteBatch(ctx, rs)
}

type editor struct {
	watched
	next amber.Editor
}

var _ amber.Editor = editor{}

func (p editor) Edit(ctx context.Context, r amber.EditRequest) (m amber.Memory, err error) {
	ctx, end, err := p.begin(ctx, "edit")
	defer func() { end(err, size{in: editBytes(r), items: 1}) }()
	return p.next.Edit(ctx, r)
}

type eraser struct {
	watched
	next amber.Eraser
}

var _ amber.Eraser = eraser{}

func (p eraser) Erase(ctx context.Context, id amber.MemoryID) (r amber.EraseReport, err error) {
	ctx, end, err := p.begin(ctx, "erase")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Erase(ctx, id)
}
