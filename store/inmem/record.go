package inmem

import (
	"github.com/amber-memory/amber"
)

// record is one memory with its history and what hangs on it. Stored records
// are never changed: a change stores a changed copy.
type record struct {
	revisions []amber.Memory // oldest first, never empty
	concepts  []string       // sorted
	passages  *[]passage     // of the present revision, made on first use
}

// present returns the newest revision.
func (r *record) present() amber.Memory { return r.revisions[len(r.revisions)-1] }

func (r *record) live() bool { return r.present().DeletedAt.IsZero() }

// revised returns the record with one more revision.
func (r *record) revised(m amber.Memory) *record {
	next := *r
	next.revisions = append(copyList(r.revisions), m)
	next.passages = nil
	return &next
}

// counted returns the record with one more duplicate counted.
func (r *record) counted() *record {
	next := *r
	next.revisions = copyList(r.revisions)
	next.revisions[len(next.revisions)-1].DuplicateCount++
	return &next
}

// liveRecord returns the record of a live memory.
func (s *Store) liveRecord(op string, id amber.MemoryID) (*record, error) {
	if r := s.records[id]; r != nil && r.live() {
		return r, nil
	}
	return nil, notFound(op, string(id))
}

// insert stores a new memory that has its dates.
func (s *Store) insert(now amber.Time, m amber.Memory) amber.Memory {
	m.Revision = 1
	m.Origin = s.origin(now, 1)
	return s.keep(now, m)
}

// keep stores a memory that is not there as it is.
func (s *Store) keep(now amber.Time, m amber.Memory) amber.Memory {
	s.records[m.ID] = &record{revisions: []amber.Memory{m}}
	s.log(now, amber.OpInsert, amber.ChangeMemory, string(m.ID), "", m.ContentDigest)
	return copyMemory(m)
}

// revise stores next as the newest revision of its memory.
func (s *Store) revise(now amber.Time, op amber.Op, next amber.Memory) amber.Memory {
	return s.reviseAt(now, now, op, next)
}

// reviseAt is revise for a revision that has a date of its own.
func (s *Store) reviseAt(now, at amber.Time, op amber.Op, next amber.Memory) amber.Memory {
	r := s.records[next.ID]
	prev := r.present()
	next.Revision = prev.Revision + 1
	next.Origin = s.origin(now, prev.Origin.Counter+1)
	next.UpdatedAt = at
	s.records[next.ID] = r.revised(next)
	newDigest := next.ContentDigest
	if op == amber.OpDelete {
		newDigest = ""
	}
	s.log(now, op, amber.ChangeMemory, string(next.ID), prev.ContentDigest, newDigest)
	return copyMemory(next)
}

// touched logs that something that hangs on a memory changed.
func (s *Store) touched(now amber.Time, id amber.MemoryID) {
	digest := s.records[id].present().ContentDigest
	s.log(now, amber.OpUpdate, amber.ChangeMemory, string(id), digest, digest)
}
