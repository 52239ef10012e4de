package inmem

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

var _ amber.Loops = (*Store)(nil)

// SaveLoop implements [amber.Loops].
func (s *Store) SaveLoop(ctx context.Context, l amber.LoopSave) (amber.PendingLoop, error) {
	l, err := l.Normalize()
	if err != nil {
		return amber.PendingLoop{}, err
	}
	return run(ctx, s, "save loop", func() (amber.PendingLoop, error) {
		stored, found := s.loops[l.SessionID]
		if err := checkLoop(stored, found, l); err != nil {
			return amber.PendingLoop{}, err
		}
		now := s.now()
		next := amber.PendingLoop{
			SessionID: l.SessionID, RunID: l.RunID, State: copyJSON(l.State),
			Revision: stored.Revision + 1, Digest: amber.ContentDigest(string(l.State)), CreatedAt: now,
		}
		if found && stored.RunID == l.RunID {
			next.CreatedAt = stored.CreatedAt
		}
		s.loops[l.SessionID] = next
		s.log(now, saved(found), amber.ChangeLoop, string(l.SessionID), stored.Digest, next.Digest)
		return copyLoop(next), nil
	})
}

// checkLoop checks that what is stored is what the caller believes.
func checkLoop(stored amber.PendingLoop, found bool, l amber.LoopSave) error {
	switch {
	case !found && l.IfRevision != 0:
		return conflict("save loop", string(l.SessionID), fmt.Sprintf("no loop is stored, want revision %d", l.IfRevision))
	case found && l.IfRevision != stored.Revision:
		return conflict("save loop", string(l.SessionID), fmt.Sprintf("the loop has revision %d, want %d", stored.Revision, l.IfRevision))
	case found && l.IfRunID != stored.RunID:
		return conflict("save loop", string(l.SessionID), "the stored loop belongs to another run")
	}
	return nil
}

// LoadLoop implements [amber.Loops].
func (s *Store) LoadLoop(ctx context.Context, id amber.SessionID) (amber.PendingLoop, error) {
	return run(ctx, s, "load loop", func() (amber.PendingLoop, error) {
		return lookup("load loop", string(id), s.loops, id, copyLoop)
	})
}

// ClearLoop implements [amber.Loops].
func (s *Store) ClearLoop(ctx context.Context, id amber.SessionID, runID string) error {
	return do(ctx, s, "clear loop", func() error {
		if l, found := s.loops[id]; found && runID != "" && l.RunID != runID {
			return conflict("clear loop", string(id), "the stored loop belongs to another run")
		}
		s.dropLoop(s.now(), id)
		return nil
	})
}

// dropLoop removes the loop of a session and logs that, if there is one.
func (s *Store) dropLoop(now amber.Time, id amber.SessionID) {
	if l, found := s.loops[id]; found {
		delete(s.loops, id)
		s.log(now, amber.OpDelete, amber.ChangeLoop, string(id), l.Digest, "")
	}
}
