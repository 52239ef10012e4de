package inmem_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/snapshot/inmem"
	"github.com/amber-memory/amber/snapshot/snapshottest"
)

// lived returns a snapshotter with one agent, scout of acme, that has one of
// everything.
func lived(t *testing.T) (*inmem.Snapshotter, *inmem.Agent) {
	t.Helper()
	s := open(t, snapshottest.NewClock())
	a, err := s.Agent("acme", "scout")
	if err == nil {
		err = a.Make()
	}
	if err == nil {
		_, err = a.Remember(inmem.Memory{Content: "the key is under the mat", Tags: []string{"b", "a"}})
	}
	if err = errors.Join(err, a.WriteNote("plan", "walk\n"), a.PutState("extract_cursor", `{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	return s, a
}

func take(t *testing.T, s *inmem.Snapshotter) amber.SnapshotMeta {
	t.Helper()
	m, err := s.Snapshot(t.Context(), amber.SnapshotRequest{Tenant: "acme", Agent: "scout"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func contents(t *testing.T, a *inmem.Agent) inmem.Contents {
	t.Helper()
	c, err := a.Contents()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ref(m amber.SnapshotMeta) amber.SnapshotRef {
	return amber.SnapshotRef{Tenant: m.Tenant, Agent: m.Agent, ID: m.ID}
}

func TestNewNeedsClockAndRandomness(t *testing.T) {
	t.Parallel()
	for _, o := range []inmem.Options{{}, {Clock: time.Now}, {Random: random()}} {
		if _, err := inmem.New(o); amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("got %v, want invalid", err)
		}
	}
}

func TestAgentRefusesWhatIsNoMemory(t *testing.T) {
	t.Parallel()
	s, a := lived(t)
	before := contents(t, a)
	for name, tc := range map[string]struct {
		err  error
		want amber.Kind
	}{
		"empty content":   {second(a.Remember(inmem.Memory{})), amber.KindInvalid},
		"unknown kind":    {second(a.Remember(inmem.Memory{Content: "x", Kind: "rumour"})), amber.KindInvalid},
		"edit of nothing": {a.Edit("x", inmem.Memory{Content: "x"}), amber.KindNotFound},
		"forget nothing":  {a.Forget("x"), amber.KindNotFound},
		"note outside":    {a.WriteNote("../x", "x"), amber.KindInvalid},
		"note of nothing": {a.DeleteNote("x"), amber.KindNotFound},
		"key of state":    {a.PutState("", "{}"), amber.KindInvalid},
		"no JSON":         {a.PutState("x", "{"), amber.KindInvalid},
		"made twice":      {a.Make(), amber.KindConflict},
		"bad name":        {second(s.Agent("acme", "../x")), amber.KindInvalid},
		"generation":      {second(a.Old(1)), amber.KindNotFound},
	} {
		if got := amber.KindOf(tc.err); got != tc.want {
			t.Errorf("%s: got %q (%v), want %q", name, got, tc.err, tc.want)
		}
	}
	if diff := cmp.Diff(contents(t, a), before); diff != "" {
		t.Errorf("the agent changed (-got +want):\n%s", diff)
	}
	nobody, err := s.Agent("acme", "nobody")
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{second(nobody.Contents()), nobody.Replace(inmem.Contents{}), nobody.WriteNote("a", "b"), nobody.PutState("a", "1")} {
		if amber.KindOf(err) != amber.KindNotFound {
			t.Errorf("got %v for an agent that does not exist, want not_found", err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestValuesBelongToTheCaller(t *testing.T) {
	t.Parallel()
	s, a := lived(t)
	want := contents(t, a)
	m := take(t, s)
	spoil := func(c inmem.Contents) {
		for id, x := range c.Memories {
			x.Tags[0] = "spoiled"
			c.Memories[id] = x
			delete(c.Memories, id)
		}
		clear(c.Notes)
		clear(c.State)
	}
	spoil(contents(t, a))
	d, err := s.ShowSnapshot(t.Context(), ref(m))
	if err != nil {
		t.Fatal(err)
	}
	d.Parts[0].Digest = "spoiled"
	given := contents(t, a)
	if err := a.Replace(given); err != nil {
		t.Fatal(err)
	}
	spoil(given)
	if diff := cmp.Diff(contents(t, a), want); diff != "" {
		t.Errorf("the agent changed (-got +want):\n%s", diff)
	}
	if _, err := s.Restore(t.Context(), amber.RestoreRequest{SnapshotRef: ref(m)}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contents(t, a), want); diff != "" {
		t.Errorf("the snapshot changed (-got +want):\n%s", diff)
	}
}

func TestEqualPartsAreStoredOnce(t *testing.T) {
	t.Parallel()
	s, a := lived(t)
	first := take(t, s)
	if first.BytesNew != first.BytesTotal || first.BytesNew == 0 {
		t.Errorf("the first snapshot stored %d of %d bytes", first.BytesNew, first.BytesTotal)
	}
	if again := take(t, s); again.BytesNew != 0 || again.BytesTotal != first.BytesTotal {
		t.Errorf("the second snapshot stored %d of %d bytes", again.BytesNew, again.BytesTotal)
	}
	if err := a.WriteNote("plan", "run\n"); err != nil {
		t.Fatal(err)
	}
	if m := take(t, s); m.BytesNew == 0 || m.BytesNew >= m.BytesTotal {
		t.Errorf("the third snapshot stored %d of %d bytes", m.BytesNew, m.BytesTotal)
	}
}

func TestGarbageIsFreedOnce(t *testing.T) {
	t.Parallel()
	s, a := lived(t)
	gone := take(t, s)
	if err := a.WriteNote("plan", "run\n"); err != nil {
		t.Fatal(err)
	}
	take(t, s)
	if err := s.DeleteSnapshot(t.Context(), ref(gone)); err != nil {
		t.Fatal(err)
	}
	unused := func() int64 {
		r, err := s.CheckRepository(t.Context(), amber.CheckRequest{Tenant: "acme"})
		if err != nil {
			t.Fatal(err)
		}
		return r.Unused
	}
	before := unused()
	for i, want := range []amber.GCReport{
		{Deleted: 1, Freed: before, DryRun: true},
		{Deleted: 1, Freed: before},
		{},
	} {
		got, err := s.CollectGarbage(t.Context(), amber.GCRequest{Tenant: "acme", DryRun: want.DryRun})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, want, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("report %d (-got +want):\n%s", i, diff)
		}
	}
	if got := unused(); before == 0 || got != 0 {
		t.Errorf("%d bytes are unused, %d were", got, before)
	}
}

func TestDamageIsFoundAndRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		data      []byte
		whenFound []bool // without and with ReadData
	}{
		"other bytes": {[]byte(`{"plan":"crawl\n"}`), []bool{false, true}},
		"missing":     {nil, []bool{true, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, a := lived(t)
			m := take(t, s)
			want := contents(t, a)
			d, err := s.ShowSnapshot(t.Context(), ref(m))
			if err != nil {
				t.Fatal(err)
			}
			s.Damage("acme", d.Parts[1].Digest, tc.data)
			for i, readData := range []bool{false, true} {
				v, err := s.VerifySnapshot(t.Context(), amber.VerifyRequest{SnapshotRef: ref(m), ReadData: readData})
				if err != nil || v.OK() == tc.whenFound[i] {
					t.Errorf("verify, read data %t: %+v, %v", readData, v, err)
				}
				c, err := s.CheckRepository(t.Context(), amber.CheckRequest{Tenant: "acme", ReadData: readData})
				if err != nil || c.OK() == tc.whenFound[i] {
					t.Errorf("check, read data %t: %+v, %v", readData, c, err)
				}
				for _, d := range slices.Concat(v.Damaged, c.Damaged) {
					if !slices.Equal(d.Snapshots, []amber.SnapshotID{m.ID}) {
						t.Errorf("damage of %s touches %v, want %s", d.Object, d.Snapshots, m.ID)
					}
				}
			}
			if _, err := s.Restore(t.Context(), amber.RestoreRequest{SnapshotRef: ref(m)}); amber.KindOf(err) != amber.KindDamaged {
				t.Errorf("restore: got %v, want damaged", err)
			}
			if diff := cmp.Diff(contents(t, a), want); diff != "" {
				t.Errorf("the agent changed (-got +want):\n%s", diff)
			}
		})
	}
}

func TestGapInTheChainIsDamage(t *testing.T) {
	t.Parallel()
	s, _ := lived(t)
	take(t, s)
	gone, last := take(t, s), take(t, s)
	if err := s.DeleteSnapshot(t.Context(), ref(gone)); err != nil {
		t.Fatal(err)
	}
	whole := func() bool {
		v, verr := s.VerifySnapshot(t.Context(), amber.VerifyRequest{SnapshotRef: ref(last)})
		c, cerr := s.CheckRepository(t.Context(), amber.CheckRequest{Tenant: "acme"})
		if err := errors.Join(verr, cerr); err != nil || v.OK() != c.OK() {
			t.Fatalf("verify %+v, check %+v: %v", v, c, err)
		}
		return v.OK()
	}
	if !whole() {
		t.Error("a stub is taken for a gap")
	}
	s.LoseStubs("acme")
	if whole() {
		t.Error("a gap is not found")
	}
}

func TestOldGenerationIsKeptWhenNoSnapshotHoldsIt(t *testing.T) {
	t.Parallel()
	s, a := lived(t)
	m := take(t, s)
	if err := a.WriteNote("later", "x\n"); err != nil {
		t.Fatal(err)
	}
	want := contents(t, a)
	r, err := s.Restore(t.Context(), amber.RestoreRequest{SnapshotRef: ref(m), NoSafetySnapshot: true})
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.Old(r.OldGeneration)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("old generation (-got +want):\n%s", diff)
	}
}

func TestNothingHappensWithoutRandomness(t *testing.T) {
	t.Parallel()
	s, err := inmem.New(inmem.Options{Clock: snapshottest.NewClock().Now, Random: io.LimitReader(random(), 10)})
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Agent("acme", "scout")
	if err == nil {
		err = a.Make()
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Remember(inmem.Memory{Content: "x"}); amber.KindOf(err) != amber.KindInternal {
		t.Errorf("remember: got %v, want internal", err)
	}
	if _, err := s.Snapshot(t.Context(), amber.SnapshotRequest{Tenant: "acme", Agent: "scout"}); amber.KindOf(err) != amber.KindInternal {
		t.Errorf("snapshot: got %v, want internal", err)
	}
	if c := contents(t, a); len(c.Memories) != 0 {
		t.Errorf("the agent remembers %v", c.Memories)
	}
	page, err := s.ListSnapshots(t.Context(), amber.SnapshotQuery{Tenant: "acme", Agent: "scout"})
	if err != nil || len(page.Items) != 0 {
		t.Errorf("got %v, %v, want no snapshot", page.Items, err)
	}
}

func TestCursorOutlivesItsSnapshot(t *testing.T) {
	t.Parallel()
	clock := snapshottest.NewClock()
	s := open(t, clock)
	a, err := s.Agent("acme", "scout")
	if err == nil {
		err = a.Make()
	}
	if err != nil {
		t.Fatal(err)
	}
	first := take(t, s)
	clock.Advance(time.Second)
	second := take(t, s)
	q := amber.SnapshotQuery{Tenant: "acme", Agent: "scout", Limit: 1}
	page, err := s.ListSnapshots(t.Context(), q)
	if err == nil {
		err = s.DeleteSnapshot(t.Context(), ref(second))
	}
	if err != nil {
		t.Fatal(err)
	}
	q.Cursor = page.Next
	page, err = s.ListSnapshots(t.Context(), q)
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != first.ID {
		t.Errorf("got %v, %v, want the first snapshot", page.Items, err)
	}
	for _, bad := range []amber.Cursor{"1.x", "x." + amber.Cursor(first.ID), "0001." + amber.Cursor(first.ID), amber.Cursor(strings.Repeat("9", 40) + "." + string(first.ID))} {
		q.Cursor = bad
		if _, err := s.ListSnapshots(t.Context(), q); amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("cursor %q: got %v, want invalid", bad, err)
		}
	}
}
