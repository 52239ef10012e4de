package mcpapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// stateTools are for programs that keep where they stand: documents of the agent,
// and the state of a session.
func stateTools() []*tool {
	return []*tool{
		define("state_list", "List state documents", "Names and revisions of the agent's small state documents.",
			reading.whole(), hints{}, object(), object(list("documents", documentSchema())), listState),
		define("state_get", "Read a state document", "One state document and its revision.",
			reading.whole(), hints{}, object(must(str("name"))), documentSchema(), getState),
		define("state_set", "Store a state document", "Store a small JSON document by name; if_revision or if_absent refuse to overwrite what others stored.",
			writing.whole(), hints{destroys: true, again: true},
			object(must(str("name", "a-z, 0-9, . _ -")), must(anyJSON("document")), str("if_revision"), flag("if_absent")), documentSchema(), setState),
		define("state_delete", "Delete a state document", "Delete a state document, with if_revision only that revision.",
			writing.whole(), hints{destroys: true}, object(must(str("name")), str("if_revision")), object(str("name"), flag("deleted")), deleteState),
		define("session_state_get", "Read the state of a session", "The JSON document of a session: state and preferences.",
			reading, hints{}, object(str("id", "default: the current one")), sessionStateSchema(), getSessionState),
		define("session_state_set", "Store the state of a session",
			"Replace the state of a session; with merge only set the fields named, null removes one.",
			writing, hints{destroys: true},
			object(str("id", "default: the current one"), must(anyJSON("document")), flag("merge"), num("if_version", "0: the session has no state yet")),
			object(str("session_id"), num("version")), setSessionState),
	}
}

// anyJSON is a property that takes any JSON value.
func anyJSON(name string) prop {
	return prop{name: name, schema: &jsonschema.Schema{Description: "any JSON"}}
}

func documentSchema() *jsonschema.Schema {
	return object(str("name"), str("revision"), num("bytes"), anyJSON("document"), str("damage"))
}

func sessionStateSchema() *jsonschema.Schema {
	return object(str("session_id"), num("version"), anyJSON("document"))
}

func listState(ctx context.Context, _ *bound, a *op.Call, _ struct{}) (answer, error) {
	docs, err := a.Store.Documents.ListDocuments(ctx)
	if err != nil {
		return answer{}, err
	}
	lines := []string{}
	for _, d := range docs {
		line := fmt.Sprintf("%s, %s, revision %s", d.Name, words.Count(d.Bytes, "byte", "bytes"), d.Revision)
		if d.Damage != "" {
			line = d.Name + " is damaged"
		}
		lines = append(lines, line)
	}
	return answer{text: listed(lines, "There are no state documents."), data: fields{"documents": docs}}, nil
}

type documentArgs struct {
	Name       string
	Document   json.RawMessage
	IfRevision string `json:"if_revision"`
	IfAbsent   bool   `json:"if_absent"`
}

func getState(ctx context.Context, _ *bound, a *op.Call, in documentArgs) (answer, error) {
	d, err := a.Store.Documents.ReadDocument(ctx, in.Name)
	return answer{text: fmt.Sprintf("%s, revision %s: %s", d.Name, d.Revision, clip(string(d.Document), pageBytes)), data: d, subject: d.Name}, err
}

// setState answers without the document, which the caller has.
func setState(ctx context.Context, _ *bound, a *op.Call, in documentArgs) (answer, error) {
	d, err := a.Store.Documents.PutDocument(ctx, amber.DocumentWrite{Name: in.Name, Document: in.Document, IfRevision: in.IfRevision, IfAbsent: in.IfAbsent})
	d.Document = nil
	return answer{text: fmt.Sprintf("Stored %s, revision %s.", d.Name, d.Revision), data: d, subject: d.Name}, err
}

func deleteState(ctx context.Context, _ *bound, a *op.Call, in documentArgs) (answer, error) {
	if err := a.Store.Documents.DeleteDocument(ctx, in.Name, in.IfRevision); err != nil {
		return answer{}, err
	}
	return answer{text: "Deleted " + in.Name + ".", data: fields{"name": in.Name, "deleted": true}, subject: in.Name}, nil
}

type sessionStateArgs struct {
	ID        string
	Document  json.RawMessage
	Merge     bool
	IfVersion *integer `json:"if_version"`
}

func getSessionState(ctx context.Context, b *bound, a *op.Call, in sessionStateArgs) (answer, error) {
	id, err := b.needSession(in.ID)
	if err != nil {
		return answer{}, err
	}
	s, err := a.Store.States.LoadState(ctx, id)
	if err != nil {
		return answer{}, err
	}
	if len(s.Document) > amber.MaxDocumentBytes {
		return answer{}, amber.Errorf(amber.KindInvalid, "load session state", string(id), "the session state has %d bytes, want at most %d for a tool", len(s.Document), amber.MaxDocumentBytes).
			WithHint("amber session state get " + string(id))
	}
	return answer{text: fmt.Sprintf("Version %d: %s", s.Version, clip(string(s.Document), pageBytes)), data: s, subject: string(id)}, nil
}

// setSessionState answers without the document: a merge would show fields to
// callers that may only write.
func setSessionState(ctx context.Context, b *bound, a *op.Call, in sessionStateArgs) (answer, error) {
	id, err := b.needSession(in.ID)
	if err != nil {
		return answer{}, err
	}
	u := wire.StateUpdate{SessionID: id, Document: in.Document, Merge: in.Merge}
	if in.IfVersion != nil {
		u.IfVersion = new(int64(*in.IfVersion))
	}
	s, err := wire.UpdateState(ctx, a.Store.States, u)
	return answer{
		text: fmt.Sprintf("Stored version %d.", s.Version), data: fields{"session_id": s.SessionID, "version": s.Version}, subject: string(s.SessionID),
	}, err
}
