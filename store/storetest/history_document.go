package storetest

import "github.com/amber-memory/amber"

func documentOperations() []operation {
	needs := []part{documents}
	return []operation{
		{name: "put document", weight: 5, needs: needs, run: (*history).putDocument},
		{name: "list documents", weight: 1, needs: needs, run: (*history).listDocuments},
		{name: "delete document", weight: 3, needs: needs, run: (*history).deleteDocument},
	}
}

func (h *history) someDocument() string { return oneOf(h, "cursor", "last.run", "x", "X") }

// someRevision returns the revision of a document, one that no document has, or
// "".
func (h *history) someRevision(name string) string {
	stored, _ := h.model.Documents.ReadDocument(h.model.ctx, name)
	return oneOf(h, "", stored.Revision, stored.Revision, amber.ContentDigest("unknown"))
}

func (h *history) putDocument() {
	w := amber.DocumentWrite{Name: h.someDocument(), Document: h.document(), IfAbsent: h.chance(0.2)}
	w.IfRevision = h.someRevision(w.Name)
	h.note("%s %s over %q, absent %t", w.Name, w.Document, w.IfRevision, w.IfAbsent)
	compare(h, "answer to a put", func(x *world) (amber.Document, error) { return x.Documents.PutDocument(x.ctx, w) })
	compare(h, "document", func(x *world) (amber.Document, error) { return x.Documents.ReadDocument(x.ctx, w.Name) })
}

func (h *history) listDocuments() {
	compare(h, "documents", func(w *world) ([]amber.Document, error) { return w.Documents.ListDocuments(w.ctx) })
}

func (h *history) deleteDocument() {
	name := h.someDocument()
	revision := h.someRevision(name)
	h.note("%s if %s", name, revision)
	do(h, func(w *world) error { return w.Documents.DeleteDocument(w.ctx, name, revision) })
}
