package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/amber-memory/amber"
)

// states are the states and suspended loops of sessions.
type states struct{ *Agent }

// savedState is a state as the server tells it: the document, and where it is
// not compact also its bytes.
type savedState struct {
	amber.SessionState
	Exact []byte `json:"exact"`
}

// state is the state with the document to the byte. Errors: damaged when the
// bytes are another document.
func (s savedState) state() (amber.SessionState, error) {
	if s.Exact != nil {
		var compact bytes.Buffer
		if json.Compact(&compact, s.Exact) != nil || !bytes.Equal(compact.Bytes(), s.Document) {
			return amber.SessionState{}, amber.Errorf(amber.KindDamaged, "read answer", string(s.SessionID), "the document does not match its bytes")
		}
		s.Document = s.Exact
	}
	if s.Document == nil {
		return amber.SessionState{}, incomplete("document")
	}
	return s.SessionState, nil
}

// SaveState implements [amber.SessionStates]. The document goes out to the
// byte: inside of another document JSON would drop its white space.
func (s states) SaveState(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (amber.SessionState, error) {
	if err := amber.CheckState(id, doc); err != nil {
		return amber.SessionState{}, err
	}
	body := struct {
		Exact     []byte `json:"exact"`
		IfVersion int64  `json:"if_version,omitempty"`
	}{doc, ifVersion}
	saved, err := call[savedState](ctx, s.c, request{method: http.MethodPut, path: s.path("sessions", string(id), "state"), body: body})
	if err = about(saved.SessionID, id, err); err != nil {
		return amber.SessionState{}, err
	}
	return saved.state()
}

// LoadState implements [amber.SessionStates].
func (s states) LoadState(ctx context.Context, id amber.SessionID) (amber.SessionState, error) {
	saved, err := get[savedState](ctx, s.Agent, nil, "sessions", string(id), "state")
	if err = about(saved.SessionID, id, err); err != nil {
		return amber.SessionState{}, err
	}
	return saved.state()
}

// DeleteState implements [amber.SessionStates].
func (s states) DeleteState(ctx context.Context, id amber.SessionID) error {
	return s.remove(ctx, nil, "sessions", string(id), "state")
}

// SaveLoop implements [amber.Loops].
func (s states) SaveLoop(ctx context.Context, l amber.LoopSave) (amber.PendingLoop, error) {
	l, err := l.Normalize()
	if err != nil {
		return amber.PendingLoop{}, err
	}
	saved, err := call[amber.PendingLoop](ctx, s.c, request{method: http.MethodPut, path: s.path("sessions", string(l.SessionID), "loop"), body: l})
	return checkedLoop(saved, l.SessionID, err)
}

// LoadLoop implements [amber.Loops].
func (s states) LoadLoop(ctx context.Context, id amber.SessionID) (amber.PendingLoop, error) {
	l, err := get[amber.PendingLoop](ctx, s.Agent, nil, "sessions", string(id), "loop")
	return checkedLoop(l, id, err)
}

// checkedLoop compares the state of a loop with its digest, as every backend
// does.
func checkedLoop(l amber.PendingLoop, id amber.SessionID, err error) (amber.PendingLoop, error) {
	if err = about(l.SessionID, id, err); err != nil {
		return amber.PendingLoop{}, err
	}
	if amber.ContentDigest(string(l.State)) != l.Digest {
		return amber.PendingLoop{}, amber.Errorf(amber.KindDamaged, "read answer", string(id), "the state does not match its digest")
	}
	return l, nil
}

// ClearLoop implements [amber.Loops].
func (s states) ClearLoop(ctx context.Context, id amber.SessionID, runID string) error {
	return s.remove(ctx, newValues().text("run_id", runID).Values, "sessions", string(id), "loop")
}
