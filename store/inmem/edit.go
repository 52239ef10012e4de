package inmem

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

var _ amber.Editor = (*Store)(nil)

// Edit implements [amber.Editor].
func (s *Store) Edit(ctx context.Context, r amber.EditRequest) (amber.Memory, error) {
	return run(ctx, s, "edit memory", func() (amber.Memory, error) {
		rec, err := s.liveRecord("edit memory", r.ID)
		if err != nil {
			return amber.Memory{}, err
		}
		prev := rec.present()
		if r.IfRevision != 0 && r.IfRevision != prev.Revision {
			return amber.Memory{}, conflict("edit memory", string(r.ID), fmt.Sprintf("the memory has revision %d, want %d", prev.Revision, r.IfRevision))
		}
		next, changed, err := r.Apply(prev)
		if err != nil {
			return amber.Memory{}, err
		}
		if !changed {
			return copyMemory(prev), nil
		}
		if twin := s.twinOf(next); twin != "" && !amber.SameKey(prev, next) {
			return amber.Memory{}, conflict("edit memory", string(r.ID), "memory "+string(twin)+" has the same content")
		}
		return s.revise(s.now(), amber.OpUpdate, copyMemory(next)), nil
	})
}

// Delete implements [amber.LongTerm].
func (s *Store) Delete(ctx context.Context, id amber.MemoryID) error {
	return do(ctx, s, "delete memory", func() error {
		r := s.records[id]
		if r == nil {
			return notFound("delete memory", string(id))
		}
		if r.live() {
			next, now := r.present(), s.now()
			next.DeletedAt = now
			s.revise(now, amber.OpDelete, next)
		}
		return nil
	})
}
