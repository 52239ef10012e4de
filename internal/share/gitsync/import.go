package gitsync

import (
	"context"
	"path"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/wire"
)

// Import applies every chunk of the folder that was not applied before, each in one
// transaction. A chunk that cannot be used goes to quarantine with the reason, and is
// tried again at the next import; the others are applied. Errors: refused for a
// folder of Engram when signatures are required; those of the disk and the store,
// with what was done so far in the report.
func (s *Sync) Import(ctx context.Context) (wire.SyncImport, error) {
	return s.ImportOnly(ctx, nil)
}

// ImportOnly is [Sync.Import] for the files that the function only returns true for.
// It gets paths relative to the folder, with slashes. Nil means all files.
func (s *Sync) ImportOnly(ctx context.Context, only func(file string) bool) (wire.SyncImport, error) {
	report := wire.SyncImport{Quarantined: []amber.QuarantinedChunk{}, Dir: s.dir}
	if s.o.Format == wire.SyncEngram {
		if s.o.RequireSigned {
			return report, s.noSignatures()
		}
		return report, s.importEngram(ctx, only, &report)
	}
	i := &importer{s: s, report: &report, bad: map[string]error{}, present: map[chunk.ID]bool{}, wanted: map[chunk.ID]bool{}}
	// A chunk may be refused for something that it takes for granted, such as a counter that another chunk explains.
	// And another process may compact the folder meanwhile. As long as some chunk goes in, try again.
	for again, tries := true, 0; again && tries < maxTries; tries++ {
		files, err := s.list()
		if err != nil {
			return report, err
		}
		if only != nil {
			files = filter(files, func(f file) bool { return only(path.Join(chunksDir, f.name)) })
		}
		before := report.Chunks
		clear(i.bad)
		i.unexplained, i.vanished, i.reopened = false, false, false
		if err := i.all(ctx, files); err != nil {
			return report, err
		}
		i.repeated = true
		again = i.vanished || i.reopened || report.Chunks > before && i.unexplained
	}
	return report, i.finish(ctx, only == nil)
}

// noSignatures refuses a folder of Engram where signatures are required.
func (s *Sync) noSignatures() error {
	return amber.Errorf(amber.KindRefused, "import", s.dir, "signatures are required, and the format of Engram has none").
		WithHint("ask the others to run amber sync export, which signs what it writes")
}

func filter[T any](all []T, keep func(T) bool) (out []T) {
	for _, v := range all {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

// importer is one import on its way.
type importer struct {
	s       *Sync
	report  *wire.SyncImport
	order   []string
	bad     map[string]error // by chunk
	present map[chunk.ID]bool
	wanted  map[chunk.ID]bool // by chunks that were read
	// unexplained is set when the store did not take a chunk for what it
	// takes for granted.
	unexplained bool
	vanished    bool // a file that was listed is gone
	reopened    bool // chunks that were applied before have more to bring
	repeated    bool // the folder is read once more
}

// maxTries bounds how often a folder that changes is read anew.
const maxTries = 100

// lookups is how many chunks are asked for at a time.
const lookups = 500

func (i *importer) all(ctx context.Context, files []file) error {
	for len(files) > 0 {
		n := min(len(files), lookups)
		ids := make([]string, 0, n)
		for _, f := range files[:n] {
			ids = append(ids, string(f.id))
		}
		applied, err := i.s.store.AppliedChunks(ctx, i.s.dir, ids)
		if err != nil {
			return err
		}
		for _, f := range files[:n] {
			if err := i.file(ctx, f, applied[string(f.id)]); err != nil {
				return err
			}
		}
		files = files[n:]
	}
	return nil
}

// file imports one file unless it was applied before.
func (i *importer) file(ctx context.Context, f file, applied bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.bad == nil {
		i.present[f.id] = true
	}
	if applied {
		i.skip()
		return nil
	}
	parts, err := i.s.parts(f)
	if amber.KindOf(err) == amber.KindNotFound {
		i.vanished = true // its chunks are in a pack now
		return nil
	}
	if err != nil {
		return i.verdict(f.label(), err)
	}
	if len(parts) == 1 && parts[0].ID == f.id {
		return i.part(ctx, parts[0])
	}
	return i.pack(ctx, f, parts)
}

// skip counts a chunk that was applied before; what this import has applied
// itself does not count.
func (i *importer) skip() {
	if !i.repeated {
		i.report.Skipped++
	}
}

// pack imports the chunks of a pack, and notes the pack when all of them are
// in.
func (i *importer) pack(ctx context.Context, f file, parts []chunk.Part) error {
	ids := make([]string, len(parts))
	for n, p := range parts {
		ids[n] = string(p.ID)
		i.present[p.ID] = true
	}
	applied, err := i.s.store.AppliedChunks(ctx, i.s.dir, ids)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if applied[string(p.ID)] {
			i.skip()
			continue
		}
		if err := i.part(ctx, p); err != nil {
			return err
		}
	}
	if applied, err = i.s.store.AppliedChunks(ctx, i.s.dir, ids); err != nil || len(applied) < len(ids) {
		return err
	}
	_, err = i.s.store.Apply(ctx, amber.Incoming{Place: i.s.dir, Chunk: string(f.id), Trust: amber.TrustImported})
	return err
}

// part checks and applies one chunk.
func (i *importer) part(ctx context.Context, p chunk.Part) error {
	c, err := chunk.Decode(p.ID, p.Bytes)
	if err != nil {
		return i.verdict(string(p.ID), err)
	}
	trust, own, err := i.s.trust(ctx, c.Signature)
	if err != nil {
		return i.verdict(string(p.ID), err)
	}
	for _, parent := range c.Header.Parents {
		i.wanted[parent] = true
	}
	for _, old := range c.Header.Rewrites {
		i.present[old] = true
	}
	done, err := i.s.store.Apply(ctx, amber.Incoming{
		Place: i.s.dir, Chunk: string(p.ID), Device: c.Header.Device, CreatedBy: c.Header.CreatedBy, At: c.Header.CreatedAt,
		Trust: trust, Own: own, Records: c.Records,
	})
	if amber.KindOf(err) == amber.KindInvalid {
		i.unexplained = true
		return i.verdict(string(p.ID), err)
	}
	if err != nil {
		return err
	}
	i.reopened = i.reopened || done.Again
	i.add(done)
	return nil
}

// add counts what a chunk brought. A chunk that is read once more within an import counts once.
func (i *importer) add(done amber.Applied) {
	before := *i.report
	add(i.report, done)
	if i.repeated && done.Already {
		i.report.Skipped = before.Skipped
	}
}

// add counts what a chunk brought.
func add(r *wire.SyncImport, done amber.Applied) {
	if done.Already {
		r.Skipped++
		return
	}
	r.Chunks++
	r.Sessions += done.Sessions
	r.Observations += done.Memories
	r.Prompts += done.Prompts
	r.Relations += done.Relations
	r.Conflicts += done.Conflicts
}

// verdict notes why a chunk is not used; any other error ends the import.
func (i *importer) verdict(id string, err error) error {
	if !isVerdict(err) {
		return err
	}
	if _, there := i.bad[id]; !there {
		i.order = append(i.order, id)
	}
	i.bad[id] = err
	return nil
}

// finish notes what is in quarantine, and looks for chunks that others refer
// to. An import of some files says nothing about the others.
func (i *importer) finish(ctx context.Context, all bool) error {
	for _, id := range i.order {
		if err := i.bad[id]; err != nil {
			i.report.Quarantined = append(i.report.Quarantined, quarantined(id, err))
			delete(i.bad, id)
		}
	}
	if !all {
		return nil
	}
	missing, err := i.s.missing(ctx, i.wanted, i.present)
	if err == nil && len(missing) > 0 {
		missing, err = i.notRewritten(ctx, missing)
	}
	if err != nil {
		return err
	}
	i.report.Missing = missing
	return i.s.setQuarantine(ctx, i.report.Quarantined)
}

// notRewritten leaves out chunks that other chunks rewrite: those were applied before, and so were not read now.
func (i *importer) notRewritten(ctx context.Context, missing []string) ([]string, error) {
	v, err := i.s.survey(ctx)
	if err != nil {
		return nil, err
	}
	return filter(missing, func(id string) bool { return !v.present[chunk.ID(id)] }), nil
}

// setQuarantine notes the list unless it is as it was.
func (s *Sync) setQuarantine(ctx context.Context, now []amber.QuarantinedChunk) error {
	before, err := s.store.SyncReport(ctx, s.dir)
	if err != nil || len(now) == 0 && len(before.Quarantined) == 0 {
		return err
	}
	return s.store.SetQuarantine(ctx, s.dir, now)
}

// missing returns the chunks that are wanted, and neither present nor applied
// before, in order.
func (s *Sync) missing(ctx context.Context, wanted, present map[chunk.ID]bool) ([]string, error) {
	var ids []string
	for id := range wanted {
		if !present[id] {
			ids = append(ids, string(id))
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	applied, err := s.store.AppliedChunks(ctx, "", ids)
	if err != nil {
		return nil, err
	}
	return sorted(filter(ids, func(id string) bool { return !applied[id] })), nil
}
