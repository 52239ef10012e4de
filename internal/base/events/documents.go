package events

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/amber-memory/amber"
)

// Documents publishes what is written through it: an event of scope state for a
// document of runtime state that changed, keyed by its name. A write that changes
// nothing publishes nothing. A write in another process between the look at the
// old document and the write shows in the digests of the event. Safe for
// concurrent use.
type Documents struct {
	amber.Documents
	sink    Sink
	written atomic.Int64
}

var _ amber.Documents = (*Documents)(nil)

// NewDocuments returns documents whose changes are published. The error is of
// kind invalid.
func NewDocuments(d amber.Documents, to Sink) (*Documents, error) {
	if d == nil {
		return nil, amber.Errorf(amber.KindInvalid, "publish documents", "", "documents are required")
	}
	return &Documents{Documents: d, sink: to}, to.check()
}

// PutDocument implements [amber.Documents].
func (d *Documents) PutDocument(ctx context.Context, w amber.DocumentWrite) (amber.Document, error) {
	old, existed := d.before(ctx, w.Name)
	doc, err := d.Documents.PutDocument(ctx, w)
	if err == nil && old != doc.Revision {
		d.publish(ctx, opOf(existed, true), doc.Name, old, doc.Revision)
	}
	return doc, err
}

// DeleteDocument implements [amber.Documents].
func (d *Documents) DeleteDocument(ctx context.Context, name, ifRevision string) error {
	old, _ := d.before(ctx, name)
	err := d.Documents.DeleteDocument(ctx, name, ifRevision)
	if err == nil {
		d.publish(ctx, amber.OpDelete, name, old, "")
	}
	return err
}

// before returns the revision of a document before it is changed, "" when it
// cannot be read, and whether something is there.
func (d *Documents) before(ctx context.Context, name string) (revision string, existed bool) {
	doc, err := d.ReadDocument(ctx, name)
	return doc.Revision, amber.KindOf(err) != amber.KindNotFound
}

func (d *Documents) publish(ctx context.Context, op amber.Op, name, old, now string) {
	at := d.sink.now()
	d.sink.publish(ctx, fmt.Sprintf("%s/%d-%d", name, at.UnixMilli(), d.written.Add(1)), Mutation{
		Op: op, Scope: amber.ChangeState, Key: name, OldDigest: old, NewDigest: now, At: at,
	})
}
