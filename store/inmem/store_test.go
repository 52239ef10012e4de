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
	"github.com/amber-memory/amber/store/inmem"
	"github.com/amber-memory/amber/store/storetest"
)

// This file tests what is particular to this store. What every store promises
// is in storetest.

func newStore(t *testing.T, random io.Reader) *inmem.Store {
	t.Helper()
	clock := storetest.NewClock(time.Date(2026, time.March, 14, 9, 30, 0, 0, time.UTC))
	s, err := inmem.New(inmem.Options{Clock: clock.Now, Random: random, Device: "here", Incarnation: "life"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ok returns a function that passes a value on and ends the test on an error.
func ok[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantKind ends the test unless err is of the kind.
func wantKind(t *testing.T, err error, want amber.Kind) {
	t.Helper()
	if got := amber.KindOf(err); got != want {
		t.Fatalf("error %v is of kind %q, want %q", err, got, want)
	}
}

// wantEqual reports where got differs from want.
func wantEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(amber.Time{})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestNewNeedsClockAndRandom(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]inmem.Options{
		"no clock":  {Random: storetest.NewRandom(1)},
		"no random": {Clock: time.Now},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := inmem.New(o)
			wantKind(t, err, amber.KindInvalid)
		})
	}
	_, err := inmem.New(inmem.Options{Clock: time.Now, Random: bytes.NewReader(nil)})
	if !errors.Is(err, io.EOF) {
		t.Errorf("New with an empty source of randomness: %v, want the error of the source", err)
	}
}

func TestStoreHasEveryContract(t *testing.T) {
	t.Parallel()
	got := newStore(t, storetest.NewRandom(1)).Store().Capabilities()
	want := amber.Capabilities{
		Memories: true, Batch: true, Edit: true, Erase: true, Relations: true, Concepts: true,
		Compactions: true, Stats: true, Changes: true, Turns: true, Loops: true, Sessions: true, States: true,
		Notes: true, Control: true, Ingest: true, Documents: true,
	}
	wantEqual(t, "capabilities", got, want)
}

func TestEqualOptionsGiveEqualStores(t *testing.T) {
	t.Parallel()
	var lists [2]amber.Page[amber.Memory]
	for i := range lists {
		s := newStore(t, storetest.NewRandom(1))
		for _, content := range []string{"one", "two"} {
			ok[amber.WriteAck](t)(s.Write(t.Context(), amber.WriteRequest{Content: content}))
		}
		lists[i] = ok[amber.Page[amber.Memory]](t)(s.List(t.Context(), amber.ListQuery{}))
		wantEqual(t, "head", ok[amber.Position](t)(s.Head(t.Context())), amber.PositionAt("life", 2))
		wantEqual(t, "device", lists[i].Items[0].Origin.Device, "here")
	}
	wantEqual(t, "memories", lists[0], lists[1])
}

func TestEndedContextChangesNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t, storetest.NewRandom(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Write(ctx, amber.WriteRequest{Content: "late"})
	wantKind(t, err, amber.KindUnreachable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v does not tell that the context was cancelled", err)
	}
	_, err = s.Health(ctx)
	wantKind(t, err, amber.KindUnreachable)
	wantEqual(t, "changes", ok[[]amber.Change](t)(s.Changes(t.Context(), "", 10)), []amber.Change{})
}

func TestWriteWithoutRandomnessStoresNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t, bytes.NewReader(nil))
	_, err := s.Write(t.Context(), amber.WriteRequest{Content: "x", IdempotencyKey: "k"})
	wantKind(t, err, amber.KindInternal)
	wantEqual(t, "changes", ok[[]amber.Change](t)(s.Changes(t.Context(), "", 10)), []amber.Change{})
	ok[amber.WriteAck](t)(s.Write(t.Context(), amber.WriteRequest{Topic: "needs no random id", Content: "x", IdempotencyKey: "k"}))
}

func TestEraseReportsWhatItRemoved(t *testing.T) {
	t.Parallel()
	s := newStore(t, storetest.NewRandom(1))
	ctx := t.Context()
	id := ok[amber.WriteAck](t)(s.Write(ctx, amber.WriteRequest{Content: "secret", IdempotencyKey: "k"})).ID
	other := ok[amber.WriteAck](t)(s.Write(ctx, amber.WriteRequest{Content: "other"})).ID
	ok[amber.Memory](t)(s.Edit(ctx, amber.EditRequest{ID: id, Summary: new("s")}))
	for _, r := range []amber.Relation{{From: id, To: other, Type: "related"}, {From: other, To: id, Type: "related"}} {
		ok[amber.Relation](t)(s.Relate(ctx, r))
	}
	if err := errors.Join(s.SetConcepts(ctx, id, []string{"a", "b"}), s.Delete(ctx, id)); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "report", ok[amber.EraseReport](t)(s.Erase(ctx, id)), amber.EraseReport{ID: id, Remaining: []string{}, Removed: []string{
		"3 revisions", "2 concepts", "2 relations", "1 idempotency answers",
	}})
}
