package op

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// SessionState is a session state as it goes out. Inside of another document JSON keeps what a document says, but not its white space;
// one that has any goes along to the byte.
type SessionState struct {
	amber.SessionState
	Exact []byte `json:"exact,omitempty"`
}

func newSessionState(s amber.SessionState) SessionState {
	if isCompact(s.Document) {
		return SessionState{SessionState: s}
	}
	return SessionState{s, s.Document}
}

// isCompact reports whether a document has no white space that JSON would not keep.
func isCompact(doc json.RawMessage) bool {
	var compact bytes.Buffer
	return json.Compact(&compact, doc) == nil && bytes.Equal(compact.Bytes(), doc)
}

// StateSaveIn asks to store the state of a session.
type StateSaveIn struct {
	SessionID
	IfMatch string `header:"If-Match" doc:"the ETag of the stored value"`
	Body    struct {
		Document  json.RawMessage `json:"document,omitempty"`
		Exact     []byte          `json:"exact,omitempty"` // the document to the byte, in place of it
		IfVersion int64           `json:"if_version,omitempty"`
	} `body:"json"`
}

// document is the document to the byte. The error is of kind invalid.
func (s StateSaveIn) document() (json.RawMessage, error) {
	switch b := s.Body; {
	case b.Exact == nil:
		return b.Document, nil
	case b.Document != nil:
		return nil, Invalid("field document is given twice")
	default:
		return b.Exact, nil
	}
}

// StateGet reads the state of a session.
var StateGet = do(Row{
	ID: "state.get", HTTP: "GET /sessions/{id}/state", Scope: wire.TokenRead, Kind: Bound | Tagged, Holds: HoldsState, Sure: []string{"session_id=id"}, Doc: "Read the state of a session",
}, func(ctx context.Context, c *Call, in SessionID) (SessionState, error) {
	return c.state(c.Store.States.LoadState(ctx, in.id()))
})

// StateSave stores the state of a session.
var StateSave = do(Row{
	ID: "state.save", HTTP: "PUT /sessions/{id}/state", Scope: wire.TokenWrite, Kind: Changes | Bound | Tagged, Echo: []string{"session_id"}, Holds: HoldsState,
	Sure: []string{"session_id=id"}, Doc: "Store the state of a session over the expected version; 0 means that the session has no state yet",
}, func(ctx context.Context, c *Call, in StateSaveIn) (SessionState, error) {
	doc, err := in.document()
	if err != nil {
		return SessionState{}, err
	}
	version, err := expectedExactly(in.IfMatch, in.Body.IfVersion)
	if err != nil {
		return SessionState{}, err
	}
	return c.state(c.Store.States.SaveState(ctx, in.id(), doc, version))
})

func (c *Call) state(s amber.SessionState, err error) (SessionState, error) {
	c.Tag = revision(s.Version)
	return newSessionState(s), err
}

// StateDelete removes the state of a session.
var StateDelete = do(Row{
	ID: "state.delete", HTTP: "DELETE /sessions/{id}/state", Scope: wire.TokenWrite, Kind: Changes | Repeats | Bound | Keyed, Doc: "Remove the state of a session",
}, func(ctx context.Context, c *Call, in SessionID) (None, error) {
	return None{}, c.Store.States.DeleteState(ctx, in.id())
})

// LoopSaveIn asks to store the suspended loop of a session.
type LoopSaveIn struct {
	SessionID
	IfMatch string         `header:"If-Match" doc:"the ETag of the stored value"`
	Body    amber.LoopSave `body:"json" repeats:"session_id=id"`
}

// LoopGet reads the suspended loop of a session.
var LoopGet = do(Row{
	ID: "loop.get", HTTP: "GET /sessions/{id}/loop", Scope: wire.TokenRead, Kind: Bound | Tagged, Holds: HoldsState, Sure: []string{"session_id=id"}, Doc: "Read the suspended loop of a session",
}, func(ctx context.Context, c *Call, in SessionID) (amber.PendingLoop, error) {
	l, err := c.Store.Loops.LoadLoop(ctx, in.id())
	c.Tag = revision(l.Revision)
	return l, err
})

// LoopSave stores the suspended loop of a session.
var LoopSave = do(Row{
	ID: "loop.save", HTTP: "PUT /sessions/{id}/loop", Scope: wire.TokenWrite, Kind: Changes | Bound | Tagged, Echo: []string{"session_id", "run_id"}, Holds: HoldsState,
	Sure: []string{"session_id=id"}, Doc: "Store the suspended loop of a session over the expected run and revision; 0 means that the session has no loop yet",
}, func(ctx context.Context, c *Call, in LoopSaveIn) (amber.PendingLoop, error) {
	l := in.Body
	var err error
	if l.IfRevision, err = expectedExactly(in.IfMatch, l.IfRevision); err != nil {
		return amber.PendingLoop{}, err
	}
	saved, err := c.Store.Loops.SaveLoop(ctx, l)
	c.Tag = revision(saved.Revision)
	return saved, err
})

// LoopClearIn asks to remove the suspended loop of a session.
type LoopClearIn struct {
	SessionID
	RunID string `query:"run_id" doc:"only the loop of this run"`
}

// LoopClear removes the suspended loop of a session.
var LoopClear = do(Row{
	ID: "loop.clear", HTTP: "DELETE /sessions/{id}/loop", Scope: wire.TokenWrite, Kind: Changes | Repeats | Bound | Keyed, Doc: "Remove the suspended loop of a session",
}, func(ctx context.Context, c *Call, in LoopClearIn) (None, error) {
	return None{}, c.Store.Loops.ClearLoop(ctx, in.id(), in.RunID)
})
