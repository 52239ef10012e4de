package gitsync

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/wire"
)

// Status tells how the store and the folder stand to each other; project is
// that of an export, "" means every project. It reads the chunks in the folder,
// but not the records in them: see [Sync.Verify]. It changes nothing but the
// summary in the folder, if that can be written. Errors: those of the disk and
// the store.
func (s *Sync) Status(ctx context.Context, project string) (wire.SyncStatus, error) {
	st := wire.SyncStatus{Dir: s.dir, Format: s.o.Format, Missing: []string{}}
	report, err := s.store.SyncReport(ctx, s.dir)
	if err != nil {
		return st, err
	}
	st.Conflicts, st.ConflictCount, st.Devices = report.Conflicts, report.ConflictCount, report.Devices
	if st.PendingExport, err = s.pendingExport(ctx, project); err != nil {
		return st, err
	}
	if s.o.Format == wire.SyncEngram {
		err = s.engramStatus(ctx, &st)
		return st, err
	}
	v, err := s.survey(ctx)
	if err != nil {
		return st, err
	}
	if err := s.compare(ctx, v, report, &st); err != nil {
		return st, err
	}
	st.Summary = v.summary()
	s.writeSummary(st.Summary)
	return st, nil
}

// pendingExport counts the records an export would write.
func (s *Sync) pendingExport(ctx context.Context, project string) (n int64, err error) {
	err = s.each(ctx, ExportOptions{Project: project}, func(_ *pass, st step) error {
		n += int64(len(st.records))
		return nil
	})
	return n, err
}

// compare counts what is applied, and lists what is in quarantine: what the
// last import put there, as far as it is still in the folder, and what is
// damaged now.
func (s *Sync) compare(ctx context.Context, v *survey, report amber.SyncReport, st *wire.SyncStatus) error {
	ids := v.ids()
	applied, err := s.store.AppliedChunks(ctx, s.dir, ids)
	if err != nil {
		return err
	}
	waiting := map[string]amber.QuarantinedChunk{}
	for _, q := range report.Quarantined {
		waiting[q.ID] = q
	}
	st.Quarantined = slices.Clone(v.bad)
	for _, q := range v.bad {
		delete(waiting, q.ID)
		if q.Kind == amber.KindDamaged {
			st.Damaged++
		}
	}
	for _, id := range ids {
		switch q, bad := waiting[id]; {
		case applied[id]:
			st.Local++
		case bad:
			st.Quarantined = append(st.Quarantined, q)
		default:
			st.PendingImport++
		}
	}
	st.Remote = int64(len(ids))
	st.Missing = append(st.Missing, v.missing()...)
	return nil
}

// writeSummary leaves the summary beside the chunks for people who look there.
// It is a convenience: where the folder cannot be written there is none.
func (s *Sync) writeSummary(sum wire.SyncSummary) {
	b, err := json.MarshalIndent(sum, "", "  ")
	if err != nil || sum.Files == 0 {
		return
	}
	local := filepath.Join(s.dir, localDir)
	if info, err := s.fs.Lstat(local); err != nil || !info.IsDir() {
		return // a repository may hold a link that leads anywhere
	}
	path := filepath.Join(local, "summary.json")
	b = append(b, '\n')
	if old, err := fsx.ReadFile(s.fs, path, 1<<20); err == nil && string(old) == string(b) {
		return
	}
	_ = fsx.Replace(s.fs, path, 0o644, b)
}

// survey is what a look at every chunk of the folder showed.
type survey struct {
	headers map[chunk.ID]chunk.Header
	order   []chunk.ID
	bad     []amber.QuarantinedChunk
	present map[chunk.ID]bool
	wanted  map[chunk.ID]bool
	files   map[string]bool
	bytes   int64
}

func (s *Sync) survey(ctx context.Context) (*survey, error) {
	v := &survey{
		headers: map[chunk.ID]chunk.Header{}, bad: []amber.QuarantinedChunk{},
		present: map[chunk.ID]bool{}, wanted: map[chunk.ID]bool{}, files: map[string]bool{},
	}
	err := s.eachPart(ctx, func(p chunk.Part, from file) error {
		h, err := chunk.DecodeHeader(p.ID, p.Bytes)
		if err != nil {
			return err
		}
		v.add(p, from, h)
		return nil
	}, func(id string, err error) { v.bad = append(v.bad, quarantined(id, err)) })
	return v, err
}

func (v *survey) add(p chunk.Part, from file, h chunk.Header) {
	v.headers[p.ID], v.present[p.ID], v.files[from.name] = h, true, true
	v.order = append(v.order, p.ID)
	v.bytes += int64(len(p.Bytes))
	for _, id := range h.Parents {
		v.wanted[id] = true
	}
	for _, id := range h.Rewrites {
		v.present[id] = true
	}
}

// missing returns the chunks that others follow upon and that are not there. A store that has applied such a chunk
// before misses nothing; every other store does.
func (v *survey) missing() (ids []string) {
	for id := range v.wanted {
		if !v.present[id] {
			ids = append(ids, string(id))
		}
	}
	return sorted(ids)
}

func (v *survey) ids() []string {
	ids := make([]string, len(v.order))
	for i, id := range v.order {
		ids[i] = string(id)
	}
	return ids
}

// summary adds up what the headers say.
func (v *survey) summary() wire.SyncSummary {
	s := wire.SyncSummary{Chunks: int64(len(v.order)), Files: int64(len(v.files)), Bytes: v.bytes}
	var authors authors
	for _, id := range v.order {
		h := v.headers[id]
		c := h.Counts
		s.Sessions += int64(c.Sessions)
		s.Memories += int64(c.Memories)
		s.Prompts += int64(c.Prompts)
		s.Relations += int64(c.Relations)
		s.Deleted += int64(c.Deleted)
		authors.add(h.CreatedBy, c.Sessions+c.Memories+c.Prompts+c.Relations+c.Deleted, h.CreatedAt)
	}
	s.Authors, s.First, s.Last = authors.list()
	return s
}

// authors gathers who wrote what and when.
type authors struct{ byName map[string]*wire.SyncAuthor }

func (a *authors) add(name string, rows int, at amber.Time) {
	if a.byName == nil {
		a.byName = map[string]*wire.SyncAuthor{}
	}
	one := a.byName[name]
	if one == nil {
		one = &wire.SyncAuthor{Name: name, First: at, Last: at}
		a.byName[name] = one
	}
	one.Chunks++
	one.Rows += int64(rows)
	one.First, one.Last = earlier(one.First, at), later(one.Last, at)
}

// list returns the authors by name, and the times of the first chunk and the
// last.
func (a *authors) list() (all []wire.SyncAuthor, first, last amber.Time) {
	all = []wire.SyncAuthor{}
	for _, one := range a.byName {
		if len(all) == 0 {
			first, last = one.First, one.Last
		}
		first, last = earlier(first, one.First), later(last, one.Last)
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b wire.SyncAuthor) int { return cmp.Compare(a.Name, b.Name) })
	return all, first, last
}
