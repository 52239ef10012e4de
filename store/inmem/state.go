package inmem

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
)

var _ amber.SessionStates = (*Store)(nil)

// SaveState implements [amber.SessionStates].
func (s *Store) SaveState(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (amber.SessionState, error) {
	if err := amber.CheckState(id, doc); err != nil {
		return amber.SessionState{}, err
	}
	return run(ctx, s, "save session state", func() (amber.SessionState, error) {
		stored, found := s.states[id]
		if stored.Version != ifVersion {
			return amber.SessionState{}, conflict("save session state", string(id), fmt.Sprintf("the state has version %d, want %d", stored.Version, ifVersion))
		}
		now := s.now()
		next := amber.SessionState{SessionID: id, Document: copyJSON(doc), Version: ifVersion + 1, UpdatedAt: now}
		s.states[id] = next
		s.log(now, saved(found), amber.ChangeState, string(id), stateDigest(stored), stateDigest(next))
		return copyState(next), nil
	})
}

// LoadState implements [amber.SessionStates].
func (s *Store) LoadState(ctx context.Context, id amber.SessionID) (amber.SessionState, error) {
	return run(ctx, s, "load session state", func() (amber.SessionState, error) {
		return lookup("load session state", string(id), s.states, id, copyState)
	})
}

// DeleteState implements [amber.SessionStates].
func (s *Store) DeleteState(ctx context.Context, id amber.SessionID) error {
	return do(ctx, s, "delete session state", func() error {
		s.dropState(s.now(), id)
		return nil
	})
}

// dropState removes the document of a session and logs that, if there is one.
func (s *Store) dropState(now amber.Time, id amber.SessionID) {
	if st, found := s.states[id]; found {
		delete(s.states, id)
		s.log(now, amber.OpDelete, amber.ChangeState, string(id), stateDigest(st), "")
	}
}

// stateDigest returns the digest of a document, "" where there is none.
func stateDigest(st amber.SessionState) string {
	if st.Version == 0 {
		return ""
	}
	return amber.ContentDigest(string(st.Document))
}
