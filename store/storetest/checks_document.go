package storetest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

func documentChecks() []check {
	needs := []part{documents}
	return []check{
		{name: "document/put-and-read", needs: needs, run: documentKept},
		{name: "document/conditions", needs: needs, run: documentConditions},
		{name: "document/list-by-name", needs: needs, run: documentsListed},
		{name: "document/delete", needs: needs, run: documentDeleted},
		{name: "document/hostile-names-are-refused", needs: needs, run: documentHostileNames},
		{name: "document/refuses-invalid", needs: needs, run: documentRefusesInvalid},
		{name: "document/bounded-in-number", needs: needs, run: documentsBounded},
		{name: "document/one-of-many-writers-wins", needs: needs, run: documentWinners},
		{name: "document/answers-are-the-callers", needs: needs, run: documentOwned},
	}
}

// document stores a document whatever was there.
func (w *world) document(name, doc string) amber.Document {
	return must(w.Documents.PutDocument(w.ctx, amber.DocumentWrite{Name: name, Document: json.RawMessage(doc)}))
}

func documentKept(w *world) {
	for _, name := range []string{"a", "extract_cursor", "last_consolidation", "my-program.cursor", "9", strings.Repeat("x", amber.MaxDocumentNameBytes)} {
		refused(only(w.Documents.ReadDocument(w.ctx, name)), amber.KindNotFound, "read document %s before it is there", name)
		for _, doc := range []string{`{"b": 1,  "a":[ 1.0, 1e2 ], "big": 12345678901234567890, "b": 2}`, "[]", "null", ` "\u0041é<>&" `} {
			put := w.document(name, doc)
			want := compacted(doc)
			equal([]any{put.Name, put.Bytes, put.Revision}, []any{name, len(want), amber.ContentDigest(want)}, "answer to a put")
			got := must(w.Documents.ReadDocument(w.ctx, name))
			hold(string(got.Document) == want, "document %s came back as %s", want, got.Document)
			equal(got, put, "document read back")
		}
	}
	same := w.document("a", `{"x": 1}`)
	equal(w.document("a", `{"x":1}`), same, "the same document again")
}

// compacted is a document without white space.
func compacted(doc string) string {
	d, err := amber.NewDocument("x", json.RawMessage(doc))
	must0(err)
	return string(d.Document)
}

func documentConditions(w *world) {
	put := func(doc, ifRevision string, ifAbsent bool) (amber.Document, error) {
		return w.Documents.PutDocument(w.ctx, amber.DocumentWrite{Name: "d", Document: []byte(doc), IfRevision: ifRevision, IfAbsent: ifAbsent})
	}
	refused(only(put(`1`, amber.ContentDigest("0"), false)), amber.KindConflict, "write over a revision where there is none")
	first := must(put(`1`, "", true))
	refused(only(put(`2`, "", true)), amber.KindConflict, "write a document that is there as a new one")
	refused(only(put(`2`, amber.ContentDigest("0"), false)), amber.KindConflict, "write over another revision")
	equal(must(w.Documents.ReadDocument(w.ctx, "d")), first, "document after refused writes")
	second := must(put(`2`, first.Revision, false))
	refused(only(put(`3`, first.Revision, false)), amber.KindConflict, "write over the revision before")
	refused(w.Documents.DeleteDocument(w.ctx, "d", first.Revision), amber.KindConflict, "delete the revision before")
	equal(must(w.Documents.ReadDocument(w.ctx, "d")), second, "document after refused changes")
	must0(w.Documents.DeleteDocument(w.ctx, "d", second.Revision))
	refused(only(put(`3`, second.Revision, false)), amber.KindConflict, "write over a revision that was deleted")
	must(put(`3`, "", true))
}

func documentsListed(w *world) {
	equal(len(must(w.Documents.ListDocuments(w.ctx))), 0, "documents of a fresh store")
	for _, name := range []string{"b", "a.b", "a", "a-b", "ab"} {
		w.document(name, fmt.Sprintf("%q", name))
	}
	var got []string
	for _, d := range must(w.Documents.ListDocuments(w.ctx)) {
		hold(d.Document == nil, "the list holds the text of %s", d.Name)
		whole := must(w.Documents.ReadDocument(w.ctx, d.Name))
		equal([]any{d.Revision, d.Bytes}, []any{whole.Revision, whole.Bytes}, "what the list says of %s", d.Name)
		got = append(got, d.Name)
	}
	equal(got, []string{"a", "a-b", "a.b", "ab", "b"}, "documents by name")
}

func documentDeleted(w *world) {
	w.document("d", "1")
	w.document("other", "2")
	must0(w.Documents.DeleteDocument(w.ctx, "d", ""))
	refused(only(w.Documents.ReadDocument(w.ctx, "d")), amber.KindNotFound, "read a deleted document")
	refused(w.Documents.DeleteDocument(w.ctx, "d", ""), amber.KindNotFound, "delete a deleted document")
	refused(w.Documents.DeleteDocument(w.ctx, "unknown", ""), amber.KindNotFound, "delete an unknown document")
	equal(len(must(w.Documents.ListDocuments(w.ctx))), 1, "documents that are left")
	w.document("d", "3")
	equal(string(must(w.Documents.ReadDocument(w.ctx, "d")).Document), "3", "document written again")
}

func documentHostileNames(w *world) {
	for _, name := range []string{
		"", ".", "..", "../x", "a/b", "/a", "a\\b", ".a", "a.", "-a", "a-", "_a", "a_", "A", "é", "a b", "a..b", "a\x00b", "a\nb", "con", "nul.x", "com1",
		"\xff", strings.Repeat("x", amber.MaxDocumentNameBytes+1),
	} {
		_, err := w.Documents.PutDocument(w.ctx, amber.DocumentWrite{Name: name, Document: []byte("1")})
		refused(err, amber.KindInvalid, "put document %q", clipped(name))
		refused(only(w.Documents.ReadDocument(w.ctx, name)), amber.KindInvalid, "read document %q", clipped(name))
		refused(w.Documents.DeleteDocument(w.ctx, name, ""), amber.KindInvalid, "delete document %q", clipped(name))
	}
	equal(len(must(w.Documents.ListDocuments(w.ctx))), 0, "documents")
}

func documentRefusesInvalid(w *world) {
	all := badDocuments()
	all["a document above the bound"] = []byte(`"` + strings.Repeat("x", amber.MaxDocumentBytes-1) + `"`)
	for name, doc := range all {
		_, err := w.Documents.PutDocument(w.ctx, amber.DocumentWrite{Name: "d", Document: doc})
		refused(err, amber.KindInvalid, "put a document with %s", name)
	}
	for name, d := range map[string]amber.DocumentWrite{
		"two conditions":              {IfAbsent: true, IfRevision: amber.ContentDigest("1")},
		"a revision that is a number": {IfRevision: "1"},
		"a revision in upper case":    {IfRevision: strings.ToUpper(amber.ContentDigest("1"))},
	} {
		d.Name, d.Document = "d", []byte("1")
		refused(only(w.Documents.PutDocument(w.ctx, d)), amber.KindInvalid, "put a document with %s", name)
	}
	refused(w.Documents.DeleteDocument(w.ctx, "d", "1"), amber.KindInvalid, "delete a revision that is a number")
	equal(len(must(w.Documents.ListDocuments(w.ctx))), 0, "documents")
	w.document("d", `"`+strings.Repeat("x", amber.MaxDocumentBytes-2)+`"`)
}

func documentsBounded(w *world) {
	for i := range amber.MaxDocuments {
		w.document(fmt.Sprint("d", i), "1")
	}
	_, err := w.Documents.PutDocument(w.ctx, amber.DocumentWrite{Name: "more", Document: []byte("1")})
	refused(err, amber.KindQuota, "one document more than there may be")
	w.document("d0", "2")
	must0(w.Documents.DeleteDocument(w.ctx, "d1", ""))
	w.document("more", "1")
}

func documentWinners(w *world) {
	revision := w.document("d", `"start"`).Revision
	for round := range 3 {
		winners(1, func(_, i int) error {
			doc := fmt.Sprintf(`"round %d by %d"`, round, i)
			return only(w.Documents.PutDocument(w.ctx, amber.DocumentWrite{Name: "d", Document: []byte(doc), IfRevision: revision}))
		})
		revision = must(w.Documents.ReadDocument(w.ctx, "d")).Revision
	}
}

func documentOwned(w *world) {
	doc := json.RawMessage(`{"a":1}`)
	put := must(w.Documents.PutDocument(w.ctx, amber.DocumentWrite{Name: "d", Document: doc}))
	for _, b := range [][]byte{doc, put.Document, must(w.Documents.ReadDocument(w.ctx, "d")).Document} {
		b[1] = 'X'
		hold(string(must(w.Documents.ReadDocument(w.ctx, "d")).Document) == `{"a":1}`, "a document was changed from outside")
	}
}
