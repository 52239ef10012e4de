package gitsync

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/wire"
)

// exportEngram writes what is new as chunks that Engram 1.7.0 imports. Rows
// that came from Engram and were not changed are written in the chunks they
// came in, so that those have the same ids; everything else becomes new chunks,
// each with the sessions its rows belong to. Tombstones travel as mutations,
// which later versions read, and so do relations, in chunks of their own.
func (s *Sync) exportEngram(ctx context.Context, o ExportOptions, report *wire.SyncExport) error {
	return s.engramLocked(ctx, func() error {
		e := &engramExporter{s: s, o: o, report: report}
		return e.run(ctx)
	})
}

// refuseInRows makes the rows that an export would write, writes none of them,
// and refuses if a secret had to be taken out.
func (s *Sync) refuseInRows(ctx context.Context, o ExportOptions) error {
	o.NoRedact = false
	var report wire.SyncExport
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
	report  *wire.SyncExport
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
	indexed  *engramIndex
	noted    amber.Position // how far the store knows
	writer   string
	next     map[amber.ChangeScope]int64
	pending  []amber.SyncRecord
	there    []amber.SyncMark // what the folder has
	text     int
	clean    *cleaner
}

// project is the one that the folder belongs to, which Engram calls by its own name.
func (e *engramExporter) project() engram.Project { return engram.Project(e.s.o.Project) }

// run exports everything that is new.
func (e *engramExporter) run(ctx context.Context) error {
	e.prints, e.present = map[string]bool{}, map[string]bool{}
	if err := e.open(ctx); err != nil {
		return err
	}
	return e.s.each(ctx, e.o, func(p *pass, st step) error { return e.step(ctx, p, st) })
}

// open reads the folder. It reads the chunks in it only when this store has never exported to the folder.
func (e *engramExporter) open(ctx context.Context) (err error) {
	if e.folder, err = e.s.readEngram(); err != nil {
		return err
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
	for _, entry := range e.folder.entries() {
		if !e.first {
			e.present[entry.ID] = true
			continue
		}
		if c, _, err := e.s.engramChunk(entry.ID); err == nil {
			e.present[entry.ID] = true
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
	e.noted = cmp.Or(e.noted, p.place.Position)
	e.report.Withheld = append(e.report.Withheld, st.withheld...)
	e.there = append(e.there, st.there...)
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
	isRelation := func(r amber.SyncRecord) bool { return r.Relation != nil }
	var relations []amber.SyncRecord
	for _, r := range e.pending {
		if isRelation(r) {
			relations = append(relations, r)
		}
	}
	e.pending = slices.DeleteFunc(e.pending, isRelation)
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
		} else {
			e.has(g.records...)
		}
	}
	links, key, err := e.write(ctx, rest)
	if err != nil {
		return err
	}
	related, err := e.writeRelations(ctx, relations)
	if err != nil || e.dry {
		return err
	}
	return e.note(ctx, at, key, related, links)
}

// note tells the store what was written. Both chunks count as applied, and the
// position goes on with the second one.
func (e *engramExporter) note(ctx context.Context, at amber.Position, key, related string, links []amber.SyncLink) error {
	note := amber.ExportNote{
		Place: e.s.dir, Project: e.o.Project, Position: at, Chunk: key, CreatedBy: e.o.CreatedBy, Links: links, Marks: e.there,
	}
	e.there = nil
	if key != "" && related != "" {
		note.Position = e.noted
		if err := e.s.store.Exported(ctx, note); err != nil {
			return err
		}
		note.Position, note.Links, note.Marks = at, nil, nil
	}
	if related != "" {
		note.Chunk = related
	}
	e.noted = at
	return e.s.store.Exported(ctx, note)
}

// has notes that the folder has the versions.
func (e *engramExporter) has(records ...amber.SyncRecord) {
	for _, r := range records {
		e.there = append(e.there, r.Mark())
	}
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
			e.has(r)
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

// errNoRow says that a chunk cannot be written as it was.
var errNoRow = errors.New("the row changed during the export")

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

// asItWas makes the row of a link, and reports whether it may be written. It counts the secrets in the row that must
// not leave, since the row that is written instead has no room for fields that the link alone knows.
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
	e.there = append(e.there, b.marks...)
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
	return b.links, engramKey(c.ID, gz), nil
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
	if e.indexed != nil {
		e.indexed.add(c, e.o.CreatedBy)
	}
	return nil
}

func (e *engramExporter) count(c engram.Chunk) {
	r := e.report
	r.IsEmpty = false
	r.ChunkID, r.ChunkIDs = c.ID, append(r.ChunkIDs, c.ID)
	r.Sessions += len(c.Sessions)
	r.Observations += len(c.Observations)
	r.Prompts += len(c.Prompts)
	relations, gone := engram.CountMutations(c)
	r.Relations += relations
	r.Deleted += gone
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
