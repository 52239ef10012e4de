package client

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// documents are the runtime state of an agent.
type documents struct{ *Agent }

// PutDocument implements [amber.Documents].
func (d documents) PutDocument(ctx context.Context, w amber.DocumentWrite) (amber.Document, error) {
	w, err := w.Normalize()
	if err != nil {
		return amber.Document{}, err
	}
	in := op.DocumentPutIn{DocumentName: op.DocumentName{Name: w.Name}}
	in.Body.Name, in.Body.Document, in.Body.IfRevision, in.Body.IfAbsent = w.Name, w.Document, w.IfRevision, w.IfAbsent
	return checkedDocument(op.DocumentPut.Call(ctx, d, in))
}

// ReadDocument implements [amber.Documents].
func (d documents) ReadDocument(ctx context.Context, name string) (amber.Document, error) {
	if err := amber.CheckDocumentName(name); err != nil {
		return amber.Document{}, err
	}
	return checkedDocument(op.DocumentGet.Call(ctx, d, op.DocumentName{Name: name}))
}

// checkedDocument compares a document with its revision, as every backend does.
func checkedDocument(d amber.Document, err error) (amber.Document, error) {
	switch {
	case err != nil:
		return amber.Document{}, err
	case d.Document == nil:
		return amber.Document{}, incomplete("document")
	case amber.ContentDigest(string(d.Document)) != d.Revision:
		return amber.Document{}, amber.Errorf(amber.KindDamaged, "read answer", d.Name, "the document does not match its revision")
	}
	return d, nil
}

// ListDocuments implements [amber.Documents].
func (d documents) ListDocuments(ctx context.Context) ([]amber.Document, error) {
	return list(op.DocumentList.Call(ctx, d, op.None{}))
}

// DeleteDocument implements [amber.Documents].
func (d documents) DeleteDocument(ctx context.Context, name, ifRevision string) error {
	if err := amber.CheckDocumentName(name); err != nil {
		return err
	}
	if err := amber.CheckRevision(ifRevision); err != nil {
		return err
	}
	return done(op.DocumentDelete.Call(ctx, d, op.DocumentDeleteIn{DocumentName: op.DocumentName{Name: name}, IfRevision: ifRevision}))
}
