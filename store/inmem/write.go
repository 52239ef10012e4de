package inmem

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/amber-memory/amber"
)

var (
	_ amber.LongTerm    = (*Store)(nil)
	_ amber.BatchWriter = (*Store)(nil)
)

// answerFor is how long an answer is kept for its idempotency key.
const answerFor = 7 * 24 * time.Hour

// answer is what a write with an idempotency key was told.
type answer struct {
	digest  string // of the request; "" once the memory was erased
	ack     amber.WriteAck
	expires amber.Time
}

// Write implements [amber.LongTerm].
func (s *Store) Write(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
	r, err := r.Normalize()
	if err != nil {
		return amber.WriteAck{}, err
	}
	return run(ctx, s, "write memory", func() (amber.WriteAck, error) { return s.write(s.now(), r) })
}

// WriteBatch implements [amber.BatchWriter].
func (s *Store) WriteBatch(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
	if n := len(rs); n > amber.MaxBatchSize {
		return nil, invalid("write memories", "", fmt.Sprintf("the batch has %d memories, the limit is %d", n, amber.MaxBatchSize))
	}
	normal := make([]amber.WriteRequest, len(rs))
	for i, r := range rs {
		n, err := r.Normalize()
		if err != nil {
			return nil, itemError(i, err)
		}
		normal[i] = n
	}
	return run(ctx, s, "write memories", func() ([]amber.WriteAck, error) { return s.writeAll(s.now(), normal) })
}

// writeAll writes every request, or none if one is refused.
func (s *Store) writeAll(now amber.Time, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
	records, answers, changes := maps.Clone(s.records), maps.Clone(s.answers), s.changes
	acks := make([]amber.WriteAck, len(rs))
	for i, r := range rs {
		ack, err := s.write(now, r)
		if err != nil {
			s.records, s.answers, s.changes = records, answers, changes
			return nil, itemError(i, err)
		}
		acks[i] = ack
	}
	return acks, nil
}

func itemError(i int, err error) error {
	return &amber.Error{Op: fmt.Sprintf("write memories: item %d", i+1), Kind: amber.KindOf(err), Err: err}
}

// write stores one normalised request, or repeats the answer its key was
// given before.
func (s *Store) write(now amber.Time, r amber.WriteRequest) (amber.WriteAck, error) {
	key := r.IdempotencyKey
	if a, known := s.answers[key]; key != "" && known && now.Before(a.expires) {
		if a.digest == "" {
			return amber.WriteAck{}, &amber.Error{Op: "write memory", Kind: amber.KindConflict, ID: key, Err: amber.ErrKeyErased}
		}
		if a.digest != r.Digest() {
			return amber.WriteAck{}, conflict("write memory", key, "the idempotency key was used before with another request")
		}
		return copyAck(a.ack), nil
	}
	if err := r.CheckDates(now); err != nil {
		return amber.WriteAck{}, err
	}
	ack, err := s.place(now, r)
	if err == nil && key != "" {
		maps.DeleteFunc(s.answers, func(_ string, a answer) bool { return !now.Before(a.expires) })
		s.answers[key] = answer{r.Digest(), copyAck(ack), now.Add(answerFor)}
	}
	return ack, err
}

// place finds where a request belongs: under its own id, to its topic's memory, to
// an equal memory, or to a new one.
func (s *Store) place(now amber.Time, r amber.WriteRequest) (amber.WriteAck, error) {
	if r.ID != "" {
		return s.placeRecord(now, r)
	}
	m := copyMemory(r.AsMemory())
	m.CreatedAt, m.UpdatedAt = r.Dates(now)
	if r.Topic != "" {
		return s.placeTopic(now, r, m)
	}
	if twin := s.twinOf(m); twin != "" {
		return s.countDuplicate(now, r, twin), nil
	}
	id, err := s.newID(now)
	if err != nil {
		return amber.WriteAck{}, err
	}
	m.ID = amber.MemoryID(id)
	return amber.WriteAck{Memory: s.insert(now, m)}, nil
}

// placeRecord stores a memory as it was recorded elsewhere.
func (s *Store) placeRecord(now amber.Time, r amber.WriteRequest) (amber.WriteAck, error) {
	if rec := s.records[r.ID]; rec != nil {
		if err := r.CheckStored(rec.present()); err != nil {
			return amber.WriteAck{}, err
		}
		return amber.WriteAck{Memory: copyMemory(rec.present()), Deduplicated: true}, nil
	}
	if _, gone := s.erased[r.ID]; gone {
		return amber.WriteAck{}, r.WasErased()
	}
	m := copyMemory(r.Fill(r.AsMemory(), now))
	if m.Origin == (amber.Origin{}) {
		m.Origin = s.origin(now, 1)
	}
	lead := amber.StampAt(now.Add(amber.MaxClockLead * time.Millisecond).Time())
	s.changes.stamp = max(s.changes.stamp, min(m.Origin.Clock, lead))
	return amber.WriteAck{Memory: s.keep(now, m)}, nil
}

func (s *Store) placeTopic(now amber.Time, r amber.WriteRequest, m amber.Memory) (amber.WriteAck, error) {
	m.ID = s.topicID(m)
	rec := s.records[m.ID]
	if rec == nil {
		return amber.WriteAck{Memory: s.insert(now, m)}, nil
	}
	prev := rec.present()
	if rec.live() && prev.ContentDigest == m.ContentDigest && prev.Kind == m.Kind && prev.Title == m.Title {
		return s.countDuplicate(now, r, m.ID), nil
	}
	if rec.live() {
		if err := prev.Trust.MayChange(m.Trust, "write memory", string(m.ID)); err != nil {
			return amber.WriteAck{}, err
		}
	}
	m.CreatedAt, m.DuplicateCount, m.Foreign = prev.CreatedAt, prev.DuplicateCount, prev.Foreign
	return amber.WriteAck{Memory: s.reviseAt(now, cmp.Or(r.UpdatedAt, now), amber.OpUpdate, m)}, nil
}

// topicID returns the id of m's topic, in the first epoch that was not
// erased, or in a later one that a record brought.
func (s *Store) topicID(m amber.Memory) amber.MemoryID {
	for epoch := 0; ; epoch++ {
		id := amber.TopicID(m.ProjectID, m.Scope, m.Identity(), m.Topic, epoch)
		if _, gone := s.erased[id]; gone {
			continue
		}
		if s.records[id] != nil {
			return id
		}
		for _, later := range m.LaterTopicIDs(epoch) {
			if s.records[later] != nil {
				return later
			}
		}
		return id
	}
}

// twinOf returns the oldest other live memory that says the same as m, or "".
func (s *Store) twinOf(m amber.Memory) amber.MemoryID {
	var twin amber.Memory
	for id, r := range s.records {
		c := r.present()
		if id == m.ID || !r.live() || c.ContentDigest != m.ContentDigest || c.Kind != m.Kind ||
			c.Scope != m.Scope || c.Identity() != m.Identity() || c.Title != m.Title {
			continue
		}
		if twin.ID == "" || compareCreated(c, twin) < 0 {
			twin = c
		}
	}
	return twin.ID
}

// countDuplicate notes that a memory was written once more, and adds what the
// write adds to it as a revision.
func (s *Store) countDuplicate(now amber.Time, r amber.WriteRequest, id amber.MemoryID) amber.WriteAck {
	next, added, left := r.Merge(s.records[id].present())
	ack := amber.WriteAck{Deduplicated: true, Added: added, NotTaken: left}
	if len(added) > 0 {
		next.DuplicateCount++
		ack.Memory = s.revise(now, amber.OpUpdate, copyMemory(next))
		return ack
	}
	s.records[id] = s.records[id].counted()
	s.touched(now, id)
	ack.Memory = copyMemory(s.records[id].present())
	return ack
}
