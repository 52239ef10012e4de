package gitsync

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/digest"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/wire"
)

// step is what one look at the change log brought, cleaned.
type step struct {
	records  []amber.SyncRecord
	withheld []wire.SyncWithheld
	there    []amber.SyncMark // that need not be written
	kept     kept
	next     amber.Position
	done     bool
	store    amber.Outgoing // device, incarnation and time
}

// kept counts text typed to an agent that stays, because the option Prompts does not ask to share it.
type kept struct {
	prompts, digests int
}

// staying are the memories that stay, of all steps of an export: what relates them stays,
// too.
type staying map[amber.MemoryID]bool

// count reports whether the record stays, and counts it if so. A deleted record has no text, and leaves.
func (k *kept) count(s *Sync, stay staying, r amber.SyncRecord) bool {
	if s.o.Prompts || s.o.Format == wire.SyncEngram {
		return false
	}
	switch m := r.Memory; {
	case r.Prompt != nil:
		k.prompts++
	case m != nil && m.Trust == amber.TrustDerived && m.DeletedAt.IsZero() && (m.Kind == amber.SessionSummary || m.Metadata[digestLabel] != ""):
		k.digests++
		stay[m.ID] = true
	case r.Relation != nil:
		return stay[r.Relation.From] || stay[r.Relation.To]
	default:
		return false
	}
	return true
}

// digestLabel is in the metadata of what a digest of a session wrote.
const digestLabel = "digest"

// unquoted returns a session without the summary that its digest wrote, which quotes prompts; other summaries leave. A
// digest summarizes only sessions that the journal has. For a session from elsewhere this store does not know who wrote
// its summary, so the text decides.
func (s *Sync) unquoted(r amber.SyncRecord, journaled map[amber.SessionID]bool) amber.SyncRecord {
	if r.Session == nil || s.o.Prompts || s.o.Format == wire.SyncEngram {
		return r
	}
	if own := r.Session.Trust == ""; own && !journaled[r.Session.ID] || !digest.IsSummary(r.Session.Summary) {
		return r
	}
	n := *r.Session
	n.Summary = ""
	return amber.SyncRecord{Session: &n}
}

// pass is one way through what is new.
type pass struct {
	*cleaner
	known    known                                // versions that are not to be written
	inFolder func(context.Context) (known, error) // nil once it was read; see folderReader
	place    amber.SyncPlace
	stay     staying
}

// begin prepares a pass: where the last export ended, and what is in the
// folder already when this store has never exported to it.
func (s *Sync) begin(ctx context.Context, o ExportOptions) (*pass, error) {
	place, err := s.placeOf(ctx, o)
	if err != nil {
		return nil, err
	}
	p := &pass{
		cleaner: &cleaner{r: s.redact, privateOnly: o.NoRedact, counts: map[string]int{}},
		known:   known{}, inFolder: s.folderReader(), place: place, stay: staying{},
	}
	if place.Position == "" {
		err = p.look(ctx)
	}
	return p, err
}

// folderReader returns what reads the versions in the folder; nil for one of Engram, as its exporter compares rows.
func (s *Sync) folderReader() func(context.Context) (known, error) {
	if s.o.Format == wire.SyncEngram {
		return nil
	}
	return s.inFolder
}

// placeOf returns where the last export ended. When the chunk it wrote is no
// longer in the folder (a branch was dropped, or another one is checked out)
// that is the beginning: what was exported there may be nowhere.
func (s *Sync) placeOf(ctx context.Context, o ExportOptions) (amber.SyncPlace, error) {
	place, err := s.store.SyncPlace(ctx, s.dir, o.Project)
	if err != nil || place.Chunk == "" && !o.Again {
		return place, err
	}
	held, err := s.holds(ctx, place.Chunk)
	if err != nil || held && !o.Again {
		return place, err
	}
	return amber.SyncPlace{}, nil
}

// holds reports whether a chunk is in the folder: as a file, in a pack, or
// rewritten.
func (s *Sync) holds(ctx context.Context, id string) (bool, error) {
	if s.o.Format == wire.SyncEngram {
		_, err := s.fs.Lstat(s.engramPath(id))
		return err == nil, nil
	}
	c, err := chunk.ParseID(id)
	if err != nil {
		return false, nil
	}
	if info, err := s.fs.Lstat(s.path(c)); err == nil && info.Mode().IsRegular() {
		return true, nil
	}
	v, err := s.survey(ctx)
	if err != nil {
		return false, err
	}
	return v.present[c], nil
}

// look reads once what is in the folder.
func (p *pass) look(ctx context.Context) error {
	if p.inFolder == nil {
		return nil
	}
	there, err := p.inFolder(ctx)
	for key := range there {
		p.known[key] = struct{}{}
	}
	p.inFolder = nil
	return err
}

// foreign reports whether records of other devices are to be passed on: the
// folder may have them from elsewhere.
func foreign(out amber.Outgoing) bool {
	for _, r := range out.Records {
		if d := r.Origin().Device; d != "" && d != out.Device {
			return true
		}
	}
	return false
}

// each calls fn with what is new, a step at a time, the last one marked. A
// history that a restore replaced is begun anew.
func (s *Sync) each(ctx context.Context, o ExportOptions, fn func(*pass, step) error) error {
	p, err := s.begin(ctx, o)
	if err != nil {
		return err
	}
	err = s.walk(ctx, o, p, fn)
	if amber.KindOf(err) != amber.KindConflict || p.place.Position == "" {
		return err
	}
	p.place = amber.SyncPlace{Chunk: p.place.Chunk}
	p.inFolder = s.folderReader()
	if err := p.look(ctx); err != nil {
		return err
	}
	return s.walk(ctx, o, p, fn)
}

func (s *Sync) walk(ctx context.Context, o ExportOptions, p *pass, fn func(*pass, step) error) error {
	for after := p.place.Position; ; {
		out, err := s.store.Outgoing(ctx, amber.OutgoingRequest{
			Place: s.dir, Project: o.Project, Since: p.place.Position, After: after, Latest: s.o.Format == wire.SyncEngram,
		})
		if err != nil {
			return err
		}
		if foreign(out) {
			if err := p.look(ctx); err != nil {
				return err
			}
		}
		st := step{next: out.Next, done: out.Done, store: out}
		st.withheld = append(st.withheld, refused(out.Refused)...)
		for _, r := range out.Records {
			if !p.known.add(r) {
				st.there = append(st.there, r.Mark())
				continue
			}
			if st.kept.count(s, p.stay, r) {
				continue
			}
			clean, why := p.clean(s.unquoted(r, out.Journaled))
			if why != "" {
				st.withheld = append(st.withheld, wire.SyncWithheld{Ref: r.Ref(), Reason: why})
				continue
			}
			st.records = append(st.records, clean)
		}
		if err := fn(p, st); err != nil || out.Done {
			return err
		}
		after = out.Next
	}
}

// refused says of each memory once why it does not go where it was erased.
func refused(records []amber.SyncRecord) (out []wire.SyncWithheld) {
	named := map[amber.SyncRef]bool{}
	for _, r := range records {
		if !named[r.Ref()] {
			named[r.Ref()] = true
			out = append(out, wire.SyncWithheld{Ref: r.Ref(), Reason: "the memory was erased in the folder"})
		}
	}
	return out
}
