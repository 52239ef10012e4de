package gitsync

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
)

// Why a relation stays.
const noRow = "one of its memories has no row with a name in this folder"

// writeRelations tells later versions of Engram about relations, in a chunk of
// their own: Engram applies a chunk whole or not at all, and refuses one with a
// relation to a row that it does not have. Key is that of the chunk, "" when
// there was nothing to write.
func (e *engramExporter) writeRelations(ctx context.Context, records []amber.SyncRecord) (key string, err error) {
	var c engram.Chunk
	for _, r := range records {
		m, ok, err := e.relation(ctx, *r.Relation)
		if err != nil {
			return "", err
		}
		if ok {
			c.Mutations = append(c.Mutations, m)
		}
	}
	if len(c.Mutations) == 0 {
		return "", nil
	}
	gz := e.number(&c)
	if err := e.put(c, gz); err != nil {
		return "", err
	}
	e.count(c)
	return engramKey(c.ID, gz), nil
}

// number gives the mutations numbers with which the chunk has an id that is
// free.
func (e *engramExporter) number(c *engram.Chunk) []byte {
	for try := int64(0); ; try++ {
		for i := range c.Mutations {
			c.Mutations[i].Seq = int64(i) + 1 + try
		}
		id, _, gz := engram.EncodeChunk(*c)
		if e.free(id, gz) {
			c.ID = id
			return gz
		}
	}
}

// relation makes the mutation of a relation. There is none for what the folder
// has already, nor for one that the folder must not have.
func (e *engramExporter) relation(ctx context.Context, r amber.Relation) (m engram.Mutation, ok bool, err error) {
	x, err := e.index(ctx)
	if err != nil {
		return m, false, err
	}
	ends := engram.RelationEnds{}
	if was, there := x.relations[engram.RelationID(r.ID)]; there {
		if !r.Origin.After(was.Origin) || r.Origin.Device == engramTool && r.Origin.Clock == was.Origin.Clock {
			e.has(amber.SyncRecord{Relation: &r})
			return m, false, nil
		}
		ends.Key, ends.Before = was.Key, &was
	} else if !r.DeletedAt.IsZero() {
		return m, false, nil // no reader of this folder knows of it
	}
	ends.Source, ends.Target, ends.Project, ok, err = e.ends(ctx, x, r)
	if err != nil || !ok {
		return m, false, err
	}
	m = engram.Relation(r, ends)
	if ok = e.clean.apart().verbatim(m.JSON()); ok {
		e.has(amber.SyncRecord{Relation: &r})
	} else {
		e.withhold(amber.SyncRecord{Relation: &r}, secretName)
	}
	return m, ok, nil
}

// ends returns the names of the rows that a relation is about. A relation of a memory that was deleted is not exported.
func (e *engramExporter) ends(ctx context.Context, x *engramIndex, r amber.Relation) (source, target, project string, ok bool, err error) {
	refs := []amber.SyncRef{{Scope: amber.ChangeMemory, ID: string(r.From)}, {Scope: amber.ChangeMemory, ID: string(r.To)}}
	now, err := e.s.store.SyncRecords(ctx, refs)
	if err != nil {
		return "", "", "", false, err
	}
	names := make([]string, len(refs))
	for i, ref := range refs {
		if m := now[i].Memory; m == nil || !m.DeletedAt.IsZero() {
			return "", "", "", false, nil
		}
		links, err := e.s.store.Links(ctx, amber.LinkQuery{Tool: engramTool, Ref: ref})
		if err != nil {
			return "", "", "", false, err
		}
		if names[i], ok = x.nameOf(amber.MemoryID(ref.ID), links); !ok {
			e.withhold(amber.SyncRecord{Relation: &r}, noRow)
			return "", "", "", false, nil
		}
	}
	return names[0], names[1], e.project().Called(now[0].Memory.ProjectID), true, nil
}
