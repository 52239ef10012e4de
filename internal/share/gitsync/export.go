package gitsync

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/wire"
)

// ExportOptions say what is exported. The zero value exports every project.
type ExportOptions struct {
	CreatedBy string // a person or machine; default "unknown"
	Project   string // records of this project alone; "" means every project
	// RefuseSecrets exports nothing at all when a secret would have to be
	// taken out.
	RefuseSecrets bool
	// Again exports everything that the folder does not hold, whatever was
	// exported before.
	Again bool
	// NoRedact leaves secrets in. Private passages are still taken out.
	NoRedact bool
}

// How much becomes one chunk. Text is counted before compression; a single
// record may be larger.
const (
	chunkText    = 2 << 20
	chunkRecords = 5000
)

// Export writes what is new since the last export to this folder and project. When it returns, what it wrote is
// durable, and noted in the store. After an error part of it may be, and the rest follows at the next export. When
// nothing is new, Export writes nothing. Errors: invalid; refused for a folder that cannot be written, and with
// RefuseSecrets; busy when ctx ends while another process exports to the folder; those of the store.
func (s *Sync) Export(ctx context.Context, o ExportOptions) (report wire.SyncExport, err error) {
	o.CreatedBy = cmp.Or(o.CreatedBy, "unknown")
	if err := errors.Join(amber.CheckID("created-by", o.CreatedBy), checkProject(o.Project)); err != nil {
		return report, err
	}
	report = wire.SyncExport{Dir: s.dir, IsEmpty: true}
	refuse, export := s.refuseSecrets, s.exportNative
	if s.o.Format == wire.SyncEngram {
		refuse, export = s.refuseInRows, s.exportEngram
	}
	if o.RefuseSecrets {
		if err := refuse(ctx, o); err != nil {
			return report, err
		}
	}
	empty, err := s.nothingNew(ctx, o, &report)
	if err != nil || empty {
		return report, err
	}
	err = export(ctx, o, &report)
	return report, err
}

// exportNative writes what is new as chunks of Amber's own.
func (s *Sync) exportNative(ctx context.Context, o ExportOptions, report *wire.SyncExport) error {
	return s.writing(ctx, func() error {
		e := &exporter{s: s, o: o, report: report}
		return s.each(ctx, o, func(p *pass, st step) error { return e.step(ctx, p, st) })
	})
}

func checkProject(p string) error {
	if p == "" {
		return nil
	}
	return amber.CheckID("project id", p)
}

// nothingNew looks for the first record, so that an export without work makes
// no folder and takes no lock. Where there is none it notes how far it looked.
func (s *Sync) nothingNew(ctx context.Context, o ExportOptions, report *wire.SyncExport) (bool, error) {
	place, err := s.placeOf(ctx, o)
	if err != nil {
		return false, err
	}
	var kept kept
	stay := staying{}
	leaves := func(r amber.SyncRecord) bool { return !kept.count(s, stay, r) }
	for after := place.Position; ; {
		out, err := s.store.Outgoing(ctx, amber.OutgoingRequest{Place: s.dir, Project: o.Project, Since: place.Position, After: after})
		switch {
		case amber.KindOf(err) == amber.KindConflict:
			return false, nil // everything is looked at anew
		case err != nil || slices.ContainsFunc(out.Records, leaves) || len(out.Refused) > 0:
			return false, err
		case out.Done && out.Next == place.Position:
			return true, nil
		case out.Done:
			report.PromptsKept, report.DigestsKept = kept.prompts, kept.digests
			return true, s.store.Exported(ctx, amber.ExportNote{Place: s.dir, Project: o.Project, Position: out.Next})
		}
		after = out.Next
	}
}

// refuseSecrets walks through what is new and refuses if a rule finds
// anything.
func (s *Sync) refuseSecrets(ctx context.Context, o ExportOptions) error {
	o.NoRedact = false
	var found map[string]int
	var withheld []wire.SyncWithheld
	err := s.each(ctx, o, func(p *pass, st step) error {
		found, withheld = p.counts, append(withheld, st.withheld...)
		return nil
	})
	if err != nil {
		return err
	}
	return refusal(s.dir, found, withheld)
}

// exporter gathers records into chunks.
type exporter struct {
	s       *Sync
	o       ExportOptions
	report  *wire.SyncExport
	noted   amber.Position // how far the store knows
	pending []amber.SyncRecord
	there   []amber.SyncMark // that the folder has
	text    int
}

// step takes what one step brought. Chunks end where a step does, so that the
// position that is noted is true.
func (e *exporter) step(ctx context.Context, p *pass, st step) error {
	e.report.Withheld = append(e.report.Withheld, st.withheld...)
	e.report.PromptsKept += st.kept.prompts
	e.report.DigestsKept += st.kept.digests
	e.noted = cmp.Or(e.noted, p.place.Position)
	e.there = append(e.there, st.there...)
	for _, r := range st.records {
		size, err := sizeOf(r)
		if err != nil {
			return err
		}
		if len(e.pending) > 0 && (e.text+size > chunkText || len(e.pending) == chunkRecords) {
			// The rest of this step is not written yet: the position stays.
			if err := e.flush(ctx, p, st, e.noted); err != nil {
				return err
			}
		}
		e.pending, e.text = append(e.pending, r), e.text+size
	}
	if !st.done && e.text < chunkText/2 {
		return nil
	}
	if len(p.counts) > 0 {
		e.report.Redacted = p.counts
	}
	return e.flush(ctx, p, st, st.next)
}

func sizeOf(r amber.SyncRecord) (int, error) {
	b, err := json.Marshal(r)
	return len(b), err
}

// flush writes what is pending as a chunk and notes how far the export got.
func (e *exporter) flush(ctx context.Context, p *pass, st step, at amber.Position) error {
	note := amber.ExportNote{Place: e.s.dir, Project: e.o.Project, Position: at, CreatedBy: e.o.CreatedBy, Marks: e.there}
	for _, r := range e.pending {
		note.Marks = append(note.Marks, r.Mark())
	}
	if len(e.pending) > 0 {
		id, err := e.write(ctx, p, st)
		if err != nil {
			return err
		}
		note.Chunk, p.place.Chunk = string(id), string(id)
		e.count(id)
	}
	e.pending, e.there, e.text, e.noted = nil, nil, 0, at
	return e.s.store.Exported(ctx, note)
}

// write makes the chunk durable.
func (e *exporter) write(ctx context.Context, p *pass, st step) (chunk.ID, error) {
	h := chunk.Header{
		Device: st.store.Device, Incarnation: st.store.Incarnation, CreatedBy: e.o.CreatedBy, CreatedAt: st.store.At, Project: e.o.Project,
	}
	if last, err := chunk.ParseID(p.place.Chunk); err == nil {
		h.Parents = []chunk.ID{last}
	}
	slices.SortStableFunc(e.pending, func(a, b amber.SyncRecord) int { return rank(a) - rank(b) })
	id, b, err := chunk.Encode(ctx, h, e.pending, e.s.o.Signer)
	if err != nil {
		return "", err
	}
	return id, e.s.put(id, b)
}

// rank puts sessions first and relations last, as readers of a chunk expect.
func rank(r amber.SyncRecord) int {
	switch {
	case r.Session != nil:
		return 0
	case r.Relation != nil:
		return 2
	}
	return 1
}

// put writes a chunk file. A file that is there already has the same bytes, or is damaged: then put replaces it with
// the right ones.
func (s *Sync) put(id chunk.ID, b []byte) error {
	path := s.path(id)
	err := fsx.CreateSame(s.fs, path, 0o644, b)
	if errors.Is(err, fsx.ErrDiffers) {
		err = fsx.Replace(s.fs, path, 0o644, b)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = amber.Errorf(amber.KindConflict, "write chunk", string(id), "the folder was removed during the export")
	}
	return fail("write chunk", string(id), err)
}

// count adds what is pending to the report.
func (e *exporter) count(id chunk.ID) {
	r := e.report
	r.IsEmpty, r.Signed = false, e.s.o.Signer != nil
	r.ChunkID, r.ChunkIDs = string(id), append(r.ChunkIDs, string(id))
	for _, rec := range e.pending {
		switch {
		case rec.Erased != nil, rec.Gone != nil,
			rec.Memory != nil && !rec.Memory.DeletedAt.IsZero(),
			rec.Relation != nil && !rec.Relation.DeletedAt.IsZero():
			r.Deleted++
		case rec.Session != nil:
			r.Sessions++
		case rec.Memory != nil:
			r.Observations++
		case rec.Prompt != nil:
			r.Prompts++
		case rec.Relation != nil:
			r.Relations++
		}
	}
}
