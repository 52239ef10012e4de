package op

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// DocumentName names a document of runtime state.
type DocumentName struct {
	Name string `path:"name" doc:"the name of the document"`
}

// DocumentPutIn asks to store a document.
type DocumentPutIn struct {
	DocumentName
	IfMatch     string `header:"If-Match" doc:"the ETag of the document that is replaced"`
	IfNoneMatch string `header:"If-None-Match" doc:"* stores the document only if the name is not taken"`
	Body        struct {
		Name       string          `json:"name,omitempty"`
		Document   json.RawMessage `json:"document"`
		IfRevision string          `json:"if_revision,omitempty"`
		IfAbsent   bool            `json:"if_absent,omitempty"`
	} `body:"json" repeats:"name"`
}

// repeats: a write without conditions may be done twice.
func (p DocumentPutIn) repeats() bool {
	return p.IfMatch == "" && p.IfNoneMatch == "" && p.Body.IfRevision == "" && !p.Body.IfAbsent
}

// write is the write with the conditions of headers and body. Errors: invalid.
func (p DocumentPutIn) write() (amber.DocumentWrite, error) {
	w := amber.DocumentWrite{Name: p.Body.Name, Document: p.Body.Document, IfAbsent: p.Body.IfAbsent}
	switch p.IfNoneMatch {
	case "":
	case "*":
		w.IfAbsent = true
	default:
		return w, Invalid("If-None-Match must be *")
	}
	var err error
	w.IfRevision, err = expectedRevision(p.IfMatch, p.Body.IfRevision)
	return w, err
}

// DocumentList lists the documents of runtime state.
var DocumentList = do(Row{
	ID: "document.list", HTTP: "GET /state", Scope: wire.TokenRead, Doc: "List the documents of runtime state by name, without their text",
}, func(ctx context.Context, c *Call, _ None) (amber.Page[amber.Document], error) {
	return items(c.Store.Documents.ListDocuments(ctx))
})

// DocumentGet reads a document.
var DocumentGet = do(Row{
	ID: "document.get", HTTP: "GET /state/{name}", Scope: wire.TokenRead, Kind: Tagged, Holds: HoldsState, Sure: []string{"name=name"}, Doc: "Read a document of runtime state",
}, func(ctx context.Context, c *Call, in DocumentName) (amber.Document, error) {
	d, err := c.Store.Documents.ReadDocument(ctx, in.Name)
	c.Tag = d.Revision
	return d, err
})

// DocumentPut stores a document.
var DocumentPut = do(Row{
	ID: "document.put", HTTP: "PUT /state/{name}", Scope: wire.TokenWrite, Kind: Changes | Tagged | Keyed, Holds: HoldsState, Fails: []amber.Kind{amber.KindQuota},
	Sure: []string{"name=name"}, Doc: "Store a document of runtime state, over the expected revision or as a new document",
}, func(ctx context.Context, c *Call, in DocumentPutIn) (amber.Document, error) {
	w, err := in.write()
	if err != nil {
		return amber.Document{}, err
	}
	d, err := c.Store.Documents.PutDocument(ctx, w)
	c.Tag = d.Revision
	return d, err
})

// DocumentDeleteIn asks to remove a document.
type DocumentDeleteIn struct {
	DocumentName
	IfMatch    string `header:"If-Match" doc:"the ETag of the document that is removed"`
	IfRevision string `query:"if_revision" doc:"the same as If-Match"`
}

// DocumentDelete removes a document.
var DocumentDelete = do(Row{
	ID: "document.delete", HTTP: "DELETE /state/{name}", Scope: wire.TokenWrite, Kind: Changes | Keyed, Doc: "Remove a document of runtime state",
}, func(ctx context.Context, c *Call, in DocumentDeleteIn) (None, error) {
	revision, err := expectedRevision(in.IfMatch, in.IfRevision)
	if err != nil {
		return None{}, err
	}
	return None{}, c.Store.Documents.DeleteDocument(ctx, in.Name, revision)
})
