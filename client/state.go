package client

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// states are the states and suspended loops of sessions.
type states struct{ *Agent }

// savedState is the state with the document to the byte. Errors: damaged when the
// bytes are another document.
func savedState(s op.SessionState, err error) (amber.SessionState, error) {
	if err == nil {
		s.Document, err = exactly(string(s.SessionID), "the document", s.Document, s.Exact)
	}
	switch {
	case err != nil:
		return amber.SessionState{}, err
	case s.Document == nil:
		return amber.SessionState{}, incomplete("document")
	}
	return s.SessionState, nil
}

// exactly returns a part of an answer to the byte: where it is not compact, exact has its bytes. Errors: damaged when exact is another document.
func exactly(id, what string, doc json.RawMessage, exact []byte) (json.RawMessage, error) {
	if exact == nil {
		return doc, nil
	}
	var compact bytes.Buffer
	if json.Compact(&compact, exact) != nil || !bytes.Equal(compact.Bytes(), doc) {
		return nil, amber.Errorf(amber.KindDamaged, "read answer", id, "%s does not match its bytes", what)
	}
	return exact, nil
}

// SaveState implements [amber.SessionStates]. The document goes out to the
// byte: inside of another document JSON would drop its white space.
func (s states) SaveState(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (amber.SessionState, error) {
	if err := amber.CheckState(id, doc); err != nil {
		return amber.SessionState{}, err
	}
	in := op.StateSaveIn{SessionID: sessionID(id)}
	in.Body.Exact, in.Body.IfVersion = doc, ifVersion
	return savedState(op.StateSave.Call(ctx, s, in))
}

// LoadState implements [amber.SessionStates].
func (s states) LoadState(ctx context.Context, id amber.SessionID) (amber.SessionState, error) {
	return savedState(op.StateGet.Call(ctx, s, sessionID(id)))
}

// DeleteState implements [amber.SessionStates].
func (s states) DeleteState(ctx context.Context, id amber.SessionID) error {
	return done(op.StateDelete.Call(ctx, s, sessionID(id)))
}

// SaveLoop implements [amber.Loops].
func (s states) SaveLoop(ctx context.Context, l amber.LoopSave) (amber.PendingLoop, error) {
	l, err := l.Normalize()
	if err != nil {
		return amber.PendingLoop{}, err
	}
	return checkedLoop(op.LoopSave.Call(ctx, s, op.LoopSaveIn{SessionID: sessionID(l.SessionID), Body: l}))
}

// LoadLoop implements [amber.Loops].
func (s states) LoadLoop(ctx context.Context, id amber.SessionID) (amber.PendingLoop, error) {
	return checkedLoop(op.LoopGet.Call(ctx, s, sessionID(id)))
}

// checkedLoop compares the state of a loop with its digest, as every backend
// does.
func checkedLoop(l amber.PendingLoop, err error) (amber.PendingLoop, error) {
	if err == nil && amber.ContentDigest(string(l.State)) != l.Digest {
		err = amber.Errorf(amber.KindDamaged, "read answer", string(l.SessionID), "the state does not match its digest")
	}
	if err != nil {
		return amber.PendingLoop{}, err
	}
	return l, nil
}

// ClearLoop implements [amber.Loops].
func (s states) ClearLoop(ctx context.Context, id amber.SessionID, runID string) error {
	return done(op.LoopClear.Call(ctx, s, op.LoopClearIn{SessionID: sessionID(id), RunID: runID}))
}

// documents are the runtime state of an agent.
type documents struct{ *Agent }

// PutDocument implements [amber.Documents].
func (d documents) PutDocument(ctx context.Context, w amber.DocumentWrite) (amber.Document, error) {
	w, err := w.Normalize()
	if err != nil {
		return amber.Document{}, err
	}
	in := op.DocumentPutIn{DocumentName: op.DocumentName{Name: w.Name}}
	in.Body.Name, in.Body.Document, in.Body.IfRevision, in.Body.IfAbsent = w.Name, w.Document, w.IfRevision, w.IfAbsent
	return checkedDocument(op.DocumentPut.Call(ctx, d, in))
}

// ReadDocument implements [amber.Documents].
func (d documents) ReadDocument(ctx context.Context, name string) (amber.Document, error) {
	if err := amber.CheckDocumentName(name); err != nil {
		return amber.Document{}, err
	}
	return checkedDocument(op.DocumentGet.Call(ctx, d, op.DocumentName{Name: name}))
}

// checkedDocument compares a document with its revision, as every backend does.
func checkedDocument(d amber.Document, err error) (amber.Document, error) {
	switch {
	case err != nil:
		return amber.Document{}, err
	case d.Document == nil:
		return amber.Document{}, incomplete("document")
	case amber.ContentDigest(string(d.Document)) != d.Revision:
		return amber.Document{}, amber.Errorf(amber.KindDamaged, "read answer", d.Name, "the document does not match its revision")
	}
	return d, nil
}

// ListDocuments implements [amber.Documents].
func (d documents) ListDocuments(ctx context.Context) ([]amber.Document, error) {
	return list(op.DocumentList.Call(ctx, d, op.None{}))
}

// DeleteDocument implements [amber.Documents].
func (d documents) DeleteDocument(ctx context.Context, name, ifRevision string) error {
	if err := amber.CheckDocumentName(name); err != nil {
		return err
	}
	if err := amber.CheckRevision(ifRevision); err != nil {
		return err
	}
	return done(op.DocumentDelete.Call(ctx, d, op.DocumentDeleteIn{DocumentName: op.DocumentName{Name: name}, IfRevision: ifRevision}))
}
