package gitsync

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/wire"
)

// chunkBuilder makes a chunk of records.
type chunkBuilder struct {
	e        *engramExporter
	chunk    engram.Chunk
	sessions map[string]bool
	rows     []builtRow
	links    []amber.SyncLink
	left     string           // the chunk that has rows of this one, as it was not noted
	marks    []amber.SyncMark // of what the folder has now
}

// builtRow is a row with its record, for the link between them.
type builtRow struct {
	entity engram.Entity
	record amber.SyncRecord
}

func (b *chunkBuilder) empty() bool { return len(b.rows)+len(b.chunk.Mutations) == 0 }

// add takes one record.
func (b *chunkBuilder) add(ctx context.Context, r amber.SyncRecord) error {
	switch {
	case r.Session != nil:
		if !b.e.mayLeave(r) {
			return nil // of another project: rows that belong to it bring one without a word of it
		}
		if row, err := b.e.project().FromRecord(r, nil); err == nil && b.isLeft(row, r) {
			b.has(r)
			return nil
		}
		_, err := b.session(r)
		return err
	case r.Memory != nil && r.Memory.DeletedAt.IsZero():
		return b.text(ctx, r, r.Memory.ProjectID, r.Memory.CreatedAt)
	case r.Prompt != nil:
		return b.text(ctx, r, r.Prompt.ProjectID, r.Prompt.CreatedAt)
	case r.Memory != nil, r.Erased != nil:
		return b.deletion(ctx, r)
	}
	return nil
}

// row makes the row of a record, without what must not leave. Where there is
// none it reports false, and the record is among those that were kept back.
func (b *chunkBuilder) row(r amber.SyncRecord) (row engram.Entity, ok bool, err error) {
	if row, err = b.e.project().FromRecord(r, nil); err == nil {
		row, ok = b.e.clean.row(row)
	}
	if err == nil && r.Memory != nil && len(r.Memory.Foreign) > 0 && (!ok || slices.ContainsFunc(row.Names(), redact.IsMarked)) {
		// What Engram knew about it cannot leave, or two rows that had
		// secrets for names would have the same one.
		bare := *r.Memory
		bare.Foreign = nil
		return b.row(amber.SyncRecord{Memory: &bare})
	}
	switch {
	case amber.KindOf(err) == amber.KindRefused:
		b.e.withhold(r, reasonOf(err))
		return row, false, nil
	case err == nil && !ok:
		b.e.withhold(r, secretName)
	}
	return row, ok, err
}

func (e *engramExporter) withhold(r amber.SyncRecord, reason string) {
	e.report.Withheld = append(e.report.Withheld, wire.SyncWithheld{Ref: r.Ref(), Reason: reason})
}

// has notes that the folder has the version.
func (b *chunkBuilder) has(r amber.SyncRecord) { b.marks = append(b.marks, r.Mark()) }

// session reports whether the chunk has the session.
func (b *chunkBuilder) session(r amber.SyncRecord) (bool, error) {
	row, ok, err := b.row(r)
	if ok && !b.sessions[row.Session.ID] {
		b.has(r)
		b.sessions[row.Session.ID] = true
		b.rows = append(b.rows, builtRow{row, r})
	}
	return ok, err
}

// text takes a memory or a prompt, under the next number of its kind.
func (b *chunkBuilder) text(ctx context.Context, r amber.SyncRecord, project string, at amber.Time) error {
	row, ok, err := b.row(r)
	if !ok {
		return err
	}
	if b.has(r); b.isLeft(row, r) || b.isThere(row, r) {
		return nil
	}
	b.rows = append(b.rows, builtRow{row, r})
	if row.Prompt != nil {
		b.e.next[amber.ChangeTurn]++
		row.Prompt.ID = b.e.next[amber.ChangeTurn]
		return b.parent(ctx, row.Prompt.SessionID, project, at)
	}
	b.e.next[amber.ChangeMemory]++
	row.Observation.ID = b.e.next[amber.ChangeMemory]
	return b.parent(ctx, row.Observation.SessionID, project, at)
}

// isThere reports whether the folder has the row. An edit that leaves title and
// content as they are has the fingerprint of the row it is an edit of.
func (b *chunkBuilder) isThere(row engram.Entity, r amber.SyncRecord) bool {
	if b.e.prints[printOf(row)] {
		return true
	}
	edited := r.Memory != nil && (len(r.Memory.Saw) > 0 || r.Memory.Foreign[engramTool] != nil)
	return !edited && b.e.prints[row.Fingerprint()]
}

// isLeft reports whether the row was written and not noted, and makes up for
// that.
func (b *chunkBuilder) isLeft(row engram.Entity, r amber.SyncRecord) bool {
	left, ok := b.e.left[printOf(row)]
	if ok {
		b.links, b.left = append(b.links, left.link(r)), left.key
	}
	return ok
}

// parent makes sure that the chunk has the session of a row: Engram takes no row without its session. A session that
// may not leave is there by its id alone.
func (b *chunkBuilder) parent(ctx context.Context, id, project string, at amber.Time) error {
	if b.sessions[id] {
		return nil
	}
	found, err := b.e.s.store.SyncRecords(ctx, []amber.SyncRef{{Scope: amber.ChangeSession, ID: id}})
	if err != nil {
		return err
	}
	if found[0].Session != nil && b.e.mayLeave(found[0]) {
		if clean, why := b.e.clean.clean(found[0]); why == "" {
			if ok, err := b.session(clean); ok || err != nil {
				return err
			}
		}
	}
	s := engram.ManualSession(b.e.project().Called(cmp.Or(b.e.o.Project, project)), at)
	s.ID = id
	b.sessions[id] = true
	b.rows = append(b.rows, builtRow{entity: engram.Entity{Session: &s}})
	return nil
}

// deletion tells later versions of Engram that a memory is gone, by every name that a folder of Engram knows it by.
// Rows of version 1.7.0 have none. An erased memory has no link either: if it ever was in this folder as a row of ours,
// its id was the name.
func (b *chunkBuilder) deletion(ctx context.Context, r amber.SyncRecord) error {
	links, err := b.e.s.store.Links(ctx, amber.LinkQuery{Tool: engramTool, Ref: r.Ref()})
	if err != nil {
		return err
	}
	told := map[string]bool{} // by name: whether it may leave
	for _, l := range links {
		if m, ok := engram.Deletion(r, l); ok {
			b.mutation(m, told)
		}
	}
	if r.Erased != nil && b.e.told {
		b.mutation(engram.Erasure(*r.Erased), told)
	}
	leaves := slices.Contains(slices.Collect(maps.Values(told)), true)
	if leaves {
		b.has(r)
	} else if len(told) > 0 {
		b.e.withhold(r, secretName)
	}
	return nil
}

// mutation adds a mutation if it may leave and the chunk has none for its row yet.
func (b *chunkBuilder) mutation(m engram.Mutation, told map[string]bool) {
	if _, done := told[m.EntityKey]; done {
		return
	}
	told[m.EntityKey] = b.e.clean.apart().verbatim(m.JSON())
	if told[m.EntityKey] {
		m.Seq = int64(len(b.chunk.Mutations) + 1)
		b.chunk.Mutations = append(b.chunk.Mutations, m)
	}
}

// finish puts the rows in order and finds an id that is free.
func (b *chunkBuilder) finish() (engram.Chunk, []byte) {
	slices.SortStableFunc(b.rows, func(x, y builtRow) int { return compareRows(x.entity, y.entity) })
	for try := 0; ; try++ {
		c := engram.Chunk{Mutations: b.chunk.Mutations}
		for _, row := range b.rows {
			c.Add(row.entity)
		}
		id, _, gz := engram.EncodeChunk(c)
		if b.e.free(id, gz) {
			c.ID = id
			b.link(id)
			return c, gz
		}
		b.renumber()
	}
}

// renumber gives every row the next number, so that the chunk gets another id.
func (b *chunkBuilder) renumber() {
	for _, row := range b.rows {
		switch {
		case row.entity.Observation != nil:
			row.entity.Observation.ID++
		case row.entity.Prompt != nil:
			row.entity.Prompt.ID++
		case row.entity.Session != nil && len(b.rows) == len(b.sessions):
			row.entity.Session.Directory += "/" // nothing else in it is ours to change
		}
	}
	b.e.next[amber.ChangeMemory]++
	b.e.next[amber.ChangeTurn]++
}

func (b *chunkBuilder) link(id string) {
	for i, row := range b.rows {
		if row.record == (amber.SyncRecord{}) {
			continue
		}
		l := engram.LinkOf(row.entity, row.record)
		l.Chunk, l.Ordinal = id, i
		b.links = append(b.links, l)
	}
}

// compareRows orders sessions by their beginning, then observations and
// prompts by number.
func compareRows(a, b engram.Entity) int {
	kind := func(e engram.Entity) int {
		switch {
		case e.Session != nil:
			return 0
		case e.Observation != nil:
			return 1
		}
		return 2
	}
	if d := kind(a) - kind(b); d != 0 {
		return d
	}
	switch {
	case a.Session != nil:
		return cmp.Or(cmp.Compare(a.Session.StartedAt, b.Session.StartedAt), cmp.Compare(a.Session.ID, b.Session.ID))
	case a.Observation != nil:
		return cmp.Compare(a.Observation.ID, b.Observation.ID)
	}
	return cmp.Compare(a.Prompt.ID, b.Prompt.ID)
}
