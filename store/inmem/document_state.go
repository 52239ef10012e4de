package inmem

import (
	"context"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

var _ amber.Documents = (*Store)(nil)

// PutDocument implements [amber.Documents].
func (s *Store) PutDocument(ctx context.Context, w amber.DocumentWrite) (amber.Document, error) {
	w, err := w.Normalize()
	if err != nil {
		return amber.Document{}, err
	}
	return run(ctx, s, "write document", func() (amber.Document, error) {
		old, found := s.documents[w.Name]
		if err := w.Allow(old.Revision, len(s.documents)); err != nil {
			return amber.Document{}, err
		}
		if doc := w.Result(); s.logAll && doc.Revision != old.Revision {
			s.log(s.now(), saved(found), amber.ChangeState, w.Name, old.Revision, doc.Revision)
		}
		s.documents[w.Name] = copyDocument(w.Result())
		return copyDocument(w.Result()), nil
	})
}

// ReadDocument implements [amber.Documents].
func (s *Store) ReadDocument(ctx context.Context, name string) (amber.Document, error) {
	if err := amber.CheckDocumentName(name); err != nil {
		return amber.Document{}, err
	}
	return run(ctx, s, "read document", func() (amber.Document, error) {
		return lookup("read document", name, s.documents, name, copyDocument)
	})
}

// ListDocuments implements [amber.Documents].
func (s *Store) ListDocuments(ctx context.Context) ([]amber.Document, error) {
	return run(ctx, s, "list documents", func() ([]amber.Document, error) {
		list := []amber.Document{}
		for _, name := range slices.Sorted(maps.Keys(s.documents)) {
			doc := s.documents[name]
			doc.Document = nil
			list = append(list, doc)
		}
		return list, nil
	})
}

// DeleteDocument implements [amber.Documents].
func (s *Store) DeleteDocument(ctx context.Context, name, ifRevision string) error {
	if err := amber.CheckDocumentName(name); err != nil {
		return err
	}
	if err := amber.CheckRevision(ifRevision); err != nil {
		return err
	}
	return do(ctx, s, "delete document", func() error {
		doc, found := s.documents[name]
		if err := amber.AllowDelete(name, ifRevision, doc.Revision); err != nil {
			return err
		}
		if !found {
			return notFound("delete document", name)
		}
		delete(s.documents, name)
		if s.logAll {
			s.log(s.now(), amber.OpDelete, amber.ChangeState, name, doc.Revision, "")
		}
		return nil
	})
}

func copyDocument(d amber.Document) amber.Document {
	d.Document = copyJSON(d.Document)
	return d
}
