package wire

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
)

// StateUpdate asks to change the state of a session, where its preferences are
// kept too.
type StateUpdate struct {
	SessionID amber.SessionID
	Document  json.RawMessage
	// Merge lays Document over what is stored, as RFC 7396 says: fields that it
	// names are replaced, objects field by field, and a field that is null is
	// removed. Both have to be objects; no state is an empty one.
	Merge bool
	// IfVersion is the version that the update replaces, 0 for none; nil for
	// whatever is stored.
	IfVersion *int64
}

// stateTries is how often an update is tried that others come before.
const stateTries = 16

// UpdateState changes the state of a session in one step: what others store
// between the read and the write is never lost. Errors: invalid; conflict when
// IfVersion is not what is stored, or when others come before again and again;
// those of s.
func UpdateState(ctx context.Context, s amber.SessionStates, u StateUpdate) (amber.SessionState, error) {
	if err := amber.CheckState(u.SessionID, u.Document); err != nil {
		return amber.SessionState{}, err
	}
	for try := 1; ; try++ {
		stored, err := s.LoadState(ctx, u.SessionID)
		if err != nil && amber.KindOf(err) != amber.KindNotFound {
			return amber.SessionState{}, err
		}
		version := stored.Version
		if u.IfVersion != nil {
			version = *u.IfVersion
		}
		doc := u.Document
		if u.Merge {
			if doc, err = mergeState(stored.Document, u.Document); err != nil {
				return amber.SessionState{}, err
			}
		}
		saved, err := s.SaveState(ctx, u.SessionID, doc, version)
		if amber.KindOf(err) != amber.KindConflict || u.IfVersion != nil || try == stateTries {
			return saved, err
		}
	}
}

// mergeState lays a patch over a state. The error is of kind invalid.
func mergeState(stored, patch json.RawMessage) (json.RawMessage, error) {
	const op = "merge session state"
	if !isObject(patch) {
		return nil, amber.Errorf(amber.KindInvalid, op, "", "the document is not an object")
	}
	if len(stored) > 0 && !isObject(stored) {
		return nil, amber.Errorf(amber.KindInvalid, op, "", "the stored state is not an object: replace it as a whole")
	}
	return merged(stored, patch, maxMergeDepth)
}

// maxMergeDepth bounds how deep objects are laid over each other: every level
// reads what is below it.
const maxMergeDepth = 32

// merged is RFC 7396. Values are not decoded, so numbers stay what they are.
func merged(target, patch json.RawMessage, depth int) (json.RawMessage, error) {
	if !isObject(patch) {
		return patch, nil
	}
	if depth == 0 {
		return nil, amber.Errorf(amber.KindInvalid, "merge session state", "", "objects are nested deeper than %d levels", maxMergeDepth)
	}
	fields, changes := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, &amber.Error{Op: "merge session state", Kind: amber.KindInvalid, Err: err}
	}
	if isObject(target) {
		if err := json.Unmarshal(target, &fields); err != nil {
			return nil, &amber.Error{Op: "merge session state", Kind: amber.KindInvalid, Err: err}
		}
	}
	for name, change := range changes {
		if bytes.Equal(bytes.TrimSpace(change), []byte("null")) {
			delete(fields, name)
			continue
		}
		field, err := merged(fields[name], change, depth-1)
		if err != nil {
			return nil, err
		}
		fields[name] = field
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(fields); err != nil {
		return nil, &amber.Error{Op: "merge session state", Kind: amber.KindInvalid, Err: err}
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

func isObject(doc json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(doc), []byte("{")) }
