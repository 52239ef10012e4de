package gitsync

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/gitsync/engram"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/redact"
)

// exportEngram writes what is new as chunks that Engram 1.7.0 imports. Rows
// that came from Engram and were not changed are written in the chunks they
// came in, so that those have the same ids; everything else becomes new chunks,
// each with the sessions its rows belong to. Tombstones travel as mutations,
// which later versions read; relations do not travel.
func (s *Sync) exportEngram(ctx context.Context, o ExportOptions) (report amber.SyncExport, err error) {
	report = amber.SyncExport{Dir: s.dir, IsEmpty: true}
	if o.RefuseSecrets {
		if err := s.refuseInRows(ctx, o); err != nil {
			return report, err
		}
	}
	empty, err := s.nothingNew(ctx, o)
	if err != nil || empty {
		return report, err
	}
	err = s.engramLocked(ctx, func() error {
		e := &engramExporter{s: s, o: o, report: &report}
		return e.run(ctx)
	})
	return report, err
}

// refuseInRows makes the rows that an export would write, writes none of them,
// and refuses if a secret had to be taken out.
func (s *Sync) refuseInRows(ctx context.Context, o ExportOptions) error {
	o.NoRedact = false
	var report amber.SyncExport
	e := &engramExporter{s: s, o: o, report: &report, dry: true}
	if err := e.run(ctx); err != nil {
		return err
	}
	return refusal(s.dir, report.Redacted, report.Withheld)
}

// engramExporter gathers rows into chunks.
type engramExporter struct {
	s       *Sync
	o       ExportOptions
	report  *amber.SyncExport
	dry     bool // nothing is written, nor noted
	folder  *engramFolder
	present map[string]bool // chunks in the folder
	first   bool            // this store has never exported to the folder, or what it wrote is gone
	told    bool            // it has exported to the folder at some time
	// On the first export: fingerprints of rows in the folder, and those with
	// the version of rows that tell it.
	prints map[string]bool
	left   map[string]leftRow // rows that were written and not noted

	marks    []mark // of chunks whose rows are left
	isMarked bool   // the file was written
	writer   string
	next     map[amber.ChangeScope]int64
	pending  []amber.SyncRecord
	text     int
	clean    *cleaner
}

// run exports everything that is new.
func (e *engramExporter) run(ctx context.Context) error {
	e.prints, e.present = map[string]bool{}, map[string]bool{}
	if err := e.open(ctx); err != nil {
		return err
	}
	nothing := func(context.Context) (known, error) { return known{}, nil }
	return e.s.each(ctx, e.o, true, nothing, func(p *pass, st step) error { return e.step(ctx, p, st) })
}

// open reads the folder. What it has is read only when this store has never
// exported to it.
func (e *engramExporter) open(ctx context.Context) (err error) {
	if e.folder, err = e.s.readEngram(); err != nil {
		return err
	}
	ids := slices.Clone(e.folder.strays)
	for _, entry := range e.folder.manifest.Chunks {
		ids = append(ids, entry.ID)
	}
	place, err := e.s.placeOf(ctx, e.o)
	if err != nil {
		return err
	}
	before, err := e.s.store.SyncPlace(ctx, e.s.dir, e.o.Project)
	if err != nil {
		return err
	}
	e.first, e.told = place.Position == "", before.Position != ""
	for _, id := range ids {
		if !e.first {
			e.present[id] = true
			continue
		}
		if c, _, err := e.s.engramChunk(id); err == nil {
			e.present[id] = true
			e.remember(c)
		}
	}
	e.next = map[amber.ChangeScope]int64{}
	for _, scope := range []amber.ChangeScope{amber.ChangeMemory, amber.ChangeTurn} {
		if e.next[scope], err = e.s.store.LastLocalID(ctx, engramTool, scope); err != nil {
			return err
		}
	}
	return e.openMarks()
}

// remember notes the rows of a chunk as being in the folder.
func (e *engramExporter) remember(c engram.Chunk) {
	for _, row := range rowsOf(c) {
		e.prints[row.Fingerprint()], e.prints[printOf(row)] = true, true
	}
}

func (e *engramExporter) step(ctx context.Context, p *pass, st step) error {
	e.clean, e.writer = p.cleaner, writerOf(st.store.Device, e.o.Project)
	e.report.Withheld = append(e.report.Withheld, st.withheld...)
	for _, r := range st.records {
		size, err := sizeOf(r)
		if err != nil {
			return err
		}
		e.pending, e.text = append(e.pending, r), e.text+size
	}
	if !st.done && e.text < chunkText {
		return nil
	}
	err := e.flush(ctx, st.next)
	if err == nil && st.done && !e.dry {
		err = e.unmark()
	}
	if len(p.counts) > 0 {
		e.report.Redacted = p.counts
	}
	return err
}

// flush writes what is pending: chunks as they were first, the rest as a new
// one.
func (e *engramExporter) flush(ctx context.Context, at amber.Position) error {
	rest, groups, err := e.sort(ctx)
	if err != nil {
		return err
	}
	e.pending, e.text = nil, 0
	for _, g := range groups {
		if err := e.again(ctx, g); errors.Is(err, errNoRow) {
			rest = append(rest, g.records...)
		} else if err != nil {
			return err
		}
	}
	links, key, err := e.write(ctx, rest)
	if err != nil || e.dry {
		return err
	}
	return e.s.store.Exported(ctx, amber.ExportNote{
		Place: e.s.dir, Project: e.o.Project, Position: at, Chunk: key, CreatedBy: e.o.CreatedBy, Links: links,
	})
}

// group are records that came in one chunk of Engram.
type group struct {
	chunk   string
	records []amber.SyncRecord
}

// sort leaves out what the folder has, and parts the rest.
func (e *engramExporter) sort(ctx context.Context) (rest []amber.SyncRecord, groups []*group, err error) {
	byChunk := map[string]*group{}
	for _, r := range e.pending {
		links, err := e.s.store.Links(ctx, amber.LinkQuery{Tool: engramTool, Ref: r.Ref()})
		if err != nil {
			return nil, nil, err
		}
		chunk, there := e.place(r, links)
		switch g := byChunk[chunk]; {
		case there:
		case chunk == "":
			rest = append(rest, r)
		case g != nil:
			g.records = append(g.records, r)
		default:
			byChunk[chunk] = &group{chunk, []amber.SyncRecord{r}}
			groups = append(groups, byChunk[chunk])
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return cmp.Compare(a.records[0].Ref().ID, b.records[0].Ref().ID) })
	return rest, groups, nil
}

// place says in which chunk of Engram the record is as it is now, "" for none,
// and whether the folder has that chunk.
func (e *engramExporter) place(r amber.SyncRecord, links []amber.SyncLink) (chunk string, there bool) {
	for _, l := range links {
		if l.Version != r.Origin() || !engram.ValidID(l.Chunk) {
			continue
		}
		if chunk = l.Chunk; e.present[chunk] && (!e.first || e.prints[l.Fingerprint]) {
			return chunk, true
		}
	}
	return chunk, false
}

// again writes a chunk as it was. It must have the id it had: any row that is
// not the same, may not leave or is not there any more is an end to it.
func (e *engramExporter) again(ctx context.Context, g *group) error {
	links, err := e.s.store.Links(ctx, amber.LinkQuery{Tool: engramTool, Chunk: g.chunk})
	if err != nil {
		return err
	}
	refs := make([]amber.SyncRef, len(links))
	for i, l := range links {
		refs[i] = l.Ref
	}
	records, err := e.s.store.SyncRecords(ctx, refs)
	if err != nil {
		return err
	}
	var c engram.Chunk
	same := true
	for i, r := range records {
		row, ok := e.asItWas(r, links[i])
		c.Add(row)
		same = same && ok
	}
	id, _, gz := engram.EncodeChunk(c)
	if !same || id != g.chunk {
		return errNoRow
	}
	c.ID = id
	if err := e.put(c, gz); err != nil {
		return err
	}
	e.count(c)
	return nil
}

// asItWas makes the row of a link, and reports whether it may be written. What
// must not leave of it is counted: the row that is written instead has no room
// for fields that the link alone knows.
func (e *engramExporter) asItWas(r amber.SyncRecord, l amber.SyncLink) (row engram.Entity, ok bool) {
	if r.Origin() != l.Version || !e.mayLeave(r) {
		return row, false
	}
	clean, why := e.clean.apart().clean(r)
	if why != "" {
		return row, false
	}
	row, err := engram.FromRecord(clean, &l)
	if err != nil {
		return row, false
	}
	judge := e.clean.apart()
	ok = judge.verbatim(row.JSON())
	e.clean.atLeast(judge.counts)
	return row, ok
}

// mayLeave is what Outgoing asks of records, for those that are asked for by
// name.
func (e *engramExporter) mayLeave(r amber.SyncRecord) bool {
	switch {
	case r.Memory != nil:
		return r.Memory.Scope != amber.ScopeUser && r.Memory.DeletedAt.IsZero() && (e.o.Project == "" || r.Memory.ProjectID == e.o.Project)
	case r.Session != nil:
		return e.o.Project == "" || r.Session.Project == e.o.Project
	case r.Prompt != nil:
		return e.o.Project == "" || r.Prompt.ProjectID == e.o.Project
	}
	return false
}

// write puts records into a new chunk, with the sessions they belong to.
func (e *engramExporter) write(ctx context.Context, records []amber.SyncRecord) (links []amber.SyncLink, key string, err error) {
	b := &chunkBuilder{e: e, sessions: map[string]bool{}}
	for _, r := range records {
		if err := b.add(ctx, r); err != nil {
			return nil, "", err
		}
	}
	if b.empty() {
		return b.links, b.left, nil
	}
	c, gz := b.finish()
	if err := e.marking(c.ID); err != nil {
		return nil, "", err
	}
	if err := e.put(c, gz); err != nil {
		return nil, "", err
	}
	e.count(c)
	sum := sha256.Sum256(gz)
	return b.links, engramKey(c.ID, hex.EncodeToString(sum[:])), nil
}

// put makes a chunk durable, then the manifest that names it.
func (e *engramExporter) put(c engram.Chunk, gz []byte) error {
	if e.present[c.ID] = true; e.dry {
		return nil
	}
	path := filepath.Join(e.s.chunks(), engram.FileName(c.ID))
	if err := fsx.CreateSame(e.s.fs, path, 0o644, gz); err != nil {
		return fail("write chunk", c.ID, err)
	}
	next, _ := e.s.rebuilt(e.folder)
	if !e.folder.lists(c.ID) {
		next.Chunks = append(slices.Clone(next.Chunks), c.Entry(e.o.CreatedBy))
	}
	if _, err := e.s.putManifest(e.folder, next); err != nil {
		return err
	}
	e.folder.manifest, e.folder.broken, e.folder.strays = next, nil, nil
	return nil
}

func (e *engramExporter) count(c engram.Chunk) {
	r := e.report
	r.IsEmpty = false
	r.ChunkID, r.ChunkIDs = c.ID, append(r.ChunkIDs, c.ID)
	r.Sessions += len(c.Sessions)
	r.Observations += len(c.Observations)
	r.Prompts += len(c.Prompts)
	r.Deleted += len(c.Mutations)
}

// free reports whether no other chunk has the id: 32 bits collide.
func (e *engramExporter) free(id string, gz []byte) bool {
	if !e.present[id] {
		_, err := e.s.fs.Lstat(filepath.Join(e.s.chunks(), engram.FileName(id)))
		if err != nil {
			return true
		}
	}
	b, _, err := e.s.engramBytes(id)
	return err == nil && bytes.Equal(b, gz)
}

// chunkBuilder makes a chunk of records.
type chunkBuilder struct {
	e        *engramExporter
	chunk    engram.Chunk
	sessions map[string]bool
	rows     []builtRow
	links    []amber.SyncLink
	left     string // the chunk that has rows of this one, as it was not noted
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
		if row, err := engram.FromRecord(r, nil); err == nil && b.isLeft(row, r) {
			return nil
		}
		_, err := b.session(r)
		return err
	case r.Memory != nil && r.Memory.DeletedAt.IsZero():
		return b.observation(ctx, r)
	case r.Prompt != nil:
		return b.prompt(ctx, r)
	case r.Memory != nil, r.Erased != nil:
		return b.deletion(ctx, r)
	}
	return nil
}

// row makes the row of a record, without what must not leave. Where there is
// none it reports false, and the record is among those that were kept back.
func (b *chunkBuilder) row(r amber.SyncRecord) (row engram.Entity, ok bool, err error) {
	if row, err = engram.FromRecord(r, nil); err == nil {
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
		b.withhold(r, reasonOf(err))
		return row, false, nil
	case err == nil && !ok:
		b.withhold(r, secretName)
	}
	return row, ok, err
}

func (b *chunkBuilder) withhold(r amber.SyncRecord, reason string) {
	b.e.report.Withheld = append(b.e.report.Withheld, amber.SyncWithheld{Ref: r.Ref(), Reason: reason})
}

// session reports whether the chunk has the session.
func (b *chunkBuilder) session(r amber.SyncRecord) (bool, error) {
	row, ok, err := b.row(r)
	if ok && !b.sessions[row.Session.ID] {
		b.sessions[row.Session.ID] = true
		b.rows = append(b.rows, builtRow{row, r})
	}
	return ok, err
}

func (b *chunkBuilder) observation(ctx context.Context, r amber.SyncRecord) error {
	row, ok, err := b.row(r)
	if !ok || b.isLeft(row, r) || b.isThere(row, r) {
		return err
	}
	b.e.next[amber.ChangeMemory]++
	row.Observation.ID = b.e.next[amber.ChangeMemory]
	b.rows = append(b.rows, builtRow{row, r})
	return b.parent(ctx, row.Observation.SessionID, r.Memory.ProjectID, r.Memory.CreatedAt)
}

func (b *chunkBuilder) prompt(ctx context.Context, r amber.SyncRecord) error {
	row, ok, err := b.row(r)
	if !ok || b.isLeft(row, r) || b.isThere(row, r) {
		return err
	}
	b.e.next[amber.ChangeTurn]++
	row.Prompt.ID = b.e.next[amber.ChangeTurn]
	b.rows = append(b.rows, builtRow{row, r})
	return b.parent(ctx, row.Prompt.SessionID, r.Prompt.ProjectID, r.Prompt.CreatedAt)
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

// parent makes sure that the chunk has the session of a row: Engram takes no
// row without. One that may not leave is there by its id alone.
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
	s := engram.ManualSession(cmpOr(b.e.o.Project, project), at)
	s.ID = id
	b.sessions[id] = true
	b.rows = append(b.rows, builtRow{entity: engram.Entity{Session: &s}})
	return nil
}

// deletion tells later versions of Engram that a memory is gone, by every name
// that a folder of Engram knows it by. Rows of version 1.7.0 have none. Of what
// was erased there is no link either: if it ever was in this folder as a row of
// ours, its id was the name.
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
	if len(told) > 0 && !slices.Contains(slices.Collect(maps.Values(told)), true) {
		b.withhold(r, secretName)
	}
	return nil
}

// mutation adds a mutation if it may leave and its row is not told of yet.
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
