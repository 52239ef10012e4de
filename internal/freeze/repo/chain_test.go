package repo_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestTheTipCountsStubs(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	must.Equal(t, "no chain", must.Get(s.catalog.Tip(ctx, ada, laptop))(t), repo.Link{})
	a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
	want := must.Get(s.catalog.Get(ctx, ada, b.ID))(t)
	link := repo.Link{Counter: 2, ID: b.ID, Digest: want.Digest}
	for _, do := range []func(){func() {}, func() { s.delete(t, b) }, func() { s.delete(t, a) }} {
		do()
		must.Equal(t, "tip", must.Get(s.catalog.Tip(ctx, ada, laptop))(t), link)
	}
	must.Equal(t, "another device", must.Get(s.catalog.Tip(ctx, ada, "another device"))(t), repo.Link{})
}

// TestTheTipIsFoundAgain compares a look at what is new with a look at
// everything, with clocks that go back, deletions and other devices between
// them.
func TestTheTipIsFoundAgain(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	var seen repo.Seen
	var taken []repo.Manifest
	look := func(what string) {
		t.Helper()
		want, err := s.catalog.Tip(ctx, ada, laptop)
		must.Do(t, err)
		if seen, err = s.catalog.TipSince(ctx, ada, laptop, seen); err != nil || seen.Tip != want {
			t.Fatalf("%s: got %v, %+v, want %+v", what, err, seen.Tip, want)
		}
	}
	take := func() { taken = append(taken, s.take(t, ada, fmt.Sprint(len(taken)))) }
	look("nothing")
	for range 3 {
		take()
		s.later(time.Second)
	}
	look("three")
	s.later(-time.Hour)
	take()
	take()
	look("clocks that go back")
	s.delete(t, taken[3])
	s.delete(t, taken[4])
	look("the last two deleted")
	m, err := s.prepare(t, ada, "another device", content{word: "x"})
	if err == nil {
		err = s.publish(m)
	}
	must.Do(t, err)
	look("another device")
	calls := len(target.calls)
	look("nothing new")
	reads := target.calls[calls:]
	for _, name := range target.names("snapshots/") {
		if n := len(slices.DeleteFunc(slices.Clone(reads), func(c string) bool { return !strings.HasSuffix(c, name) })); n != 1 {
			t.Errorf("%s was read %d times, 1 of them by Tip", name, n)
		}
	}
	delete(target.objects, stubNameOf(taken[4]))
	look("the tip is gone")
}

// TestBrokenChains takes four snapshots, the second deleted, and spoils the
// chain.
func TestBrokenChains(t *testing.T) {
	t.Parallel()
	type objects = map[string][]byte
	tests := []struct {
		name  string
		spoil func(o objects, m []repo.Manifest)
		// The text that the report must have, "" for nothing.
		damaged, notChecked string
	}{
		{"nothing", func(objects, []repo.Manifest) {}, "", ""},
		{"the first gone", func(o objects, m []repo.Manifest) { delete(o, manifestOf(m[0])) }, "counters 1 to 1 are missing", ""},
		{"a stub gone", func(o objects, m []repo.Manifest) { delete(o, stubNameOf(m[1])) }, "counters 2 to 2 are missing", ""},
		{"one in the middle gone", func(o objects, m []repo.Manifest) { delete(o, manifestOf(m[2])) }, "counters 3 to 3 are missing", ""},
		{"two gone", func(o objects, m []repo.Manifest) { delete(o, manifestOf(m[0])); delete(o, stubNameOf(m[1])) }, "counters 1 to 2 are missing", ""},
		{"the last gone", func(o objects, m []repo.Manifest) { delete(o, manifestOf(m[3])) }, "ends at counter 3, but counter 4 was written", ""},
		{"all gone", func(o objects, m []repo.Manifest) { clear(o) }, "ends at counter 0, but counter 4 was written", ""},
		{"another in the middle", func(o objects, m []repo.Manifest) { relabel(o, m[2]) }, "counter 4 does not follow", ""},
		{"another at the end", func(o objects, m []repo.Manifest) { relabel(o, m[3]) }, "counter 4 is not the snapshot that was written", ""},
		{"a counter twice", func(o objects, m []repo.Manifest) {
			id := "01900000-0000-7000-8000-000000000000"
			body := strings.Replace(bodyOf(o[manifestOf(m[2])]), string(m[2].ID), id, 1)
			o["snapshots/ada/"+id+".json"] = envelope(body)
		}, "two snapshots have the counter 3", ""},
		{"the last unreadable", func(o objects, m []repo.Manifest) { o[manifestOf(m[3])] = nil }, "", "the known head, counter 4, cannot be read"},
		{"one unreadable", func(o objects, m []repo.Manifest) { o[manifestOf(m[2])] = nil }, "", "counters 3 to 3: their records cannot be read"},
		{"a stub unreadable", func(o objects, m []repo.Manifest) { o[stubNameOf(m[1])] = nil }, "", "counters 2 to 2: their records cannot be read"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target, s := storeOn(t, newMemory())
			var taken []repo.Manifest
			for _, word := range []string{"a", "b", "c", "d"} {
				taken = append(taken, s.take(t, ada, word))
				s.later(time.Second)
			}
			s.delete(t, taken[1])
			head, err := s.catalog.Tip(ctx, ada, laptop)
			must.Do(t, err)
			tt.spoil(target.objects, taken)
			known := func(string) (repo.Link, bool) { return head, true }
			r := must.Get(s.catalog.CheckChain(ctx, ada, known, laptop))(t)
			has := func(l []string, want string) bool {
				if want == "" {
					return len(l) == 0
				}
				return slices.ContainsFunc(l, func(s string) bool { return strings.Contains(s, want) })
			}
			must.Hold(t, has(r.Damaged, tt.damaged) && has(r.NotChecked, tt.notChecked), "%+v", r)
			r, err = s.catalog.CheckChain(ctx, ada, nil, laptop)
			if err != nil || !has(r.NotChecked, "tail not checked: no known head") {
				t.Errorf("without a known head: %v, %+v", err, r)
			}
		})
	}
}

func stubNameOf(m repo.Manifest) string {
	return strings.Replace(manifestOf(m), "snapshots/", "stubs/", 1)
}

// relabel puts another manifest, intact by itself, in the place of one.
func relabel(o map[string][]byte, m repo.Manifest) {
	o[manifestOf(m)] = envelope(strings.Replace(bodyOf(o[manifestOf(m)]), `"label":"`, `"label":"forged `, 1))
}

func TestChainsOfSeveralDevicesAreSeparate(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	for _, device := range []string{laptop, "desk", laptop, "desk"} {
		m, err := s.prepare(t, ada, device, content{device, 1})
		if err == nil {
			err = s.publish(m)
		}
		must.Do(t, err)
	}
	if r := must.Get(s.catalog.CheckChain(ctx, ada, nil))(t); len(r.Damaged) > 0 || len(r.Checked) != 2 || len(r.NotChecked) != 2 {
		t.Errorf("%+v", r)
	}
}

// TestALinkThatIsWrittenDuringTheListingIsNoGap publishes two snapshots while
// manifests are listed, so that the listing has only the second of them.
func TestALinkThatIsWrittenDuringTheListingIsNoGap(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	s.take(t, ada, "a")
	b := s.take(t, ada, "b")
	s.take(t, ada, "c")
	hidden := &hides{Target: target, name: manifestOf(b)}
	if r := must.Get(open(t, hidden).Catalog(tenant).CheckChain(ctx, ada, nil))(t); len(r.Damaged) > 0 || !hidden.done {
		t.Errorf("%+v", r)
	}
}

// hides leaves an object out of the first listing that has it.
type hides struct {
	target.Target
	name string
	done bool
}

func (h *hides) List(ctx context.Context, prefix string, fn func(target.Object) error) error {
	return h.Target.List(ctx, prefix, func(o target.Object) error {
		if o.Name == h.name && !h.done {
			h.done = true
			return nil
		}
		return fn(o)
	})
}
