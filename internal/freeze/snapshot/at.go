package snapshot

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// At answers questions from a snapshot without restoring it. The live agent is
// not touched. The caller closes it. Errors: those of ShowSnapshot.
func (e *Engine) At(ctx context.Context, ref wire.SnapshotRef) (*Past, error) {
	if err := checkRef(ref); err != nil {
		return nil, err
	}
	rep, err := e.open(ctx, ref.Tenant, fsx.Shared, waiting)
	if err != nil {
		if noRepository(err) {
			err = noSnapshot(ref)
		}
		return nil, err
	}
	p, err := e.past(ctx, rep, ref)
	if err != nil {
		rep.close()
		return nil, err
	}
	return p, nil
}

func (e *Engine) past(ctx context.Context, rep *repository, ref wire.SnapshotRef) (*Past, error) {
	_, inner, err := rep.find(ctx, ref)
	if err != nil {
		return nil, err
	}
	db := findDatabase(inner.Databases, memoryDB)
	if db == nil {
		return nil, amber.Errorf(amber.KindNotFound, "open snapshot", string(ref.ID), "the snapshot holds no memory.db")
	}
	r, err := rep.OpenDatabase(ctx, db.Ref, viewCache)
	if err != nil {
		return nil, err
	}
	o := e.looking()
	o.Model = e.o.Model
	view, err := sqlite.OpenReadOnly(ctx, memoryDB, r, r.Size(), o)
	if err != nil {
		return nil, err
	}
	p := &Past{view: view, reader: r, rep: rep, pages: db.Ref.Pages}
	if inner.Git != nil {
		p.notes = inner.Git.HeadOID
	}
	return p, nil
}

// Past is the memory of a snapshot.
type Past struct {
	view
	reader *repo.DatabaseReader
	rep    *repository
	pages  int64
	notes  string // the commit that the snapshot has the notes of; "" for none
}

// Recall answers as the store would have. Notes that were edited by hand before the snapshot was taken
// are in it and may not be in its index; the answer says so.
func (p *Past) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	result, err := p.view.Recall(ctx, q)
	if err != nil || result.Degraded != "" || p.notes == "" {
		return result, err
	}
	asked, _, err := q.Normalize()
	if err != nil || !slices.Contains(asked.Layers, amber.LayerNote) {
		return result, err
	}
	head, err := p.view.NotesHead(ctx)
	if err == nil && head != p.notes {
		result.Degraded = "some notes of the snapshot are not in its index: they were committed when it was taken"
	}
	return result, err
}

// view answers questions from a memory.db that is not live.
type view interface {
	Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error)
	Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error)
	List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error)
	NotesHead(ctx context.Context) (string, error)
	Close() error
}

// PastStats says how much of a snapshot was read to answer.
type PastStats struct {
	PagesTotal int64 `json:"pages_total"`
	PagesRead  int64 `json:"pages_read"` // different ones
	BytesRead  int64 `json:"bytes_read"` // from the repository
}

// Stats tells how much was read so far.
func (p *Past) Stats() PastStats {
	s := p.reader.Stats()
	return PastStats{PagesTotal: p.pages, PagesRead: s.PagesDistinct, BytesRead: s.StoredBytes}
}

// Close lets the snapshot go.
func (p *Past) Close() error {
	err := p.view.Close()
	if p.rep == nil {
		return err
	}
	p.rep.close()
	p.rep = nil
	return err
}
