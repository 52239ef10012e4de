package repo_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestGarbageGoesWhenTheGraceTimeIsOver(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		target, s := storeOn(t, newMemory())
		a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
		packs := target.names("packs/")
		must.Equal(t, "nothing to free", s.gc(t), repo.GCReport{})
		s.delete(t, b)
		if r := s.gc(t); r.Condemned != 1 || r.CondemnedBytes == 0 || r.Deleted != 0 {
			t.Errorf("condemned: %+v", r)
		}
		s.whole(t, a)
		s.later(grace - time.Millisecond)
		if r := s.gc(t); r.Condemned != 1 || r.Deleted != 0 {
			t.Errorf("before the grace time is over: %+v", r)
		}
		s.later(time.Millisecond)
		dry := s.options()
		dry.DryRun = true
		before := target.clone()
		planned, err := s.repo.CollectGarbage(ctx, may(), dry)
		if err != nil || planned.Deleted != 1 || !cmp.Equal(before.objects, target.objects) {
			t.Errorf("dry run: %v, %+v", err, planned)
		}
		held := s.options()
		held.MaySweep = false
		if r, err := s.repo.CollectGarbage(ctx, may(), held); err != nil || r.Deleted != 0 || r.Condemned != 1 {
			t.Errorf("without sweeping: %v, %+v", err, r)
		}
		r := s.gc(t)
		if r.Deleted != 1 || r.Condemned != 0 || r.Freed == 0 || r.Freed != planned.Freed || r.IndexRemoved != 1 {
			t.Errorf("deleted: %+v", r)
		}
		report := s.whole(t, a)
		if len(target.names("packs/")) != len(packs)-1 || report.Unused != 0 {
			t.Errorf("packs %q, unused %d", target.names("packs/"), report.Unused)
		}
		// The list forgets the pack in the end.
		s.later(2 * grace)
		s.gc(t)
		must.Equal(t, "lists of condemned packs", target.names("condemned/"), nil)
		s.whole(t, a)
	})
}

func TestPacksThatAreMostlyDeadAreRewritten(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		target, s := storeOn(t, newMemory())
		// One pack with much that only the first snapshot needs and a little that
		// both do.
		w := s.repo.NewWriter(ctx)
		in := must.Get(s.inner(w, content{"both", 1}))(t)
		id := must.Get(w.PutInner(ctx, in))(t)
		big := must.Get(w.Put(ctx, repo.KindFile, noise(1, 50_000)))(t)
		must.Get(w.Flush(ctx))(t)
		_ = w.Close()
		m := s.sealed(w, repo.Manifest{
			ID: s.newID(t), Tenant: tenant, Agent: ada, Device: laptop, Counter: 1, CreatedAt: s.at(), Label: "both", Inner: id,
		})
		must.Do(t, s.publish(m))
		old := target.names("packs/")
		r := s.gc(t)
		must.Hold(t, r.Repacked == 1 && r.Condemned == 1 && len(target.names("packs/")) == 2, "rewritten: %+v", r)
		s.whole(t, m)
		s.later(grace)
		must.Equal(t, "deleted packs", s.gc(t).Deleted, 1)
		report := s.whole(t, m)
		if slices.Contains(target.names("packs/"), old[0]) || report.Unused != 0 || s.repo.Has(big) {
			t.Errorf("%q, unused %d", target.names("packs/"), report.Unused)
		}
	})
}

// TestASnapshotPausedBeforeItsManifestIsWhole runs gc, also often enough to
// delete, while a snapshot has stored everything but its manifest.
func TestASnapshotPausedBeforeItsManifestIsWhole(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		for _, runs := range []int{1, 2} {
			target, s := storeOn(t, newMemory())
			a := s.take(t, ada, "a")
			paused := s.again(t)
			b := must.Get(paused.prepare(t, ada, laptop, content{"b", 2}))(t)
			for range runs {
				s.gc(t)
				s.later(grace)
			}
			err := paused.publish(b)
			if runs == 1 {
				must.Do(t, err)
				s.whole(t, a, b)
				// The blobs that the snapshot stored again are not in the condemned packs.
				s.collect(t)
				s.whole(t, a, b)
				continue
			}
			// It took longer than the grace time, which InTime forbids: still it
			// does not exist half.
			must.Hold(t, err != nil && len(target.names("snapshots/")) == 1, "published, though its packs are gone: %v", err)
			s.whole(t, a)
		}
	})
}

// TestAPackThatComesToBeNeededAfterItWasCondemnedIsRescued is about a snapshot
// that had looked at the list just before.
func TestAPackThatComesToBeNeededAfterItWasCondemnedIsRescued(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		s := newStore(t, newMemory())
		a := s.take(t, ada, "a")
		b := must.Get(s.again(t).prepare(t, ada, laptop, content{"b", 2}))(t)
		s.gc(t) // condemns what only b will need
		must.Get(s.catalog.Publish(ctx, may(), b))(t)
		s.later(grace)
		if r := s.gc(t); r.Repacked != 1 || r.Deleted != 0 {
			t.Errorf("rescued: %+v", r)
		}
		s.whole(t, a, b)
		s.later(grace)
		must.Equal(t, "deleted packs", s.gc(t).Deleted, 1)
		s.whole(t, a, b)
	})
}

// TestTheSameSnapshotAgainDoesNotRelyOnACondemnedPack takes a snapshot whose
// packs would have the very bytes of those of one that died.
func TestTheSameSnapshotAgainDoesNotRelyOnACondemnedPack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		for _, deleted := range []bool{false, true} {
			target, s := storeOn(t, newMemory())
			must.Get(s.prepare(t, ada, laptop, content{"a", 2}))(t)
			died := target.names("packs/")[0]
			s.gc(t)
			if deleted {
				s.later(grace)
				s.gc(t)
			}
			a := s.again(t).take(t, ada, "a")
			if n := slices.Index(target.names("packs/"), died); (n >= 0) == deleted || len(target.names("packs/")) < 1 {
				t.Errorf("packs: %q", target.names("packs/"))
			}
			s.whole(t, a)
			s.later(grace)
			s.gc(t)
			must.Hold(t, !slices.Contains(target.names("packs/"), died), "the pack that was condemned is still there")
			s.whole(t, a)
		}
	})
}

// TestAnotherCollectionThatIsLateDeletesNothingThatIsNeeded stops a collection
// when it knows what to do, while others and snapshots go on.
func TestAnotherCollectionThatIsLateDeletesNothingThatIsNeeded(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		for _, when := range []string{"put condemned/", "delete condemned/", "delete index/", "delete packs/"} {
			target, s := storeOn(t, newMemory())
			a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
			s.delete(t, b)
			s.gc(t)
			s.later(grace)
			stopped := false
			late := newStore(t, &before{Target: target, call: when, do: func() {
				stopped = true
				s.gc(t)
				s.gc(t)
				b = s.again(t).take(t, ada, "b") // of the same bytes
			}})
			late.now = s.now
			if _, err := late.repo.CollectGarbage(ctx, may(), late.options()); err != nil || !stopped {
				t.Fatalf("stopped before %s: %v", when, err)
			}
			s.whole(t, a, b)
			s.collect(t)
			s.whole(t, a, b)
		}
	})
}

// before does something, once, before a call.
type before struct {
	target.Target
	call string // "delete packs/": a delete of a name that begins so
	do   func()
	once sync.Once
}

func (b *before) look(op, name string) {
	if strings.HasPrefix(op+" "+name, b.call) {
		b.once.Do(b.do)
	}
}

func (b *before) Put(ctx context.Context, name string, size int64, r io.Reader) (bool, error) {
	b.look("put", name)
	return b.Target.Put(ctx, name, size, r)
}

func (b *before) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	b.look("get", name)
	return b.Target.Get(ctx, name, offset, length)
}

func (b *before) Delete(ctx context.Context, name string) error {
	b.look("delete", name)
	return b.Target.Delete(ctx, name)
}

func TestACollectionThatTookTooLongStops(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		s := newStore(t, newMemory())
		a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
		s.delete(t, b)
		s.gc(t)
		s.later(grace)
		o := s.options()
		// The clock is asked when it begins, twice for the list, and before each
		// pack.
		for _, quick := range []int{1, 3} {
			calls := 0
			o.Now = func() time.Time {
				if calls++; calls > quick {
					return s.now.Add(grace + 1)
				}
				return s.now
			}
			r, err := s.repo.CollectGarbage(ctx, may(), o)
			must.Kind(t, fmt.Sprintf("slow after %d calls", quick), err, amber.KindConflict)
			must.Equal(t, "deleted packs", r.Deleted, 0)
			s.whole(t, a)
		}
		s.later(grace)
		must.Equal(t, "packs deleted in time", s.gc(t).Deleted, 1)
		s.whole(t, a)
	})
}

func TestGarbageIsKeptWhileAManifestCannotBeRead(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		tests := []struct {
			name  string
			spoil func(s *store, o map[string][]byte, m repo.Manifest)
			want  amber.Kind
		}{
			{"damaged", func(_ *store, o map[string][]byte, m repo.Manifest) { o[manifestOf(m)][30] ^= 1 }, amber.KindDamaged},
			{"empty", func(_ *store, o map[string][]byte, m repo.Manifest) { o[manifestOf(m)] = nil }, amber.KindDamaged},
			{"renamed", func(_ *store, o map[string][]byte, m repo.Manifest) {
				o[manifestOf(m)+".bak"] = o[manifestOf(m)]
				delete(o, manifestOf(m))
			}, amber.KindDamaged},
			{"in the place of another", func(s *store, o map[string][]byte, m repo.Manifest) {
				o["snapshots/bob/"+string(m.ID)+".json"] = o[manifestOf(m)]
			}, amber.KindDamaged},
			{"newer", func(_ *store, o map[string][]byte, m repo.Manifest) {
				o[manifestOf(m)] = envelope(`{"format":"amber-snapshot","version":2}`)
			}, amber.KindTooNew},
			{"signed with nonsense", func(_ *store, o map[string][]byte, m repo.Manifest) {
				o[manifestOf(m)] = []byte(strings.Replace(string(o[manifestOf(m)]), `"signatures":[]`, `"signatures":[1]`, 1))
			}, amber.KindDamaged},
			{"no pack", func(_ *store, o map[string][]byte, _ repo.Manifest) { drop(o, "packs/") }, amber.KindDamaged},
			{"no index", func(_ *store, o map[string][]byte, _ repo.Manifest) { drop(o, "index/") }, amber.KindDamaged},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				target, s := storeOn(t, newMemory())
				a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
				s.delete(t, b)
				s.gc(t) // b is condemned
				s.delete(t, s.take(t, ada, "c"))
				tt.spoil(s, target.objects, a)
				before := target.clone()
				s.later(grace)
				_, err := s.again(t).repo.CollectGarbage(ctx, may(), s.options())
				must.Kind(t, "gc", err, tt.want)
				if amber.HintOf(err) == "" || !strings.Contains(err.Error(), "nothing is removed") {
					t.Errorf("it does not say why: %v", err)
				}
				must.Equal(t, "objects", target.objects, before.objects)
			})
		}
	})
}

func manifestOf(m repo.Manifest) string {
	return "snapshots/" + string(m.Agent) + "/" + string(m.ID) + ".json"
}

func TestInterruptedDeletionsAreFinished(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
	must.Do(t, s.catalog.SetPin(ctx, may(), ada, b.ID, true, s.at()))
	manifest, pin := manifestOf(b), "pins/ada/"+string(b.ID)+".json"
	before := target.clone()
	s.delete(t, b)
	target.objects[manifest], target.objects[pin] = before.objects[manifest], before.objects[pin]
	must.Equal(t, "labels", labels(t, s, ada), []string{"a"})
	s.whole(t, a)
	if r := s.gc(t); len(r.Finished) != 1 || r.Finished[0].ID != b.ID || r.Condemned != 1 {
		t.Errorf("%+v", r)
	}
	must.Hold(t, len(target.names("snapshots/")) == 1 && len(target.names("pins/")) == 0, "%q", target.names(""))
	target.objects[pin] = before.objects[pin] // only that is left
	s.gc(t)
	must.Equal(t, "pins of deleted snapshots", len(target.names("pins/")), 0)
	s.whole(t, a)
}

// TestGarbageMendsTheIndex is about index objects that name lost packs which no snapshot needs, and damaged ones.
func TestGarbageMendsTheIndex(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		target, s := storeOn(t, newMemory())
		a := s.take(t, ada, "a")
		index, packs := target.names("index/"), target.names("packs/")
		s.delete(t, s.take(t, ada, "b"))
		s.delete(t, s.take(t, ada, "c"))
		lost := slices.DeleteFunc(target.names("packs/"), func(n string) bool { return slices.Contains(packs, n) })
		delete(target.objects, lost[0])
		damaged := slices.DeleteFunc(target.names("index/"), func(n string) bool { return slices.Contains(index, n) })
		target.objects[damaged[1]] = []byte("no index")
		s = s.again(t)
		if s.audit(t).OK() {
			t.Fatal("the audit sees nothing")
		}
		s.gc(t)
		s.whole(t, a)
		s.later(grace)
		s.gc(t)
		must.Equal(t, "packs", target.names("packs/"), packs)
	})
}

func TestManySmallIndexObjectsBecomeOne(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		target, s := storeOn(t, newMemory())
		var taken []repo.Manifest
		for n := range 40 {
			taken = append(taken, s.take(t, ada, fmt.Sprint("word ", n)))
		}
		if r := s.gc(t); r.IndexRemoved != 40 || len(target.names("index/")) != 1 {
			t.Errorf("%+v, %d index objects", r, len(target.names("index/")))
		}
		s.whole(t, taken...)
	})
}

func TestADamagedListOfCondemnedPacksIsMadeAgain(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	a, b := s.take(t, ada, "a"), s.take(t, ada, "b")
	s.delete(t, b)
	s.gc(t)
	list := target.names("condemned/")[0]
	target.objects[list][60] ^= 2
	must.Equal(t, "a damaged list passes", s.audit(t).OK(), false)
	must.Equal(t, "condemned packs", s.gc(t).Condemned, 1)
	s.whole(t, a)
	target.objects[target.names("condemned/")[0]] = envelope(`{"format":"amber-condemned","version":2}`)
	must.Fail(s.repo.Condemned(ctx))(t, "a newer list", amber.KindTooNew)
	must.Fail(s.repo.CollectGarbage(ctx, may(), s.options()))(t, "gc with a newer list", amber.KindTooNew)
}

func TestASnapshotMustBePublishedInTime(t *testing.T) {
	t.Parallel()
	at := amber.At(epoch)
	for _, tt := range []struct {
		took time.Duration
		want amber.Kind
	}{{0, ""}, {grace / 2, ""}, {grace/2 + time.Millisecond, amber.KindConflict}, {-grace, amber.KindConflict}, {-time.Second, ""}} {
		must.Kind(t, tt.took.String(), repo.InTime(at, at.Add(tt.took), grace), tt.want)
	}
}

// TestRandomSnapshotsAndCollections takes, deletes and collects in random order, also while snapshots are under way.
// Every snapshot that should be there always is.
func TestRandomSnapshotsAndCollections(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, newMemory func() *memory) {
		for seed := range uint64(6) {
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
				t.Parallel()
				rnd := rand.New(rand.NewPCG(seed, 0))
				s := newStore(t, newMemory())
				var taken []repo.Manifest
				for range 60 {
					agent := []amber.AgentID{ada, bob}[rnd.IntN(2)]
					word := fmt.Sprint("word ", rnd.IntN(12))
					switch rnd.IntN(5) {
					case 0, 1:
						taken = append(taken, s.take(t, agent, word))
					case 2:
						if len(taken) > 0 {
							n := rnd.IntN(len(taken))
							s.delete(t, taken[n])
							taken = slices.Delete(taken, n, n+1)
						}
					case 3:
						s.later(time.Duration(rnd.Int64N(int64(grace))))
						s.gc(t)
					case 4:
						paused := s.again(t)
						m := must.Get(paused.prepare(t, agent, laptop, content{word, rnd.IntN(3)}))(t)
						s.gc(t)
						s.later(grace / 2)
						must.Do(t, paused.publish(m))
						taken = append(taken, m)
					}
				}
				s.whole(t, taken...)
				s.collect(t)
				if report := s.whole(t, taken...); len(taken) == 0 && report.Packs > 0 {
					t.Errorf("%d packs of no snapshot", report.Packs)
				}
			})
		}
	})
}

func TestEndangeredIsWhatOnlyCondemnedOrLostPacksHold(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	safe, doomed := sample{repo.KindFile, 0, []byte("safe")}, sample{repo.KindFile, 0, []byte("doomed")}
	fill(t, s.repo, doomed)
	s.gc(t)
	fill(t, s.repo, safe)
	never := repo.BlobID(repo.KindFile, []byte("never stored"))
	endangered := func() []repo.ID {
		t.Helper()
		return must.Get(s.repo.Endangered(ctx, func(fn func(repo.ID, repo.Kind) error) error {
			for _, id := range []repo.ID{safe.id(), doomed.id(), never, doomed.id()} {
				if err := fn(id, repo.KindFile); err != nil {
					return err
				}
			}
			return nil
		}))(t)
	}
	must.Equal(t, "endangered", endangered(), []repo.ID{doomed.id(), never})
	condemned := must.Get(s.repo.Condemned(ctx))(t)
	w := writer(t, s.repo)
	w.Avoid(condemned)
	must.Do(t, w.Copy(ctx, []repo.ID{doomed.id()}))
	must.Get(w.Flush(ctx))(t)
	must.Equal(t, "endangered", endangered(), []repo.ID{never})
	failed := errors.New("failed")
	must.Is(t, "needed", must.Err(s.repo.Endangered(ctx, func(func(repo.ID, repo.Kind) error) error { return failed })), failed)
}

// TestAReaderMeetsAnIndexThatIsBeingReplaced loads the index while gc puts its
// objects together.
func TestAReaderMeetsAnIndexThatIsBeingReplaced(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	var last repo.Manifest
	for n := range 40 {
		last = s.take(t, ada, fmt.Sprint("word ", n))
	}
	reader, err := repo.Open(ctx, &before{Target: target, call: "get index/", do: func() { s.gc(t) }}, nil)
	if err != nil || len(target.names("index/")) != 1 {
		t.Fatalf("%v, %d index objects", err, len(target.names("index/")))
	}
	must.Hold(t, len(reader.Problems()) == 0 && reader.Has(last.Inner), "problems %v", reader.Problems())
}
