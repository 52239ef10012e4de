package inmem_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/storetest"
)

// This file tests what is particular to this store. Package storetest tests what every store
// promises.

func newStore(t *testing.T, random io.Reader) *inmem.Store {
	t.Helper()
	clock := storetest.NewClock(time.Date(2026, time.March, 14, 9, 30, 0, 0, time.UTC))
	return must.Get(inmem.New(inmem.Options{Clock: clock.Now, Random: random, Device: "here", Incarnation: "life"}))(t)
}

func TestNewNeedsClockAndRandom(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]inmem.Options{
		"no clock":  {Random: storetest.NewRandom(1)},
		"no random": {Clock: time.Now},
	} {
		t.Run(name, func(t *testing.T) {
			must.Fail(inmem.New(o))(t, "new store", amber.KindInvalid)
		})
	}
	_, err := inmem.New(inmem.Options{Clock: time.Now, Random: bytes.NewReader(nil)})
	must.Is(t, "New with an empty source of randomness", err, io.EOF)
}

func TestStoreHasEveryContract(t *testing.T) {
	t.Parallel()
	got := newStore(t, storetest.NewRandom(1)).Store().Capabilities()
	want := amber.Capabilities{
		Memories: true, Batch: true, Edit: true, Erase: true, Relations: true, Concepts: true,
		Compactions: true, Stats: true, Changes: true, Turns: true, Loops: true, Sessions: true, States: true,
		Notes: true, Control: true, Ingest: true, Documents: true,
	}
	must.Equal(t, "capabilities", got, want)
}

func TestEqualOptionsGiveEqualStores(t *testing.T) {
	t.Parallel()
	var lists [2]amber.Page[amber.Memory]
	for i := range lists {
		s := newStore(t, storetest.NewRandom(1))
		for _, content := range []string{"one", "two"} {
			must.Get(s.Write(t.Context(), amber.WriteRequest{Content: content}))(t)
		}
		lists[i] = must.Get(s.List(t.Context(), amber.ListQuery{}))(t)
		must.Equal(t, "head", must.Get(s.Head(t.Context()))(t), amber.PositionAt("life", 2))
		must.Equal(t, "device", lists[i].Items[0].Origin.Device, "here")
	}
	must.Equal(t, "memories", lists[0], lists[1], cmp.AllowUnexported(amber.Time{}))
}

func TestEndedContextChangesNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t, storetest.NewRandom(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Write(ctx, amber.WriteRequest{Content: "late"})
	must.Kind(t, "write", err, amber.KindUnreachable)
	must.Is(t, "cause", err, context.Canceled)
	must.Fail(s.Health(ctx))(t, "health", amber.KindUnreachable)
	must.Equal(t, "changes", must.Get(s.Changes(t.Context(), "", 10))(t), []amber.Change{})
}

func TestWriteWithoutRandomnessStoresNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t, bytes.NewReader(nil))
	must.Fail(s.Write(t.Context(), amber.WriteRequest{Content: "x", IdempotencyKey: "k"}))(t, "write", amber.KindInternal)
	must.Equal(t, "changes", must.Get(s.Changes(t.Context(), "", 10))(t), []amber.Change{})
	must.Get(s.Write(t.Context(), amber.WriteRequest{Topic: "needs no random id", Content: "x", IdempotencyKey: "k"}))(t)
}

func TestEraseReportsWhatItRemoved(t *testing.T) {
	t.Parallel()
	s := newStore(t, storetest.NewRandom(1))
	ctx := t.Context()
	id := must.Get(s.Write(ctx, amber.WriteRequest{Content: "secret", IdempotencyKey: "k"}))(t).ID
	other := must.Get(s.Write(ctx, amber.WriteRequest{Content: "other"}))(t).ID
	must.Get(s.Edit(ctx, amber.EditRequest{ID: id, Summary: new("s")}))(t)
	for _, r := range []amber.Relation{{From: id, To: other, Type: "related"}, {From: other, To: id, Type: "related"}} {
		must.Get(s.Relate(ctx, r))(t)
	}
	must.Do(t, errors.Join(s.SetConcepts(ctx, id, []string{"a", "b"}), s.Delete(ctx, id)))
	must.Equal(t, "report", must.Get(s.Erase(ctx, id))(t), amber.EraseReport{ID: id, Remaining: []string{}, Removed: []string{
		"3 revisions", "2 concepts", "2 relations", "1 idempotency answers",
	}})
}
