package storetest_test

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/amber-memory/amber"
)

func documentMutants() []mutant {
	return []mutant{
		{"writes a document over any revision", "document/conditions", true, putting(func(w *amber.DocumentWrite) { w.IfRevision = "" })},
		{"writes a new document over another", "document/conditions", true, putting(func(w *amber.DocumentWrite) { w.IfAbsent = false })},
		{"sorts the keys of a document", "document/put-and-read", false, putting(func(w *amber.DocumentWrite) {
			var v any
			if json.Unmarshal(w.Document, &v) == nil {
				w.Document, _ = json.Marshal(v)
			}
		})},
		{"deletes any revision of a document", "document/conditions", true, func(p *amber.Parts) { p.Documents = anyRevision{p.Documents} }},
		{"lists documents with their text", "document/list-by-name", true, func(p *amber.Parts) { p.Documents = wholeList{p.Documents} }},
		{"tells of no note", "change/of-notes-and-documents", false, func(p *amber.Parts) { p.Changes = without{p.Changes, amber.ChangeNote} }},
		{"tells of no commit", "change/of-notes-and-documents", false, func(p *amber.Parts) { p.Changes = without{p.Changes, amber.ChangeGit} }},
		{"tells of a note with no digest", "change/of-notes-and-documents", false, func(p *amber.Parts) { p.Changes = undigested{p.Changes} }},
		{"has no bound on documents", "document/bounded-in-number", false, func(p *amber.Parts) { p.Documents = endless{p.Documents} }},
	}
}

type documentFunc struct {
	amber.Documents
	change func(*amber.DocumentWrite)
}

func (d documentFunc) PutDocument(ctx context.Context, w amber.DocumentWrite) (amber.Document, error) {
	d.change(&w)
	return d.Documents.PutDocument(ctx, w)
}

func putting(change func(*amber.DocumentWrite)) func(*amber.Parts) {
	return func(p *amber.Parts) { p.Documents = documentFunc{p.Documents, change} }
}

// without is a change log that leaves out a scope.
type without struct {
	amber.ChangeLog
	scope amber.ChangeScope
}

func (l without) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	list, err := l.ChangeLog.Changes(ctx, after, limit)
	return slices.DeleteFunc(list, func(c amber.Change) bool { return c.Scope == l.scope }), err
}

// undigested is a change log without the digests of notes.
type undigested struct{ amber.ChangeLog }

func (l undigested) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	list, err := l.ChangeLog.Changes(ctx, after, limit)
	for i, c := range list {
		if c.Scope == amber.ChangeNote {
			list[i].OldDigest, list[i].NewDigest = "", ""
		}
	}
	return list, err
}

type anyRevision struct{ amber.Documents }

func (d anyRevision) DeleteDocument(ctx context.Context, name, _ string) error {
	return d.Documents.DeleteDocument(ctx, name, "")
}

type wholeList struct{ amber.Documents }

func (d wholeList) ListDocuments(ctx context.Context) ([]amber.Document, error) {
	list, err := d.Documents.ListDocuments(ctx)
	for i := range list {
		list[i], err = d.ReadDocument(ctx, list[i].Name)
	}
	return list, err
}

type endless struct{ amber.Documents }

func (d endless) PutDocument(ctx context.Context, w amber.DocumentWrite) (amber.Document, error) {
	doc, err := d.Documents.PutDocument(ctx, w)
	if amber.KindOf(err) == amber.KindQuota {
		return w.Result(), nil
	}
	return doc, err
}
