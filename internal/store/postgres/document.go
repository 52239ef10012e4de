package postgres

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectDocument  = `SELECT name, revision, document FROM documents WHERE name = ?`
	selectDocuments = `SELECT name, revision, document FROM documents ORDER BY name`
	selectRevision  = `SELECT coalesce((SELECT revision FROM documents WHERE name = ?), ''), (SELECT count(*) FROM documents)`
	upsertDocument  = `INSERT INTO documents (name, revision, document) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, document = excluded.document`
	deleteDocument = `DELETE FROM documents WHERE name = ?`
)

// documents are the documents of runtime state as rows. Each change is in the change log of the memory.
type documents struct{ *database }

var _ amber.Documents = documents{}

func scanDocument(s sqlrows.Row) (d amber.Document, err error) {
	var text string
	if err := s.Scan(&d.Name, &d.Revision, &text); err != nil {
		return d, err
	}
	d.Document, d.Bytes = json.RawMessage(text), int64(len(text))
	if amber.ContentDigest(text) != d.Revision {
		d.Document, d.Revision, d.Damage = nil, "", "the document does not match its digest"
	}
	return d, nil
}

// PutDocument implements [amber.Documents].
func (d documents) PutDocument(ctx context.Context, w amber.DocumentWrite) (amber.Document, error) {
	w, err := w.Normalize()
	if err != nil {
		return amber.Document{}, err
	}
	doc := w.Result()
	err = d.Update(ctx, "write document", w.Name, func(t *tx) error {
		var stored string
		var count int
		if err := t.Row(selectRevision, w.Name).Scan(&stored, &count); err != nil {
			return err
		}
		if err := w.Allow(stored, count); err != nil {
			return err
		}
		if _, err := t.Exec(upsertDocument, w.Name, doc.Revision, string(doc.Document)); err != nil || stored == doc.Revision {
			return err
		}
		op := amber.OpInsert
		if stored != "" {
			op = amber.OpUpdate
		}
		return t.Log(sqlrows.Entry(op, amber.ChangeState, w.Name, stored, doc.Revision))
	})
	return doc, err
}

// ReadDocument implements [amber.Documents].
func (d documents) ReadDocument(ctx context.Context, name string) (doc amber.Document, err error) {
	const op = "read document"
	if err := amber.CheckDocumentName(name); err != nil {
		return doc, err
	}
	err = d.View(ctx, op, name, func(t *tx) (err error) {
		doc, err = scanDocument(t.Row(selectDocument, name))
		switch {
		case sqlrows.Absent(err):
			return sqlrows.NotFound(op, name)
		case err == nil && doc.Damage != "":
			return sqlrows.Damaged(op, name, errors.New(doc.Damage))
		}
		return err
	})
	return doc, err
}

// ListDocuments implements [amber.Documents].
func (d documents) ListDocuments(ctx context.Context) (list []amber.Document, err error) {
	err = d.View(ctx, "list documents", "", func(t *tx) (err error) {
		list, err = sqlrows.All(t.Tx, scanDocument, selectDocuments)
		return err
	})
	for i := range list {
		list[i].Document = nil
	}
	return list, err
}

// DeleteDocument implements [amber.Documents].
func (d documents) DeleteDocument(ctx context.Context, name, ifRevision string) error {
	const op = "delete document"
	if err := amber.CheckDocumentName(name); err != nil {
		return err
	}
	if err := amber.CheckRevision(ifRevision); err != nil {
		return err
	}
	return d.Update(ctx, op, name, func(t *tx) error {
		var stored string
		var count int
		if err := t.Row(selectRevision, name).Scan(&stored, &count); err != nil {
			return err
		}
		if err := amber.AllowDelete(name, ifRevision, stored); err != nil {
			return err
		}
		n, err := t.Exec(deleteDocument, name)
		if err == nil && n == 0 {
			return sqlrows.NotFound(op, name)
		}
		if err != nil {
			return err
		}
		return t.Log(sqlrows.Entry(amber.OpDelete, amber.ChangeState, name, stored, ""))
	})
}
