package httpapi

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// stateBody is a session state as it goes out. Inside of another document JSON
// keeps what a document says, but not its white space; one that has any goes
// along to the byte.
type stateBody struct {
	amber.SessionState
	Exact []byte `json:"exact,omitempty"`
}

func newStateBody(s amber.SessionState) stateBody {
	var compact bytes.Buffer
	if json.Compact(&compact, s.Document) == nil && bytes.Equal(compact.Bytes(), s.Document) {
		return stateBody{SessionState: s}
	}
	return stateBody{s, s.Document}
}

// saveState asks to store the state of a session.
type saveState struct {
	sessionID
	IfMatch string `header:"If-Match" doc:"the ETag of the stored value"`
	Body    struct {
		Document  json.RawMessage `json:"document,omitempty"`
		Exact     []byte          `json:"exact,omitempty"` // the document to the byte, in place of it
		IfVersion int64           `json:"if_version,omitempty"`
	} `body:"json"`
}

// document is the document to the byte. The error is of kind invalid.
func (s saveState) document() (json.RawMessage, error) {
	switch b := s.Body; {
	case b.Exact == nil:
		return b.Document, nil
	case b.Document != nil:
		return nil, invalid("field document is given twice")
	default:
		return b.Exact, nil
	}
}

// stateRoutes serve the state of sessions.
func stateRoutes(a *API) {
	const path = agentPath + "/sessions/{id}/state"
	handle(a, operation{
		id: "state.get", bound: true, method: "GET", path: path, scope: wire.TokenRead, summary: "Read the state of a session",
	}, func(ctx context.Context, ag *server.Agent, in sessionID) (answer[stateBody], error) {
		s, err := ag.Store.States.LoadState(ctx, in.id())
		return tagged(newStateBody(s), revision(s.Version), err)
	})

	handle(a, operation{
		id: "state.save", bound: true, method: "PUT", path: path, scope: wire.TokenWrite, mutates: true, echo: []string{"session_id"},
		summary: "Store the state of a session over the expected version; 0 means that the session has no state yet",
	}, func(ctx context.Context, ag *server.Agent, in saveState) (answer[stateBody], error) {
		doc, err := in.document()
		if err != nil {
			return answer[stateBody]{}, err
		}
		version, err := expectedExactly(in.IfMatch, in.Body.IfVersion)
		if err != nil {
			return answer[stateBody]{}, err
		}
		s, err := ag.Store.States.SaveState(ctx, in.id(), doc, version)
		return tagged(newStateBody(s), revision(s.Version), err)
	})

	handle(a, operation{
		id: "state.delete", bound: true, method: "DELETE", path: path, scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Remove the state of a session",
	}, func(ctx context.Context, ag *server.Agent, in sessionID) (answer[nothing], error) {
		return done(ag.Store.States.DeleteState(ctx, in.id()))
	})
}

// saveLoop asks to store the suspended loop of a session.
type saveLoop struct {
	sessionID
	IfMatch string         `header:"If-Match" doc:"the ETag of the stored value"`
	Body    amber.LoopSave `body:"json"`
}

// loopRoutes serve the suspended loops of sessions.
func loopRoutes(a *API) {
	const path = agentPath + "/sessions/{id}/loop"
	handle(a, operation{
		id: "loop.get", bound: true, method: "GET", path: path, scope: wire.TokenRead, summary: "Read the suspended loop of a session",
	}, func(ctx context.Context, ag *server.Agent, in sessionID) (answer[amber.PendingLoop], error) {
		l, err := ag.Store.Loops.LoadLoop(ctx, in.id())
		return tagged(l, revision(l.Revision), err)
	})

	handle(a, operation{
		id: "loop.save", bound: true, method: "PUT", path: path, scope: wire.TokenWrite, mutates: true, echo: []string{"session_id", "run_id"},
		summary: "Store the suspended loop of a session over the expected run and revision; 0 means that the session has no loop yet",
	}, func(ctx context.Context, ag *server.Agent, in saveLoop) (answer[amber.PendingLoop], error) {
		l := in.Body
		if err := agree("session", in.ID, &l.SessionID); err != nil {
			return answer[amber.PendingLoop]{}, err
		}
		var err error
		if l.IfRevision, err = expectedExactly(in.IfMatch, l.IfRevision); err != nil {
			return answer[amber.PendingLoop]{}, err
		}
		saved, err := ag.Store.Loops.SaveLoop(ctx, l)
		return tagged(saved, revision(saved.Revision), err)
	})

	type clearLoop struct {
		sessionID
		RunID string `query:"run_id" doc:"only the loop of this run"`
	}
	handle(a, operation{
		id: "loop.clear", bound: true, method: "DELETE", path: path, scope: wire.TokenWrite, mutates: true, repeatable: true,
		summary: "Remove the suspended loop of a session",
	}, func(ctx context.Context, ag *server.Agent, in clearLoop) (answer[nothing], error) {
		return done(ag.Store.Loops.ClearLoop(ctx, in.id(), in.RunID))
	})
}

// expectedExactly is expected where any version will not do.
func expectedExactly(header string, body int64) (int64, error) {
	if matches(header, "*") {
		return 0, invalid("If-Match must name one tag")
	}
	return expected(header, body)
}
