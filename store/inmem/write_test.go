package inmem_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/inmem"
)

func TestDuplicateIsCountedNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.write(t, amber.WriteRequest{Title: "T", Content: "same", Tags: []string{"a"}})
	w.tick()
	head := w.head(t)
	again := w.write(t, amber.WriteRequest{Title: " T ", Content: "same", Tags: []string{"a"}})
	want := first
	want.Deduplicated, want.DuplicateCount = true, 1
	wantEqual(t, "answer", again, want)
	changes := ok[[]amber.Change](t)(w.Changes(t.Context(), head, 10))
	wantEqual(t, "changes", changes, []amber.Change{{
		Position: amber.PositionAt("life", 2), At: w.now(), Op: amber.OpUpdate, Scope: amber.ChangeMemory, Key: string(first.ID),
		OldDigest: first.ContentDigest, NewDigest: first.ContentDigest,
	}})
}

func TestDuplicateOfTheOldest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	oldest := w.write(t, amber.WriteRequest{Topic: "a", Content: "x"}).ID
	w.tick()
	w.write(t, amber.WriteRequest{Topic: "b", Content: "x"}) // topics may collide
	ack := w.write(t, amber.WriteRequest{Content: "x"})
	if !ack.Deduplicated || ack.ID != oldest {
		t.Errorf("an equal memory without a topic became %s (deduplicated %v), want %s", ack.ID, ack.Deduplicated, oldest)
	}
}

func TestTopic(t *testing.T) {
	t.Parallel()
	ids := amber.Identities{ProjectID: "p", SessionID: "s1"}
	request := amber.WriteRequest{Topic: "plan", Scope: amber.ScopeProject, Identities: ids, Content: "one", Title: "t", Tags: []string{"x"}}
	tests := []struct {
		name         string
		prepare      func(t *testing.T, w world, id amber.MemoryID)
		change       func(*amber.WriteRequest)
		wantRevision int64
		wantDup      bool
	}{
		{"equal", nil, func(r *amber.WriteRequest) { r.Tags = nil }, 1, true},
		{"other content", nil, func(r *amber.WriteRequest) { r.Content = "two" }, 2, false},
		{"other title", nil, func(r *amber.WriteRequest) { r.Title = "u" }, 2, false},
		{"other kind", nil, func(r *amber.WriteRequest) { r.Kind = amber.Constraint }, 2, false},
		{"deleted and equal", deleteIt, func(*amber.WriteRequest) {}, 3, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			first := w.write(t, request)
			if tc.prepare != nil {
				tc.prepare(t, w, first.ID)
			}
			w.tick()
			r := request
			r.SessionID = "s2"
			tc.change(&r)
			ack := w.write(t, r)
			if ack.ID != first.ID || ack.Revision != tc.wantRevision || ack.Deduplicated != tc.wantDup || !ack.DeletedAt.IsZero() {
				t.Errorf("answer %+v, want revision %d of %s, deduplicated %v", ack, tc.wantRevision, first.ID, tc.wantDup)
			}
			if ack.Origin.Counter != uint64(tc.wantRevision) {
				t.Errorf("counter %d, want %d", ack.Origin.Counter, tc.wantRevision)
			}
			wantEqual(t, "creation time", ack.CreatedAt, first.CreatedAt)
			// A revision belongs to the session that made it; a duplicate makes
			// none.
			wantIDs := r.Identities
			if tc.wantDup {
				wantIDs = ids
			}
			wantEqual(t, "identities", ack.Identities, wantIDs)
		})
	}
}

func deleteIt(t *testing.T, w world, id amber.MemoryID) {
	t.Helper()
	if err := w.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
}

func TestTopicOfAnErasedMemoryStartsAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for epoch := range 3 {
		ack := w.write(t, amber.WriteRequest{Topic: "t", Content: "x"})
		wantEqual(t, fmt.Sprintf("id in epoch %d", epoch), ack.ID, amber.TopicID("", amber.ScopeGlobal, "", "t", epoch))
		ok[amber.EraseReport](t)(w.Erase(t.Context(), ack.ID))
	}
}

func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := amber.WriteRequest{Content: "once", IdempotencyKey: "k"}
	first := w.write(t, r)
	deleteIt(t, w, first.ID)
	wantEqual(t, "answer after a delete", w.write(t, r), first)

	other := r
	other.Content = "twice"
	_, err := w.Write(t.Context(), other)
	wantKind(t, err, amber.KindConflict)

	w.clock.advance(7*24*time.Hour - time.Millisecond)
	wantEqual(t, "answer in the last millisecond", w.write(t, r), first)
	w.clock.advance(time.Millisecond)
	wantEqual(t, "content under the forgotten key", w.write(t, other).Content, "twice")
}

func TestBatchIsAllOrNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(t, amber.WriteRequest{Content: "used", IdempotencyKey: "used"})
	dup := w.fact(t, "dup")
	head, before := w.head(t), ok[amber.Memory](t)(w.Get(t.Context(), dup))
	_, err := w.WriteBatch(t.Context(), []amber.WriteRequest{
		{Content: "new", IdempotencyKey: "fresh"}, {Content: "dup"}, {Topic: "t", Content: "x"}, {Content: "other", IdempotencyKey: "used"},
	})
	wantKind(t, err, amber.KindConflict)
	wantEqual(t, "head", w.head(t), head)
	wantEqual(t, "duplicate", ok[amber.Memory](t)(w.Get(t.Context(), dup)), before)

	acks := ok[[]amber.WriteAck](t)(w.WriteBatch(t.Context(), []amber.WriteRequest{
		{Content: "a", IdempotencyKey: "fresh"}, {Content: "a"}, {Content: "a", IdempotencyKey: "fresh"},
	}))
	wantEqual(t, "second answer of the key", acks[2], acks[0])
	if !acks[1].Deduplicated || acks[1].ID != acks[0].ID {
		t.Errorf("an equal request in one batch: %+v", acks[1])
	}
}

func TestWriteWithoutRandomnessStoresNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *inmem.Options) { o.Random = bytes.NewReader(nil) })
	_, err := w.Write(t.Context(), amber.WriteRequest{Content: "x", IdempotencyKey: "k"})
	wantKind(t, err, amber.KindInternal)
	wantEqual(t, "entries", w.entries(t, w, ""), []string{})
	w.write(t, amber.WriteRequest{Topic: "needs no random id", Content: "x", IdempotencyKey: "k"})
}

func TestStampsGrowWhenTheClockGoesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.write(t, amber.WriteRequest{Content: "a"})
	w.clock.advance(-time.Hour)
	b := w.write(t, amber.WriteRequest{Content: "b"})
	if b.Origin.Clock <= a.Origin.Clock {
		t.Errorf("stamp %v does not follow %v", b.Origin.Clock, a.Origin.Clock)
	}
	wantEqual(t, "creation time", b.CreatedAt, w.now())
	changes := ok[[]amber.Change](t)(w.Changes(t.Context(), "", 10))
	if changes[1].At.Before(changes[0].At) {
		t.Errorf("the log goes back from %s to %s", changes[0].At, changes[1].At)
	}
}
