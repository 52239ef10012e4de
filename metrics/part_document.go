package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type documents struct {
	watched
	next amber.Documents
}

var _ amber.Documents = documents{}

func (p documents) PutDocument(ctx context.Context, w amber.DocumentWrite) (d amber.Document, err error) {
	ctx, end, err := p.begin(ctx, "put_document")
	defer func() { end(err, size{in: len(w.Document), items: 1}) }()
	return p.next.PutDocument(ctx, w)
}

func (p documents) ReadDocument(ctx context.Context, name string) (d amber.Document, err error) {
	ctx, end, err := p.begin(ctx, "read_document")
	defer func() { end(err, size{out: len(d.Document), items: 1}) }()
	return p.next.ReadDocument(ctx, name)
}

func (p documents) ListDocuments(ctx context.Context) (l []amber.Document, err error) {
	ctx, end, err := p.begin(ctx, "list_documents")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.ListDocuments(ctx)
}

func (p documents) DeleteDocument(ctx context.Context, name, ifRevision string) (err error) {
	ctx, end, err := p.begin(ctx, "delete_document")
	defer func() { end(err, size{items: 1}) }()
	return p.next.DeleteDocument(ctx, name, ifRevision)
}
