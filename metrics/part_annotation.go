package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type relations struct {
	watched
	next amber.Relations
}

var _ amber.Relations = relations{}

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

type concepts struct {
	watched
	next amber.Concepts
}

var _ amber.Concepts = concepts{}

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

type stats struct {
	watched
	next amber.StatsReader
}

var _ amber.StatsReader = stats{}

func (p stats) Stats(ctx context.Context) (s amber.Stats, err error) {
	ctx, end, err := p.begin(ctx, "stats")
	defer func() { end(err, size{}) }()
	return p.next.Stats(ctx)
}

type changes struct {
	watched
	next amber.ChangeLog
}

var _ amber.ChangeLog = changes{}

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
