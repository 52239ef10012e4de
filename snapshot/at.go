package snapshot

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/repo"
)

// At answers questions from a snapshot without restoring it. The live agent is
// not touched. The caller closes it. Errors: those of ShowSnapshot.
func (e *Engine) At(ctx context.Context, ref amber.SnapshotRef) (*Past, error) {
	if err := checkRef(ref); err != nil {
		return nil, err
	}
	v, err := e.open(ctx, ref.Tenant, fsx.Shared, waiting)
	if err != nil {
		if noRepository(err) {
			err = noSnapshot(ref)
		}
		return nil, err
	}
	p, err := e.past(ctx, v, ref)
	if err != nil {
		v.close()
		return nil, err
	}
	return p, nil
}

func (e *Engine) past(ctx context.Context, v *vault, ref amber.SnapshotRef) (*Past, error) {
	_, inner, err := e.find(ctx, v, ref)
	if err != nil {
		return nil, err
	}
	db := findDatabase(inner.Databases, memoryDB)
	if db == nil {
		return nil, amber.Errorf(amber.KindNotFound, "open snapshot", string(ref.ID), "it holds no memories")
	}
	r, err := v.repo.OpenDatabase(ctx, db.Ref, viewCache)
	if err != nil {
		return nil, err
	}
	view, err := e.o.Viewer.View(ctx, DatabaseFile{Reader: r, Size: r.Size()})
	if err != nil {
		return nil, err
	}
	return &Past{View: view, reader: r, vault: v, pages: db.Ref.Pages}, nil
}

// Past is the memory of a snapshot.
type Past struct {
	View
	reader *repo.DatabaseReader
	vault  *vault
	pages  int64
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
	err := p.View.Close()
	if p.vault == nil {
		return err
	}
	p.vault.close()
	p.vault = nil
	return err
}
