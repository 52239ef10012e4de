package repo_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

func labels(t testing.TB, s *store, agent amber.AgentID) (l []string) {
	t.Helper()
	for _, e := range must.Get(s.catalog.List(ctx, agent))(t) {
		label := e.Manifest.Label
		if e.Pinned {
			label += " pinned"
		}
		if e.Problem != nil {
			label += string(amber.KindOf(e.Problem))
		}
		l = append(l, label)
	}
	return l
}

func TestSnapshotsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	var taken []repo.Manifest
	for _, word := range []string{"one", "two", "three"} {
		taken = append(taken, s.take(t, ada, word))
		s.later(time.Minute)
	}
	s.take(t, bob, "other")
	must.Do(t, s.catalog.SetPin(ctx, may(), ada, taken[0].ID, true, s.at()))
	must.Equal(t, "labels", labels(t, s, ada), []string{"three", "two", "one pinned"})
	agents, err := s.catalog.Agents(ctx)
	if diff := cmp.Diff([]amber.AgentID{ada, bob}, agents); diff != "" || err != nil {
		t.Error(diff, err)
	}
	e, err := s.catalog.Get(ctx, ada, taken[0].ID)
	want := taken[0]
	want.Format, want.Version = "amber-snapshot", 1
	if diff := cmp.Diff(want, e.Manifest, cmpopts.EquateComparable(amber.Time{})); diff != "" || err != nil || !e.Pinned {
		t.Error(diff, err, e.Pinned)
	}
	s.whole(t, taken...)
}

func TestDeletedSnapshotsLeaveAStubAndTheChainHolds(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	a, b, c := s.take(t, ada, "a"), s.take(t, ada, "b"), s.take(t, ada, "c")
	for _, m := range []repo.Manifest{b, c} {
		must.Do(t, s.catalog.SetPin(ctx, may(), ada, m.ID, true, s.at()))
		s.delete(t, m)
		s.delete(t, m) // once more is no error
	}
	must.Equal(t, "labels", labels(t, s, ada), []string{"a"})
	must.Fail(s.catalog.Get(ctx, ada, b.ID))(t, "get a deleted one", amber.KindNotFound)
	must.Kind(t, "pin a deleted one", s.catalog.SetPin(ctx, may(), ada, b.ID, true, s.at()), amber.KindNotFound)
	must.Kind(t, "delete one that never was", s.catalog.Delete(ctx, may(), ada, s.newID(t), "", s.at()), amber.KindNotFound)
	must.Fail(s.catalog.Publish(ctx, may(), b))(t, "publish a deleted one", amber.KindConflict)
	d := s.take(t, ada, "d")
	must.Hold(t, d.Counter == 4 && d.ParentID == c.ID, "the chain goes on with counter %d after %s", d.Counter, d.ParentID)
	s.whole(t, a, d)
}

func TestPublishNeverOverwrites(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	m := s.take(t, ada, "a")
	must.Kind(t, "the same manifest again", must.Err(s.catalog.Publish(ctx, may(), m)), "")
	other := m
	other.Label = "another"
	must.Fail(s.catalog.Publish(ctx, may(), other))(t, "another one of that id", amber.KindConflict)
	other = m
	other.ID, other.Tenant = s.newID(t), "foreign"
	must.Fail(s.catalog.Publish(ctx, may(), other))(t, "another tenant", amber.KindCrossTenant)
	s.whole(t, m)
}

func TestManifestsThatSayNonsenseAreNotPublished(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	good := s.take(t, ada, "a")
	good.ID = s.newID(t)
	tests := map[string]func(m *repo.Manifest){
		"id":          func(m *repo.Manifest) { m.ID = "../x" },
		"agent":       func(m *repo.Manifest) { m.Agent = "a/b" },
		"tenant":      func(m *repo.Manifest) { m.Tenant = "" },
		"device":      func(m *repo.Manifest) { m.Device = "" },
		"counter":     func(m *repo.Manifest) { m.Counter = 0 },
		"great":       func(m *repo.Manifest) { m.Counter, m.Parent, m.ParentID = 1<<40+1, m.Inner.String(), m.ID },
		"parent":      func(m *repo.Manifest) { m.Counter = 2 },
		"parent of 1": func(m *repo.Manifest) { m.ParentID = m.ID },
		"time":        func(m *repo.Manifest) { m.CreatedAt = amber.Time{} },
		"year 10000":  func(m *repo.Manifest) { m.CreatedAt = amber.UnixMilli(253402300800000) },
		"label":       func(m *repo.Manifest) { m.Label = "two\nlines" },
		"long label":  func(m *repo.Manifest) { m.Label = strings.Repeat("x", 201) },
		"utf-8":       func(m *repo.Manifest) { m.Incarnation = "\xff" },
		"inner":       func(m *repo.Manifest) { m.Inner = repo.ID{} },
		"bytes":       func(m *repo.Manifest) { m.BytesNew = -1 },
		"oid":         func(m *repo.Manifest) { m.GitOID = "main" },
		"fence":       func(m *repo.Manifest) { m.FenceMS = -1 },
	}
	for name, spoil := range tests {
		m := good
		spoil(&m)
		must.Fail(s.catalog.Publish(ctx, may(), m))(t, name, amber.KindInvalid)
	}
	must.Equal(t, "manifests", len(s.target.(*memory).names("snapshots/")), 1)
}

func TestADamagedPinPinsAndIsReplaced(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	m := s.take(t, ada, "a")
	pin := func() {
		t.Helper()
		must.Do(t, s.catalog.SetPin(ctx, may(), ada, m.ID, true, s.at()))
	}
	pin()
	pin()
	name := target.names("pins/")[0]
	target.objects[name] = []byte("{")
	if e, err := s.catalog.Get(ctx, ada, m.ID); err != nil || !e.Pinned {
		t.Errorf("pinned %v, %v", e.Pinned, err)
	}
	must.Equal(t, "a damaged pin passes", s.audit(t).OK(), false)
	pin()
	s.whole(t, m)
	if err := s.catalog.SetPin(ctx, may(), ada, m.ID, false, s.at()); err != nil || len(target.names("pins/")) > 0 {
		t.Errorf("let go: %v", err)
	}
}

// TestASnapshotThatCannotBeReadCanBeDeleted is the way out for a person whose gc is blocked.
func TestASnapshotThatCannotBeReadCanBeDeleted(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	a, b, c := s.take(t, ada, "a"), s.take(t, ada, "b"), s.take(t, ada, "c")
	target.objects["snapshots/ada/"+string(b.ID)+".json"][20] ^= 1
	if diff := cmp.Diff([]string{"c", "damaged", "a"}, labels(t, s, ada)); diff != "" {
		t.Log(diff) // the order of one without a time is not promised
	}
	must.Fail(s.catalog.Get(ctx, ada, b.ID))(t, "get", amber.KindDamaged)
	s.delete(t, b)
	report := s.audit(t)
	if !report.OK() || len(report.NotChecked) != 1 || !strings.Contains(report.NotChecked[0], "counters 2 to 2") {
		t.Errorf("audit: %+v", report)
	}
	s.collect(t)
	for _, m := range []repo.Manifest{a, c} {
		must.NoError(t, s.again(t).same(m))
	}
}

func TestAStubOfAnotherManifestTakesNothingAway(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	a := s.take(t, ada, "a")
	s.delete(t, a)
	stub := target.names("stubs/")[0]
	for _, forged := range [][]byte{[]byte("garbage"), bytes.Replace(target.objects[stub], []byte("deleted"), []byte("Deleted"), 1)} {
		s2 := newStore(t, newMemory())
		b := s2.take(t, ada, "b") // has the id of a
		if b.ID != a.ID {
			t.Fatal("the ids are not the same")
		}
		s2.target.(*memory).objects[stub] = forged
		must.Equal(t, "labels", labels(t, s2, ada), []string{"b"})
		s2.collect(t)
		must.NoError(t, s2.again(t).same(b))
		must.Equal(t, "the stub passes", s2.audit(t).OK(), false)
	}
	// An intact stub, of the manifest that was there before.
	s3 := newStore(t, newMemory())
	b := s3.take(t, ada, "b")
	s3.target.(*memory).objects[stub] = target.objects[stub]
	s3.collect(t)
	if err := s3.again(t).same(b); err != nil || s3.audit(t).OK() {
		t.Errorf("an intact stub of another manifest: %v", err)
	}
}

func TestWritersPublishAndDeleteAtTheSameTime(t *testing.T) {
	t.Parallel()
	target := newMemory()
	const writers, each = 4, 5
	var wg sync.WaitGroup
	kept := make([]repo.Manifest, writers)
	for n := range writers {
		s := newStore(t, target)
		s.now = s.now.Add(time.Duration(n) * time.Millisecond)
		wg.Go(func() {
			for i := range each {
				m, err := s.prepare(t, ada, fmt.Sprint("device ", n), content{fmt.Sprint(n, i), 1})
				if err == nil {
					err = s.publish(m)
				}
				if err == nil {
					_, err = s.catalog.List(ctx, ada)
				}
				if err == nil && i > 0 {
					err = s.catalog.Delete(ctx, may(), ada, kept[n].ID, "deleted", s.at())
				}
				if err != nil {
					t.Error(err)
					return
				}
				kept[n] = m
			}
		})
	}
	wg.Wait()
	if !t.Failed() {
		newStore(t, target).whole(t, kept...)
	}
}
