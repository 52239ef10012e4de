package repo_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/must"
)

// counted is a target that counts what is sent to it, and stops after some.
type counted struct {
	target.Target
	puts atomic.Int64
	stop int64 // 0: never
}

var errStopped = errors.New("the line is dead")

func (c *counted) Put(ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
	n := c.puts.Add(1)
	if c.stop > 0 && n > c.stop {
		return false, errStopped
	}
	return c.Target.Put(ctx, name, size, r)
}

func mustCopy(t *testing.T, from, to target.Target) target.CopyReport {
	t.Helper()
	return must.Get(repo.Copy(ctx, from, to, repo.CopyOptions{}))(t)
}

// on returns the same store on another target.
func (s *store) on(t testing.TB, target target.Target) *store {
	t.Helper()
	c := newStore(t, target)
	c.now, c.ids = s.now, s.ids
	return c
}

func TestACopyIsWholeAndSendsNothingTwice(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
	to := &counted{Target: newMemory()}
	first := mustCopy(t, s.target, to)
	must.Hold(t, first.Snapshots == 2 && first.Objects != 0 && first.ObjectsPresent == 0, "the first copy: %+v", first)
	s.on(t, to).whole(t, a, b)
	sent := to.puts.Load()
	if again := mustCopy(t, s.target, to); again.Objects != 0 || again.Bytes != 0 || again.SnapshotsPresent != 2 {
		t.Errorf("the second copy: %+v", again)
	}
	if again := to.puts.Load(); again != sent {
		t.Errorf("the second copy offered %d objects", again-sent)
	}
	c := s.take(t, ada, "c")
	must.Equal(t, "snapshots of the third copy", mustCopy(t, s.target, to).Snapshots, 1)
	s.on(t, to).whole(t, a, b, c)
	back := newMemory()
	mustCopy(t, to, back)
	s.on(t, back).whole(t, a, b, c)
}

// A copy that is cut off anywhere leaves whole snapshots, and goes on where it
// ended.
func TestACopyGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
	total := mustCopy(t, s.target, newMemory()).Objects
	for stop := int64(1); stop <= int64(total); stop++ {
		inside := newMemory()
		cut := &counted{Target: inside, stop: stop}
		_, err := repo.Copy(ctx, s.target, cut, repo.CopyOptions{Workers: 1})
		if err == nil && stop < int64(total) {
			t.Fatalf("cut after %d of %d objects: no error", stop, total)
		}
		other := s.on(t, inside)
		if report := other.audit(t); !report.OK() {
			t.Fatalf("cut after %d: %+v", stop, report.Damaged)
		}
		rest := mustCopy(t, s.target, inside)
		if want := total - int(min(stop, int64(total))); rest.Objects != want {
			t.Errorf("cut after %d of %d objects: %d were sent then, want %d", stop, total, rest.Objects, want)
		}
		s.on(t, inside).whole(t, a, b)
	}
}

func TestTwoMachinesCopyToOnePlaceAtOnce(t *testing.T) {
	t.Parallel()
	one, two := newStore(t, newMemory()), newStore(t, newMemory())
	var taken [2]repo.Manifest
	for i, s := range []*store{one, two} {
		s.now = s.now.Add(1)
		*s.ids = uint64(1000 * i)
		m, err := s.prepare(t, ada, strings.Repeat("device", i+1), content{strings.Repeat("w", i+1), 2})
		if err == nil {
			err = s.publish(m)
		}
		must.Do(t, err)
		taken[i] = m
	}
	to := newMemory()
	var wg sync.WaitGroup
	for _, s := range []*store{one, two} {
		wg.Go(func() {
			must.NoError(t, must.Err(repo.Copy(ctx, s.target, to, repo.CopyOptions{})))
		})
	}
	wg.Wait()
	one.on(t, to).whole(t, taken[:]...)
}

func TestACopyBringsNothingDamaged(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	s.take(t, ada, "a")
	from := s.target.(*memory)
	for _, name := range from.names("packs/") {
		from.objects[name] = append([]byte{}, from.objects[name]...)
		from.objects[name][40] ^= 1
	}
	to := newMemory()
	must.Fail(repo.Copy(ctx, from, to, repo.CopyOptions{}))(t, "a damaged pack", amber.KindDamaged)
	if n := len(to.names("snapshots/")); n > 0 {
		t.Errorf("%d manifests came", n)
	}
}

// A snapshot that was deleted at the source stays at the destination, and one that was deleted at the destination is
// not brought back.
func TestACopyDeletesNothingAndBringsNothingBack(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
	to := newMemory()
	mustCopy(t, s.target, to)
	s.delete(t, a)
	mustCopy(t, s.target, to)
	there := s.on(t, to)
	there.whole(t, a, b)
	there.delete(t, b)
	mustCopy(t, s.target, to)
	must.Fail(s.on(t, to).catalog.Get(ctx, ada, b.ID))(t, "what was deleted there", amber.KindNotFound)
	s.on(t, to).whole(t, a)
	// A fresh destination gets the stub of what is gone at the source.
	fresh := newMemory()
	mustCopy(t, s.target, fresh)
	s.on(t, fresh).whole(t, b)
}

// gc at the destination must not take what a copy relies on.
func TestACopyRescuesWhatGCIsAboutToTake(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	a := s.take(t, ada, "a")
	b := s.take(t, ada, "b")
	to := newMemory()
	mustCopy(t, s.target, to)
	there := s.on(t, to)
	there.delete(t, a)
	there.delete(t, b)
	there.gc(t) // everything is condemned now
	c := s.take(t, ada, "a")
	report := mustCopy(t, s.target, to)
	must.Hold(t, report.Rescued != 0, "nothing was rescued: %+v", report)
	there = s.on(t, to)
	there.later(3 * grace)
	there.collect(t)
	there.whole(t, c)
}

// TestAManifestThatIsThereIsCompared puts another one of the same length there.
func TestAManifestThatIsThereIsCompared(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	m := s.take(t, ada, "a")
	to := newMemory()
	must.Equal(t, "packs the first copy did not compare", mustCopy(t, s.target, to).PacksNotCompared, 0)
	must.Equal(t, "packs the second copy did not compare", mustCopy(t, s.target, to).PacksNotCompared, len(to.names("packs/")))
	name := "snapshots/ada/" + string(m.ID) + ".json"
	to.objects[name] = envelope(strings.Replace(bodyOf(to.objects[name]), `"label":"a"`, `"label":"b"`, 1))
	s.take(t, ada, "c")
	before := to.clone()
	must.Fail(repo.Copy(ctx, s.target, to, repo.CopyOptions{}))(t, "copy", amber.KindConflict)
	must.Equal(t, "objects", to.objects, before.objects)
}

// TestWhatIsNotEncryptedIsNotSentToWhoIsNotTrusted copies a repository that was
// not always encrypted.
func TestWhatIsNotEncryptedIsNotSentToWhoIsNotTrusted(t *testing.T) {
	t.Parallel()
	from := newMemory()
	s := newStore(t, from)
	plain := s.take(t, ada, "plain")
	encrypt(t, from)
	s = s.again(t)
	s.take(t, ada, "sealed")
	to := newMemory()
	refuse := repo.CopyOptions{RefusePlain: true}
	r, err := repo.Copy(ctx, from, to, refuse)
	must.Kind(t, "copy", err, amber.KindRefused)
	must.Hold(t, r.Plain == 1 && len(to.objects) == 0, "%+v, %q", r, to.names(""))
	if r, err := repo.Copy(ctx, from, to, repo.CopyOptions{}); err != nil || r.Plain != 1 || r.Snapshots != 2 {
		t.Errorf("without: %v, %+v", err, r)
	}
	// A snapshot that is there already need not be sent.
	must.Equal(t, "plain snapshots that are there already", must.Get(repo.Copy(ctx, from, to, refuse))(t).Plain, 1)
	// The packs that are left of a deleted snapshot may not be sent either.
	left := from.clone()
	there := s.on(t, left)
	there.delete(t, plain)
	fresh := newMemory()
	r, err = repo.Copy(ctx, left, fresh, refuse)
	must.Kind(t, "packs of a plain snapshot that was deleted", err, amber.KindRefused)
	must.Hold(t, len(fresh.objects) == 0, "%q were sent", fresh.names(""))
	drop(left.objects, "index/")
	must.Fail(repo.Copy(ctx, left, fresh, refuse))(t, "packs that no index object names", amber.KindRefused)
	must.Hold(t, r.Plain == 0 && len(fresh.names("snapshots/")) == 0, "%+v, %q", r, fresh.names("snapshots/"))
	must.Do(t, there.repo.Rebuild(ctx))
	there.collect(t)
	fresh = newMemory()
	must.Equal(t, "snapshots after space was freed", must.Get(repo.Copy(ctx, left, fresh, refuse))(t).Snapshots, 1)
	// Copy cannot know what is in a manifest that cannot be read.
	name := "snapshots/ada/" + string(plain.ID) + ".json"
	from.objects[name] = append([]byte(" "), from.objects[name]...)
	fresh = newMemory()
	must.Fail(repo.Copy(ctx, from, fresh, refuse))(t, "a damaged manifest", amber.KindDamaged)
	must.Hold(t, len(fresh.objects) == 0, "%q were sent", fresh.names(""))
}
