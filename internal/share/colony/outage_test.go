package colony_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// outage is an operation that fails at each of its requests.
type outage struct {
	name string
	// before is done without failures.
	before func(s *scene)
	// run is the operation. It reports what was said to be wrong although it
	// succeeded.
	run func(s *scene) (noticed bool, err error)
	// lives are the texts of which the newest snapshot must hold one, whatever
	// happens; all are those that must be there.
	lives, all []string
}

// scene is one run of an outage.
type scene struct {
	*bench
	v    *colony.Vault
	memo *memo
}

func (s *scene) save(text string) colony.BackupReport {
	return s.backup(s.v, doc(text), colony.BackupOptions{})
}

var long = bulky(7, 500)

func backUp(text string, keep int) func(*scene) (bool, error) {
	return func(s *scene) (bool, error) {
		r, err := s.v.Backup(s.t.Context(), doc(text), colony.BackupOptions{Keep: keep})
		return len(r.Warnings) > 0, err
	}
}

var outages = []outage{
	{"first backup", func(*scene) {}, backUp("one", 0), []string{"", "one"}, nil},
	{"second backup", func(s *scene) { s.save("one") }, backUp("two", 0), []string{"one", "two"}, []string{"one"}},
	{"unchanged", func(s *scene) { s.save("one") }, backUp("one", 0), []string{"one"}, []string{"one"}},
	{"unchanged, without a pointer", func(s *scene) {
		s.save("one")
		s.fake.Remove("cmem.x.latest.json")
	}, backUp("one", 0), []string{"one"}, []string{"one"}},
	{"many parts", func(s *scene) { s.save("one") }, backUp(long, 0), []string{"one", long}, []string{"one"}},
	{"backup and prune", func(s *scene) {
		s.save("one")
		s.save("two")
		s.save("three")
	}, backUp("four", 2), []string{"three", "four"}, []string{"three"}},
	{"many parts and prune", func(s *scene) {
		s.save(bulky(8, 300))
		s.save("two")
	}, backUp(long, 1), []string{"two", long}, nil},
	{"resumed", func(s *scene) {
		s.save("one")
		s.interrupt("put", 3, func() { _, _ = backUp(long, 0)(s) })
	}, backUp(long, 0), []string{"one", long}, []string{"one"}},
	{"resumed before the pointer", func(s *scene) {
		s.save("one")
		s.interrupt("put", 4, func() { _, _ = backUp("two", 0)(s) })
	}, backUp("two", 0), []string{"one", "two"}, []string{"one"}},
	{"restore", func(s *scene) {
		s.save("one")
		s.save(long)
	}, restoreOf(long), []string{long}, []string{"one", long}},
	{"restore without a pointer", func(s *scene) {
		s.save("one")
		s.save("two")
		s.fake.Remove("cmem.x.latest.json")
	}, restoreOf("two"), []string{"two"}, []string{"one", "two"}},
	{"list", func(s *scene) {
		s.save("one")
		s.save("two")
	}, func(s *scene) (bool, error) {
		_, err := s.v.List(s.t.Context())
		if err == nil {
			_, err = s.v.Latest(s.t.Context())
		}
		return false, err
	}, []string{"two"}, []string{"one", "two"}},
	{"prune", func(s *scene) {
		s.save(long)
		s.save("two")
		s.save("three")
	}, pruneTo(1), []string{"three"}, []string{"three"}},
	{"prune without a pointer", func(s *scene) {
		s.save("one")
		s.save("two")
		s.fake.Remove("cmem.x.latest.json")
	}, pruneTo(1), []string{"two"}, []string{"two"}},
	{"backup over a rotten pointer", func(s *scene) {
		s.save("one")
		s.fake.Rot("cmem.x.latest.json")
	}, backUp("two", 0), []string{"one", "two"}, []string{"one"}},
	{"unchanged, with a rotten pointer", func(s *scene) {
		s.save("one")
		s.fake.Rot("cmem.x.latest.json")
	}, backUp("one", 0), []string{"one"}, []string{"one"}},
	{"restore with a rotten pointer", func(s *scene) {
		s.save("one")
		s.save("two")
		s.fake.Rot("cmem.x.latest.json")
	}, restoreOf("two"), []string{"two"}, []string{"one", "two"}},
	{"prune with a rotten pointer", func(s *scene) {
		s.save("one")
		s.save("two")
		s.fake.Rot("cmem.x.latest.json")
	}, pruneTo(1), []string{"two"}, []string{"two"}},
	{"delete the newest", func(s *scene) {
		s.save("one")
		s.save(long)
	}, deleteNewest, []string{"one", long}, []string{"one"}},
	{"delete the only one", func(s *scene) { s.save(long) }, deleteNewest, []string{"", long}, nil},
}

// interrupt runs f with the nth request of an operation failing.
func (s *scene) interrupt(op string, n int, f func()) {
	s.pass(time.Second)
	s.fake.Before = func(r colonytest.Request) colonytest.Fault {
		if r.Op == op {
			n--
		}
		if n > 0 || r.Op != op {
			return colonytest.Fault{}
		}
		return colonytest.Fault{Err: amber.Errorf(amber.KindUnreachable, op, r.Name, "away")}
	}
	f()
	s.fake.Before = nil
}

func restoreOf(text string) func(*scene) (bool, error) {
	return func(s *scene) (bool, error) {
		r, err := s.v.Restore(s.t.Context(), "")
		if err == nil {
			sameDocuments(s.t, r.Documents, doc(text))
		}
		return false, err
	}
}

func pruneTo(keep int) func(*scene) (bool, error) {
	return func(s *scene) (bool, error) {
		r, err := s.v.Prune(s.t.Context(), keep, false)
		return len(r.Failed) > 0, err
	}
}

// deleteNewest deletes what the first listing of the test shows as the newest.
func deleteNewest(s *scene) (bool, error) {
	id := colony.SnapshotID(s.fake.Files()["the newest"])
	if id == "" {
		_, id = complete(s.fake.Files(), "x")
		s.fake.Fill(map[string]string{"the newest": string(id)})
	}
	_, err := s.v.Delete(s.t.Context(), id, false)
	return false, err
}

// faults are what happens to a request.
var faults = map[string]colonytest.Fault{
	"unreachable": {Err: amber.Errorf(amber.KindUnreachable, "ask", "", "away")},
	"refused":     {Err: amber.Errorf(amber.KindRefused, "ask", "", "no")},
	"quota":       {Err: amber.Errorf(amber.KindQuota, "ask", "", "too often")},
	"lost":        {Err: amber.Errorf(amber.KindUnreachable, "ask", "", "no answer"), Done: true},
}

// backends are what the vault knows.
var backends = map[string]func(s *scene) colony.Backend{
	"conditional":   func(s *scene) colony.Backend { return s.fake },
	"unconditional": func(s *scene) colony.Backend { return colonytest.Unconditional(s.fake) },
	"bare": func(s *scene) colony.Backend {
		s.fake.Bare = true
		return s.fake
	},
}

// start is what a scene begins with, so that it is made once.
type start struct {
	files  map[string]string
	rotten []string
	seen   colony.Sighting
}

// prepare makes what the operation is to find.
func (o outage) prepare(t *testing.T, backend string) start {
	s := start{}.set(t, backend)
	o.before(s)
	return start{s.fake.Files(), s.fake.Rotten(), s.memo.seen}
}

// set makes a scene.
func (b start) set(t *testing.T, backend string) *scene {
	s := &scene{bench: newBench(t), memo: &memo{seen: b.seen}}
	s.v = s.openOn(backends[backend](s), func(o *colony.Options) { o.Witness = s.memo })
	s.v.SetPartChars(200)
	if b.files != nil {
		s.pass(time.Minute)
		s.fake.Fill(b.files)
		s.fake.Rot(b.rotten...)
	}
	return s
}

// shape is a vault without ids: the texts of its snapshots, the oldest first,
// what the pointer names, and how many other files there are.
type shape struct {
	Texts []string
	Named string
	Other int
}

func (s *scene) shape() shape {
	s.t.Helper()
	files := s.fake.Files()
	ids, named := complete(files, "x")
	out, known := shape{}, 1 // the pointer
	for _, id := range ids {
		m, parts := snapshotOf(s.t, files, "x", id)
		docs, _, err := colony.Unpack(s.t.Context(), m, parts, colony.ReadOptions{Label: "x", ID: id})
		must.Do(s.t, err)
		known += 1 + len(parts)
		out.Texts = append(out.Texts, docs["MEMORY.md"])
		if id == named {
			out.Named = docs["MEMORY.md"]
		}
	}
	out.Other = len(names(s.fake, "cmem.x.")) - known
	return out
}

// survives fails the test unless the newest snapshot is one of those that may be
// it, and everything that must be there is.
func (o outage) survives(s *scene) {
	s.t.Helper()
	r, err := s.open(nil).Restore(s.t.Context(), "")
	text := r.Documents["MEMORY.md"]
	if err != nil && (o.lives[0] != "" || amber.KindOf(err) == amber.KindUnreachable) {
		s.t.Fatalf("after the failure: %v", err)
	}
	found := false
	for _, l := range o.lives {
		found = found || l == text
	}
	if !found {
		s.t.Fatalf("after the failure the newest holds %.40q", text)
	}
	there := map[string]bool{}
	for _, t := range s.shape().Texts {
		there[t] = true
	}
	for _, want := range o.all {
		if !there[want] {
			s.t.Fatalf("after the failure %.40q is not there", want)
		}
	}
}

// again repeats the operation until it has nothing left to say.
func (o outage) again(s *scene) {
	s.t.Helper()
	s.pass(time.Second)
	_, err := o.run(s)
	if gone := amber.KindOf(err) == amber.KindNotFound && strings.HasPrefix(o.name, "delete"); err != nil && !gone {
		s.t.Fatalf("the second time: %v", err)
	}
	// The rest of a snapshot that was half removed goes with the next prune after the grace time.
	s.pass(2 * colony.DefaultGrace)
	must.Do(s.t, must.Err(s.v.Prune(s.t.Context(), 100, false)))
}

func TestOutages(t *testing.T) {
	t.Parallel()
	for _, o := range outages {
		for backend := range backends {
			t.Run(o.name+"/"+backend, func(t *testing.T) {
				t.Parallel()
				begin := o.prepare(t, backend)
				calm := begin.set(t, backend)
				must.Get(o.run(calm))(t)
				requests := calm.fake.Requests()
				o.again(calm)
				want := calm.shape()
				for k, r := range requests {
					if k%*outageStride != 0 {
						continue
					}
					for name, fault := range faults {
						t.Run(fmt.Sprintf("%d %s %s", k+1, r.Op, name), func(t *testing.T) {
							o.fails(t, begin.set(t, backend), k+1, fault, want)
						})
					}
				}
			})
		}
	}
}

// fails runs the operation with a request failing, and then again.
func (o outage) fails(t *testing.T, s *scene, at int, fault colonytest.Fault, want shape) {
	hit := false
	s.fake.Before = func(r colonytest.Request) colonytest.Fault {
		if r.N != at {
			return colonytest.Fault{}
		}
		hit = true
		return fault
	}
	noticed, err := o.run(s)
	s.fake.Before = nil
	switch {
	case !hit:
		t.Fatal("the request was not made")
	case err == nil && !noticed:
		t.Fatal("nobody noticed")
	case err != nil && amber.KindOf(err) != amber.KindOf(fault.Err):
		t.Fatalf("error is %v (%s), want %s", err, amber.KindOf(err), amber.KindOf(fault.Err))
	}
	o.survives(s)
	o.again(s)
	must.Equal(t, "after the second time", s.shape(), want)
}
