package httpapi

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// documentName is in the path of what concerns one document of runtime state.
type documentName struct {
	Name string `path:"name" doc:"the name of the document"`
}

// putDocument asks to store a document.
type putDocument struct {
	documentName
	IfMatch     string `header:"If-Match" doc:"the ETag of the document that is replaced"`
	IfNoneMatch string `header:"If-None-Match" doc:"* stores the document only if the name is not taken"`
	Body        struct {
		Document   json.RawMessage `json:"document"`
		Name       string          `json:"name,omitempty"`
		IfRevision string          `json:"if_revision,omitempty"`
		IfAbsent   bool            `json:"if_absent,omitempty"`
	} `body:"json"`
}

// repeats: a write without conditions may be done twice.
func (p putDocument) repeats() bool {
	return p.IfMatch == "" && p.IfNoneMatch == "" && p.Body.IfRevision == "" && !p.Body.IfAbsent
}

// write is the write with the conditions of headers and body. Errors: invalid.
func (p putDocument) write() (amber.DocumentWrite, error) {
	w := amber.DocumentWrite{Name: p.Body.Name, Document: p.Body.Document, IfAbsent: p.Body.IfAbsent}
	if err := agree("name", p.Name, &w.Name); err != nil {
		return w, err
	}
	switch p.IfNoneMatch {
	case "":
	case "*":
		w.IfAbsent = true
	default:
		return w, invalid("If-None-Match must be *")
	}
	var err error
	w.IfRevision, err = expectedRevision(p.IfMatch, p.Body.IfRevision)
	return w, err
}

// expectedRevision is the revision that a change is based on, "" for any. Errors:
// invalid when header and request disagree.
func expectedRevision(header, request string) (string, error) {
	if matches(header, "*") {
		return "", invalid("If-Match must name one tag")
	}
	tag, err := ifMatch(header)
	switch {
	case err != nil || tag == "":
		return request, err
	case request != "" && request != tag:
		return "", invalid("If-Match and if_revision name different revisions")
	}
	return tag, nil
}

// deleteDocument asks to remove a document.
type deleteDocument struct {
	documentName
	IfMatch    string `header:"If-Match" doc:"the ETag of the document that is removed"`
	IfRevision string `query:"if_revision" doc:"the same as If-Match"`
}

// documentRoutes serve the documents of runtime state.
func documentRoutes(a *API) {
	const path = agentPath + "/state"
	handle(a, operation{
		id: "document.list", method: "GET", path: path, scope: wire.TokenRead, summary: "List the documents of runtime state by name, without their text",
	}, func(ctx context.Context, ag *server.Agent, _ nothing) (answer[amber.Page[amber.Document]], error) {
		return items(ag.Store.Documents.ListDocuments(ctx))
	})

	handle(a, operation{
		id: "document.get", method: "GET", path: path + "/{name}", scope: wire.TokenRead, summary: "Read a document of runtime state",
	}, func(ctx context.Context, ag *server.Agent, in documentName) (answer[amber.Document], error) {
		d, err := ag.Store.Documents.ReadDocument(ctx, in.Name)
		return tagged(d, d.Revision, err)
	})

	handle(a, operation{
		id: "document.put", method: "PUT", path: path + "/{name}", scope: wire.TokenWrite, mutates: true,
		summary: "Store a document of runtime state, over the expected revision or as a new document",
	}, func(ctx context.Context, ag *server.Agent, in putDocument) (answer[amber.Document], error) {
		w, err := in.write()
		if err != nil {
			return answer[amber.Document]{}, err
		}
		d, err := ag.Store.Documents.PutDocument(ctx, w)
		return tagged(d, d.Revision, err)
	})

	handle(a, operation{
		id: "document.delete", method: "DELETE", path: path + "/{name}", scope: wire.TokenWrite, mutates: true,
		summary: "Remove a document of runtime state",
	}, func(ctx context.Context, ag *server.Agent, in deleteDocument) (answer[nothing], error) {
		revision, err := expectedRevision(in.IfMatch, in.IfRevision)
		if err != nil {
			return answer[nothing]{}, err
		}
		return done(ag.Store.Documents.DeleteDocument(ctx, in.Name, revision))
	})
}
