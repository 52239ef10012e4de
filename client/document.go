package client

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
)

// documents are the runtime state of an agent.
type documents struct{ *Agent }

// PutDocument implements [amber.Documents].
func (d documents) PutDocument(ctx context.Context, w amber.DocumentWrite) (amber.Document, error) {
	w, err := w.Normalize()
	if err != nil {
		return amber.Document{}, err
	}
	got, err := call[amber.Document](ctx, d.c, request{method: http.MethodPut, path: d.path("state", w.Name), body: w, once: true})
	return checkedDocument(got, w.Name, err)
}

// ReadDocument implements [amber.Documents].
func (d documents) ReadDocument(ctx context.Context, name string) (amber.Document, error) {
	if err := amber.CheckDocumentName(name); err != nil {
		return amber.Document{}, err
	}
	got, err := get[amber.Document](ctx, d.Agent, nil, "state", name)
	return checkedDocument(got, name, err)
}

// checkedDocument compares a document with its revision, as every backend does.
func checkedDocument(d amber.Document, name string, err error) (amber.Document, error) {
	if err = about(d.Name, name, err); err != nil {
		return amber.Document{}, err
	}
	if d.Document == nil {
		return amber.Document{}, incomplete("document")
	}
	if amber.ContentDigest(string(d.Document)) != d.Revision {
		return amber.Document{}, amber.Errorf(amber.KindDamaged, "read answer", name, "the document does not match its revision")
	}
	return d, nil
}

// ListDocuments implements [amber.Documents].
func (d documents) ListDocuments(ctx context.Context) ([]amber.Document, error) {
	return list[amber.Document](ctx, d.Agent, nil, "state")
}

// DeleteDocument implements [amber.Documents].
func (d documents) DeleteDocument(ctx context.Context, name, ifRevision string) error {
	if err := amber.CheckDocumentName(name); err != nil {
		return err
	}
	if err := amber.CheckRevision(ifRevision); err != nil {
		return err
	}
	return d.remove(ctx, newValues().text("if_revision", ifRevision).Values, "state", name)
}
