package amber

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
)

// PendingLoop is an agent loop that was suspended and can be resumed.
type PendingLoop struct {
	SessionID SessionID       `json:"session_id"`
	RunID     string          `json:"run_id"`
	State     json.RawMessage `json:"state_json"` // opaque to Amber, compact
	Revision  int64           `json:"revision"`
	Digest    string          `json:"digest"` // hex SHA-256 of State
	CreatedAt Time            `json:"created_at"`
	// Parked is set on loops that came back with a restore: the caller
	// decides whether it can still be resumed.
	Parked bool `json:"parked"`
}

// LoopSave asks to store the suspended loop of a session.
type LoopSave struct {
	SessionID SessionID       `json:"session_id" redact:"id,session id"`
	RunID     string          `json:"run_id" redact:"id,run id"`
	State     json.RawMessage `json:"state_json" redact:"raw"`
	// IfRunID and IfRevision are what the caller believes is stored now.
	// IfRevision 0 means nothing is. IfRunID defaults to RunID.
	IfRunID    string `json:"if_run_id,omitempty" redact:"-"`
	IfRevision int64  `json:"if_revision,omitempty"`
}

// Normalize fills defaults and checks the request. The error is of kind
// invalid.
func (l LoopSave) Normalize() (LoopSave, error) {
	l.IfRunID = orDefault(l.IfRunID, l.RunID)
	l.State = compact(l.State)
	return l, cmp.Or(
		CheckID("session id", string(l.SessionID)),
		CheckID("run id", l.RunID),
		CheckID("expected run id", l.IfRunID),
		checkJSON("state", l.State),
	)
}

// Loops keeps at most one suspended loop per session. Safe for concurrent
// use.
type Loops interface {
	// SaveLoop stores the loop if what is stored now matches IfRunID and
	// IfRevision, and returns it with its new revision. Errors: invalid,
	// conflict.
	SaveLoop(ctx context.Context, l LoopSave) (PendingLoop, error)
	// LoadLoop returns the session's loop. Errors: not_found; damaged when
	// the state does not match its digest.
	LoadLoop(ctx context.Context, id SessionID) (PendingLoop, error)
	// ClearLoop removes the session's loop; none is no error. With a run id
	// it removes only that run's. Errors: conflict when another run's loop is
	// stored.
	ClearLoop(ctx context.Context, id SessionID, runID string) error
}

// compact drops the white space between the tokens of a document, so that its digest does not depend on how it
// was laid out. Bytes that are not JSON stay as they are, for checkJSON to refuse.
func compact(b json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, b) != nil {
		return b
	}
	return out.Bytes()
}

// checkJSON checks a document Amber stores without looking inside.
func checkJSON(what string, b json.RawMessage) error {
	switch {
	case len(b) == 0:
		return Errorf(KindInvalid, "check "+what, "", "%s is empty, want JSON", what)
	case len(b) > MaxStateBytes:
		return Errorf(KindInvalid, "check "+what, "", "%s has %d bytes, the limit is %d", what, len(b), MaxStateBytes)
	case !json.Valid(b):
		return Errorf(KindInvalid, "check "+what, "", "%s is not valid JSON", what)
	}
	return CheckText(what, string(b), MaxStateBytes, Lenient)
}
