package sqlcore

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// idempotencyFor is how long an answer is kept for its key.
const idempotencyFor = 7 * 24 * time.Hour

const (
	countDuplicate = `UPDATE memories SET duplicate_count = duplicate_count + 1 WHERE id = ?`

	selectTopic = `SELECT EXISTS (SELECT 1 FROM erased WHERE id = ?1), EXISTS (SELECT 1 FROM memories WHERE id = ?1)`
	// selectLaterTopic returns the first of some ids that a memory has.
	selectLaterTopic = `SELECT m.id FROM json_each(?) AS j CROSS JOIN memories AS m
WHERE m.id = j.value AND NOT EXISTS (SELECT 1 FROM erased WHERE erased.id = m.id) ORDER BY j.key LIMIT 1`

	selectAnswer  = `SELECT digest, answer FROM idempotency WHERE operation = ? AND key = ? AND expires_at > ?`
	expireAnswers = `DELETE FROM idempotency WHERE (operation, key) IN (SELECT operation, key FROM idempotency WHERE expires_at <= ? LIMIT 100)`
)

var (
	_ amber.LongTerm    = (*Contracts)(nil)
	_ amber.BatchWriter = (*Contracts)(nil)
	_ amber.Editor      = (*Contracts)(nil)
)

// Write implements [amber.LongTerm].
func (s *Contracts) Write(ctx context.Context, r amber.WriteRequest) (ack amber.WriteAck, err error) {
	r, err = r.Normalize()
	if err != nil {
		return ack, err
	}
	fn := func(t *Tx) (err error) {
		if ack, err = t.Write(r); err == nil {
			t.about(ack)
		}
		return err
	}
	if d, ok := s.memory.(Asker); ok && r.IdempotencyKey == "" && r.ID == "" && r.Topic == "" {
		err = d.UpdateAsking(ctx, "write memory", "", []sqlrows.Twin{sqlrows.TwinOf(r.AsMemory())}, fn)
	} else {
		err = s.memory.Update(ctx, "write memory", "", fn)
	}
	if err != nil {
		return amber.WriteAck{}, err
	}
	return ack, nil
}

// WriteBatch implements [amber.BatchWriter].
func (s *Contracts) WriteBatch(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
	if len(rs) > amber.MaxBatchSize {
		return nil, amber.Errorf(amber.KindInvalid, "write memories", "", "the batch has %d memories, the limit is %d", len(rs), amber.MaxBatchSize)
	}
	normal := make([]amber.WriteRequest, len(rs))
	for i, r := range rs {
		n, err := r.Normalize()
		if err != nil {
			return nil, &amber.Error{Op: fmt.Sprintf("write memories: item %d", i+1), Kind: amber.KindOf(err), Err: err}
		}
		normal[i] = n
	}
	acks := make([]amber.WriteAck, len(normal))
	if len(normal) == 0 {
		return acks, nil
	}
	run := s.memory.Update
	if len(normal) > FewTogether {
		run = s.memory.UpdateAlone
	}
	err := run(ctx, "write memories", "", func(t *Tx) error {
		for i, r := range normal {
			ack, err := t.Write(r)
			if err != nil {
				return err
			}
			acks[i] = ack
			t.about(ack)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return acks, nil
}

// Write stores one normalised request: the answer of its idempotency key, or
// the memory that it is a record of, or its topic's memory, or an equal memory,
// or a new one.
func (t *Tx) Write(r amber.WriteRequest) (amber.WriteAck, error) {
	if r.IdempotencyKey != "" {
		ack, known, err := t.answered(r)
		if known || err != nil {
			return ack, err
		}
	}
	if err := r.CheckDates(t.Now); err != nil {
		return amber.WriteAck{}, err
	}
	write := t.writePlain
	switch {
	case r.ID != "":
		write = t.writeRecord
	case r.Topic != "":
		write = t.writeTopic
	}
	ack, err := write(r)
	if err == nil && r.IdempotencyKey != "" {
		err = t.answer(r, ack)
	}
	return ack, err
}

func (t *Tx) writePlain(r amber.WriteRequest) (amber.WriteAck, error) {
	m := r.AsMemory()
	id, found, err := t.DuplicateOf(m)
	if err != nil {
		return amber.WriteAck{}, err
	}
	if found {
		ack, err := t.writeAgain(r, id)
		if !t.SetAside("memories", err) { // a memory that cannot be read says nothing
			return ack, err
		}
	}
	fresh, err := t.NewID()
	if err != nil {
		return amber.WriteAck{}, err
	}
	return t.writeNew(r, m, amber.MemoryID(fresh))
}

// writeRecord stores a memory as it was recorded elsewhere.
func (t *Tx) writeRecord(r amber.WriteRequest) (ack amber.WriteAck, err error) {
	prev, found, err := t.Load(r.ID)
	if err != nil {
		return ack, err
	}
	if found {
		if err := r.CheckStored(prev); err != nil {
			return ack, err
		}
		return amber.WriteAck{Memory: prev, Deduplicated: true}, nil
	}
	var erased bool
	if err := t.Row(sqlrows.IsErased, r.ID).Scan(&erased); err != nil {
		return ack, err
	}
	if erased {
		return ack, r.WasErased()
	}
	m := r.Fill(r.AsMemory(), t.Now)
	if m.Origin == (amber.Origin{}) {
		m.Origin = t.Origin(1)
	}
	t.hear(m.Origin.Clock)
	if err := t.Insert(m); err != nil {
		return ack, err
	}
	return amber.WriteAck{Memory: m}, t.written(m.ID)
}

// writeTopic writes to the one memory of the request's topic, whose id is
// derived from its name.
func (t *Tx) writeTopic(r amber.WriteRequest) (amber.WriteAck, error) {
	m := r.AsMemory()
	var err error
	if m.ID, err = t.topicID(m); err != nil {
		return amber.WriteAck{}, err
	}
	prev, found, err := t.Load(m.ID)
	switch {
	case err != nil:
		return amber.WriteAck{}, err
	case !found:
		ack, err := t.writeNew(r, m, m.ID)
		if err == nil {
			err = t.written(m.ID)
		}
		return ack, err
	case prev.DeletedAt.IsZero() && prev.ContentDigest == m.ContentDigest && prev.Kind == m.Kind && prev.Title == m.Title:
		return t.writeAgain(r, m.ID)
	}
	if err := t.mayReplace("write memory", prev, m.Trust); err != nil {
		return amber.WriteAck{}, err
	}
	m.CreatedAt, m.DuplicateCount, m.Foreign = prev.CreatedAt, prev.DuplicateCount, prev.Foreign
	m, err = t.ReviseAt(cmp.Or(r.UpdatedAt, t.Now), amber.OpUpdate, prev, m)
	return amber.WriteAck{Memory: m}, err
}

// mayReplace checks that a caller of some trust may replace a memory, and every rival version of
// it: a revision settles their conflict. A version that was forgotten does not count any more.
func (t *Tx) mayReplace(op string, m amber.Memory, by amber.Trust) error {
	rivals, err := t.rivals(m)
	if err != nil {
		return err
	}
	for _, v := range append(rivals, m) {
		if !v.DeletedAt.IsZero() {
			continue
		}
		if err := v.Trust.MayChange(by, op, string(m.ID)); err != nil {
			return err
		}
	}
	return nil
}

// topicID returns the id of m's topic in the first epoch that was not erased, or in a later one that a record brought.
func (t *Tx) topicID(m amber.Memory) (amber.MemoryID, error) {
	for epoch := 0; ; epoch++ {
		id := amber.TopicID(m.ProjectID, m.Scope, m.Identity(), m.Topic, epoch)
		var erased, there bool
		switch err := t.Row(selectTopic, id).Scan(&erased, &there); {
		case err == nil && erased:
			continue
		case err != nil || there:
			return id, err
		}
		ids, err := sqlrows.Marshal(m.LaterTopicIDs(epoch))
		if err != nil {
			return "", err
		}
		later := id
		err = t.Row(selectLaterTopic, ids).Scan(&later)
		if sqlrows.Absent(err) {
			err = nil
		}
		return later, err
	}
}

func (t *Tx) writeNew(r amber.WriteRequest, m amber.Memory, id amber.MemoryID) (amber.WriteAck, error) {
	m.ID = id
	m.Revision = 1
	m.Origin = t.Origin(1)
	m.CreatedAt, m.UpdatedAt = r.Dates(t.Now)
	return amber.WriteAck{Memory: m}, t.Insert(m)
}

// writeAgain notes that a memory was written once more, and adds what the write
// adds to it as a revision. A memory in conflict is not added to: a revision
// would settle the conflict before a reader has looked at both sides.
func (t *Tx) writeAgain(r amber.WriteRequest, id amber.MemoryID) (amber.WriteAck, error) {
	prev, _, err := t.Load(id)
	if err != nil {
		return amber.WriteAck{}, err
	}
	next, added, left := r.Merge(prev)
	if len(added) > 0 {
		heads, err := t.Heads(prev)
		if err != nil {
			return amber.WriteAck{}, err
		}
		if len(heads) == 1 {
			next.DuplicateCount++
			next, err = t.Revise(amber.OpUpdate, prev, next)
			return amber.WriteAck{Memory: next, Deduplicated: true, Added: added, NotTaken: left}, err
		}
		added, left = nil, append(added, left...)
	}
	ack, err := t.countDuplicate(id)
	ack.Added, ack.NotTaken = added, left
	return ack, err
}

// countDuplicate notes that a memory was written once more.
func (t *Tx) countDuplicate(id amber.MemoryID) (amber.WriteAck, error) {
	m, _, err := t.Load(id)
	if err != nil {
		return amber.WriteAck{}, err
	}
	if err := t.Do(countDuplicate, id); err != nil {
		return amber.WriteAck{}, err
	}
	m.DuplicateCount++
	return amber.WriteAck{Memory: m, Deduplicated: true},
		t.Log(sqlrows.Entry(amber.OpUpdate, amber.ChangeMemory, string(id), m.ContentDigest, m.ContentDigest))
}

// answered returns the answer an idempotency key was given before.
func (t *Tx) answered(r amber.WriteRequest) (ack amber.WriteAck, known bool, err error) {
	var digest, body string
	err = t.Row(selectAnswer, "write", r.IdempotencyKey, t.Now.UnixMilli()).Scan(&digest, &body)
	switch {
	case sqlrows.Absent(err):
		return ack, false, t.keyErased(r.IdempotencyKey)
	case err != nil:
		return ack, false, err
	case digest != r.Digest():
		return ack, true, amber.Errorf(amber.KindConflict, "write memory", r.IdempotencyKey, "the idempotency key was used before with another request")
	}
	if err := json.Unmarshal([]byte(body), &ack); err != nil {
		return ack, true, sqlrows.Damaged("read idempotency answer", r.IdempotencyKey, err)
	}
	return ack, true, nil
}

// answer keeps the answer of an idempotency key and drops some that expired.
func (t *Tx) answer(r amber.WriteRequest, ack amber.WriteAck) error {
	body, err := sqlrows.Marshal(ack)
	if err != nil {
		return err
	}
	if err := t.Do(expireAnswers, t.Now.UnixMilli()); err != nil {
		return err
	}
	return t.Do(sqlrows.UpsertAnswer, "write", r.IdempotencyKey, r.Digest(), ack.ID, body, t.Now.Add(idempotencyFor).UnixMilli())
}

// Edit implements [amber.Editor].
func (s *Contracts) Edit(ctx context.Context, r amber.EditRequest) (amber.Memory, error) {
	return update(ctx, s.memory, "edit memory", string(r.ID), func(t *Tx) (amber.Memory, error) { return t.edit(r) })
}

func (t *Tx) edit(r amber.EditRequest) (amber.Memory, error) {
	prev, base, err := t.editable(r.ID)
	if err != nil {
		return prev, err
	}
	if r.IfRevision != 0 && r.IfRevision != prev.Revision {
		return prev, amber.Errorf(amber.KindConflict, "edit memory", string(r.ID), "the memory has revision %d, want %d", prev.Revision, r.IfRevision).
			WithHint("amber get " + string(r.ID))
	}
	next, changed, err := r.Apply(base)
	if err != nil {
		return prev, err
	}
	if err := t.mayReplace("edit memory", prev, r.Trust); err != nil {
		return prev, err
	}
	if !changed && base.Origin == prev.Origin {
		if disputed, err := t.disputed(prev); err != nil || !disputed {
			return prev, err
		}
	}
	twin, found, err := t.DuplicateOf(next)
	switch {
	case err != nil:
		return prev, err
	case found && !amber.SameKey(prev, next):
		return prev, amber.Errorf(amber.KindConflict, "edit memory", string(r.ID), "memory %s has the same content", string(twin))
	}
	return t.Revise(amber.OpUpdate, prev, next)
}

// editable returns a memory and the version that an edit of it begins with. That is the memory
// itself. If it was deleted while another device changed it, that is the version of the other
// device.
func (t *Tx) editable(id amber.MemoryID) (prev, base amber.Memory, err error) {
	prev, found, err := t.Load(id)
	if err != nil || found && prev.DeletedAt.IsZero() {
		return prev, prev, err
	}
	rivals, err := t.rivals(prev)
	if err != nil {
		return prev, prev, err
	}
	for _, r := range rivals {
		if r.DeletedAt.IsZero() {
			r.DuplicateCount = prev.DuplicateCount
			return prev, r, nil
		}
	}
	return prev, prev, sqlrows.NotFound("edit memory", string(id))
}

// disputed reports whether a rival version says something else than a memory.
func (t *Tx) disputed(m amber.Memory) (bool, error) {
	rivals, err := t.rivals(m)
	return slices.ContainsFunc(rivals, func(r amber.Memory) bool { return !saysAlike(m, r) }), err
}

// rivals returns the versions beside the newest that no later version has seen, the
// latest first.
func (t *Tx) rivals(m amber.Memory) (out []amber.Memory, err error) {
	heads, err := t.Heads(m)
	if err != nil || len(heads) < 2 {
		return nil, err
	}
	revisions, err := sqlrows.ReadRows(t.Tx, "revisions", sqlrows.ScanRevision, sqlrows.SelectRevisions, m.ID)
	for _, r := range revisions {
		if r.Origin != m.Origin && slices.Contains(heads, r.Origin) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b amber.Memory) int { return sqlrows.LatestFirst(a.Origin, b.Origin) })
	return out, err
}

// Delete implements [amber.LongTerm].
func (s *Contracts) Delete(ctx context.Context, id amber.MemoryID) error {
	return s.memory.Update(ctx, "delete memory", string(id), func(t *Tx) error {
		prev, found, err := t.LoadLoosely(id)
		switch {
		case err != nil:
			return err
		case !found:
			return sqlrows.NotFound("delete memory", string(id))
		case !prev.DeletedAt.IsZero():
			rivals, err := t.rivals(prev)
			if err != nil || len(rivals) == 0 {
				return err
			}
			// Another device changed it without knowing of the deletion. This deletion settles the
			// conflict.
		}
		next := prev
		next.DeletedAt = t.Now
		_, err = t.Revise(amber.OpDelete, prev, next)
		return err
	})
}
