package op

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/guard/shown"
	"github.com/amber-memory/amber/wire"
)

const documentShows = "name revision bytes document damage"

type documents struct {
	Documents []amber.Document `json:"documents" shows:"name revision bytes document damage"`
}

var stateList = NewTool(Tool{
	Op: DocumentList.Row, Name: "state_list", Title: "List state documents", Use: "Names and revisions of the agent's small state documents.",
}, func(ctx context.Context, c *Call, _ None) (documents, string, error) {
	docs, err := c.Store.Documents.ListDocuments(ctx)
	lines := []string{}
	for _, d := range docs {
		line := fmt.Sprintf("%s, %s, revision %s", d.Name, words.Count(d.Bytes, "byte", "bytes"), d.Revision)
		if d.Damage != "" {
			line = d.Name + " is damaged"
		}
		lines = append(lines, line)
	}
	return documents{docs}, Lines(lines, "There are no state documents."), err
})

type documentArgs struct {
	Name string `json:"name" need:"yes"`
}

var stateGet = NewTool(Tool{
	Op: DocumentGet.Row, Name: "state_get", Title: "Read a state document", Use: "One state document and its revision.", Shows: documentShows,
}, func(ctx context.Context, c *Call, in documentArgs) (amber.Document, string, error) {
	d, err := c.Store.Documents.ReadDocument(ctx, in.Name)
	return d, fmt.Sprintf("%s, revision %s: %s", d.Name, d.Revision, clip.Marked(string(d.Document), shown.PageBytes)), err
})

type documentSetArgs struct {
	Name       string          `json:"name" doc:"a-z, 0-9, . _ -" need:"yes"`
	Document   json.RawMessage `json:"document" need:"yes"`
	IfRevision string          `json:"if_revision"`
	IfAbsent   bool            `json:"if_absent"`
}

// stateSet answers without the document, which the caller has.
var stateSet = NewTool(Tool{
	Op: DocumentPut.Row, Name: "state_set", Title: "Store a state document",
	Use:   "Store a small JSON document by name; if_revision or if_absent refuse to overwrite what others stored.",
	Hints: Destroys | Again, Shows: documentShows,
}, func(ctx context.Context, c *Call, in documentSetArgs) (amber.Document, string, error) {
	d, err := c.Store.Documents.PutDocument(ctx, amber.DocumentWrite{Name: in.Name, Document: in.Document, IfRevision: in.IfRevision, IfAbsent: in.IfAbsent})
	c.Subject, d.Document = d.Name, nil
	return d, fmt.Sprintf("Stored %s, revision %s.", d.Name, d.Revision), err
})

type documentDeleteArgs struct {
	Name       string `json:"name" need:"yes"`
	IfRevision string `json:"if_revision"`
}

type documentDeleted struct {
	Deleted bool   `json:"deleted"`
	Name    string `json:"name"`
}

var stateDelete = NewTool(Tool{
	Op: DocumentDelete.Row, Name: "state_delete", Title: "Delete a state document", Use: "Delete a state document, with if_revision only that revision.",
	Hints: Destroys, Shows: "name deleted",
}, func(ctx context.Context, c *Call, in documentDeleteArgs) (documentDeleted, string, error) {
	err := c.Store.Documents.DeleteDocument(ctx, in.Name, in.IfRevision)
	if err == nil {
		c.Subject = in.Name
	}
	return documentDeleted{true, in.Name}, "Deleted " + in.Name + ".", err
})

type sessionStateArgs struct {
	ID string `json:"id" doc:"default: the current one"`
}

var sessionStateGet = NewTool(Tool{
	Op: StateGet.Row, Name: "session_state_get", Title: "Read the state of a session", Use: "The JSON document of a session: state and preferences.",
	Shows: "session_id version document",
}, func(ctx context.Context, c *Call, in sessionStateArgs) (s amber.SessionState, text string, err error) {
	id, err := c.Host.NeedSession(in.ID)
	if err == nil {
		s, err = c.Store.States.LoadState(ctx, id)
	}
	if len(s.Document) > amber.MaxDocumentBytes {
		return s, "", amber.Errorf(amber.KindInvalid, "load session state", string(id), "the session state has %d bytes, want at most %d for a tool", len(s.Document), amber.MaxDocumentBytes).
			WithHint("amber session state get " + string(id))
	}
	return s, fmt.Sprintf("Version %d: %s", s.Version, clip.Marked(string(s.Document), shown.PageBytes)), err
})

type sessionStateSetArgs struct {
	ID        string          `json:"id" doc:"default: the current one"`
	Document  json.RawMessage `json:"document" need:"yes"`
	Merge     bool            `json:"merge"`
	IfVersion *int64          `json:"if_version" doc:"0: the session has no state yet"`
}

type sessionStateSaved struct {
	SessionID amber.SessionID `json:"session_id"`
	Version   int64           `json:"version"`
}

// sessionStateSet answers without the document: a merge would show fields to callers that may only write.
var sessionStateSet = NewTool(Tool{
	Op: StateSave.Row, Name: "session_state_set", Title: "Store the state of a session",
	Use: "Replace the state of a session; with merge only set the fields named, null removes one.", Hints: Destroys,
}, func(ctx context.Context, c *Call, in sessionStateSetArgs) (sessionStateSaved, string, error) {
	id, err := c.Host.NeedSession(in.ID)
	if err != nil {
		return sessionStateSaved{}, "", err
	}
	s, err := wire.UpdateState(ctx, c.Store.States, wire.StateUpdate{SessionID: id, Document: in.Document, Merge: in.Merge, IfVersion: in.IfVersion})
	c.Subject = string(s.SessionID)
	return sessionStateSaved{s.SessionID, s.Version}, fmt.Sprintf("Stored version %d.", s.Version), err
})
