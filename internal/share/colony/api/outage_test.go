package api_test

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/api"
	"github.com/amber-memory/amber/internal/test/must"
)

var stride = flag.Int("outage.stride", 13, "every how many failures at requests are tried; 1: each")

// outages are what can happen to a request, and the kind of an operation that
// ends with it. Passing says that one of them is got over.
var outages = map[string]struct {
	fault   fault
	kind    amber.Kind
	passing bool
}{
	"401":         {says401, amber.KindRefused, true},
	"403":         {says403, amber.KindRefused, false},
	"429":         {saysWait, amber.KindQuota, false},
	"500":         {says500, amber.KindUnreachable, true},
	"503":         {says503, amber.KindUnreachable, true},
	"half":        {half, amber.KindUnreachable, true},
	"half after":  {halfAfter, amber.KindUnreachable, true},
	"wrong":       {wrong, amber.KindUnreachable, false},
	"wrong after": {wrongAfter, amber.KindUnreachable, false},
	"reset":       {reset, amber.KindUnreachable, true},
	"reset after": {resetAfter, amber.KindUnreachable, true},
}

// operation is something done with a vault that has snapshots with these texts,
// the last one the newest.
type operation struct {
	before []string
	// run returns what it says was left undone, and of what it warns.
	run func(ctx context.Context, v *colony.Vault) (undone, warnings int, err error)
	// newest is the newest text when it has been done, left how many snapshots
	// there are then.
	newest string
	left   int
}

func backUp(text string, keep int) func(context.Context, *colony.Vault) (int, int, error) {
	return func(ctx context.Context, v *colony.Vault) (undone, warnings int, err error) {
		r, err := v.Backup(ctx, colony.Documents{"MEMORY.md": text}, colony.BackupOptions{Keep: keep})
		if r.Pruned != nil {
			undone = len(r.Pruned.Failed)
		}
		return undone, len(r.Warnings), err
	}
}

var operations = map[string]operation{
	"first backup":     {nil, backUp("one", 0), "one", 1},
	"unchanged":        {[]string{"one", "two"}, backUp("two", 0), "two", 2},
	"backup and prune": {[]string{"one", "two"}, backUp("three", 1), "three", 1},
	"restore": {[]string{"one", "two"}, func(ctx context.Context, v *colony.Vault) (int, int, error) {
		r, err := v.Restore(ctx, "")
		if err == nil && r.Documents["MEMORY.md"] != "two" {
			err = fmt.Errorf("restored %q", r.Documents)
		}
		return 0, len(r.Warnings), err
	}, "two", 2},
	"prune": {[]string{"one", "two", "three"}, func(ctx context.Context, v *colony.Vault) (int, int, error) {
		r, err := v.Prune(ctx, 1, false)
		return len(r.Failed), len(r.Warnings), err
	}, "three", 1},
}

// TestOutages has each failure happen at each request of each operation, once
// and from there on: nothing is lost, the outcome is of the right kind, and the
// operation completes when it is done again. The network is left out: what it
// does to each request alone is in the other tests.
func TestOutages(t *testing.T) {
	t.Parallel()
	for name, op := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := newScene(t, op)
			s := first.again(t)
			if undone, warnings, err := s.run(); err != nil || undone+warnings > 0 {
				t.Fatalf("without failures: %d undone, %d warnings, %v", undone, warnings, err)
			}
			requests := s.vault.requests()
			s.done()
			t.Logf("%d requests: %s", len(requests), strings.Join(requests, ", "))
			cell := 0
			for n := range requests {
				for _, what := range slices.Sorted(maps.Keys(outages)) {
					for _, forGood := range []bool{false, true} {
						if cell++; cell%max(*stride, 1) != 0 {
							continue
						}
						t.Run(fmt.Sprintf("%s at %d, for good %t", what, n+1, forGood), func(t *testing.T) {
							t.Parallel()
							checkOutage(t, first.again(t), n+1, what, forGood)
						})
					}
				}
			}
		})
	}
}

func checkOutage(t *testing.T, s *scene, n int, what string, forGood bool) {
	o, last := outages[what], n
	if forGood {
		last = always
	}
	s.vault.forget(at(n, last, o.fault))
	undone, warnings, err := s.run()
	passing := o.passing && !forGood
	if what == "401" && n == 1 {
		passing = false // it is the key that is refused
	}
	switch {
	case err != nil && amber.KindOf(err) != o.kind:
		t.Errorf("got %v, want %q", err, o.kind)
	case passing && (err != nil || undone+warnings > 0):
		t.Errorf("%d undone, %d warnings, %v; want it to be got over", undone, warnings, err)
	case forGood && err == nil && undone+warnings == 0:
		t.Error("nothing was said")
	}
	checkSecrets(t, err)
	s.vault.forget(nil)

	// Whatever happened, the newest text that was acknowledged is there.
	allowed := []string{s.op.newest}
	if err != nil {
		allowed = append(allowed, s.was())
	}
	s.holds(allowed)
	if undone, _, err := s.run(); err != nil || undone > 0 {
		t.Errorf("again: %d undone, %v", undone, err)
	}
	s.done()
}

// scene is one run of an operation against a vault of its own.
type scene struct {
	t     *testing.T
	op    operation
	vault *vault
	clock *clock
	memo  memo
}

// newScene makes what is there before the operation.
func newScene(t *testing.T, op operation) *scene {
	t.Helper()
	s := &scene{t: t, op: op, clock: newClock(), vault: &vault{
		url: "https://vault.example/api/v1", shape: "items", files: map[string]string{},
	}}
	parent := colony.SnapshotID("")
	for i, text := range op.before {
		parent = s.fill(text, parent, int64(i)+1)
		s.memo.seen = colony.Sighting{ID: parent, Counter: int64(i) + 1}
	}
	return s
}

// again returns a copy of a scene that nothing has happened in.
func (s *scene) again(t *testing.T) *scene {
	return &scene{t: t, op: s.op, clock: &clock{now: s.clock.Now()}, vault: &vault{
		url: s.vault.url, shape: s.vault.shape, files: maps.Clone(s.vault.files),
	}, memo: memo{seen: s.memo.seen}}
}

// fill puts a snapshot into the vault, in several parts.
func (s *scene) fill(text string, parent colony.SnapshotID, counter int64) colony.SnapshotID {
	s.t.Helper()
	_ = s.clock.Sleep(s.t.Context(), time.Minute)
	id := must.Get(colony.NewSnapshotID(s.clock.Now(), rand.Reader))(s.t)
	p := must.Get(colony.Pack(s.t.Context(), colony.Draft{
		ID: id, Label: "x", LabelRaw: "x", CreatedAt: s.clock.Now(), Documents: colony.Documents{"MEMORY.md": text},
		Parent: parent, Counter: counter, Random: rand.Reader, PartChars: 40,
	}))(s.t)
	for _, f := range append(p.Parts, p.Manifest, colony.Latest("x", id, s.clock.Now())) {
		s.vault.files[f.Name] = f.Content
	}
	return id
}

// open returns the label as a process of its own sees it.
func (s *scene) open() *colony.Vault {
	s.t.Helper()
	c, k := s.vault.open(s.t, func(o *api.Options) { o.HTTP = &http.Client{Transport: inside{s.vault}} })
	_ = k.Sleep(s.t.Context(), s.clock.Now().Sub(k.Now())+time.Minute)
	_ = s.clock.Sleep(s.t.Context(), 2*time.Minute)
	return must.Get(colony.Open(c, colony.Options{Label: "x", Clock: k.Now, Random: rand.Reader, Witness: &s.memo}))(s.t)
}

func (s *scene) run() (undone, warnings int, err error) { return s.op.run(s.t.Context(), s.open()) }

// was is the newest text before the operation, "" for none.
func (s *scene) was() string {
	if len(s.op.before) == 0 {
		return ""
	}
	return s.op.before[len(s.op.before)-1]
}

// holds ends the test unless a restore returns one of the texts. The text "" means that the vault has no snapshot, or
// only an upload that did not end.
func (s *scene) holds(texts []string) {
	s.t.Helper()
	r, err := s.open().Restore(s.t.Context(), "")
	if err != nil {
		kind := amber.KindOf(err)
		if !slices.Contains(texts, "") || kind != amber.KindNotFound && kind != amber.KindDamaged {
			s.t.Fatalf("restore: %v; files %q", err, s.names())
		}
		return
	}
	if !slices.Contains(texts, r.Documents["MEMORY.md"]) {
		s.t.Fatalf("restored %q, want one of %q", r.Documents, texts)
	}
}

// done ends the test unless the operation has been done as a whole. Parts that an
// interrupted removal left go when they are old enough.
func (s *scene) done() {
	s.t.Helper()
	s.holds([]string{s.op.newest})
	_ = s.clock.Sleep(s.t.Context(), colony.DefaultGrace)
	if r, err := s.open().Prune(s.t.Context(), s.op.left, false); err != nil || len(r.Failed) > 0 || len(r.Deleted) > 0 {
		s.t.Errorf("clean up: %+v, %v", r, err)
	}
	list, err := s.open().List(s.t.Context())
	if err != nil || len(list) != s.op.left || !list[0].Latest {
		s.t.Fatalf("listed %+v, %v; want %d; files %q", list, err, s.op.left, s.names())
	}
	for _, l := range list {
		must.Equal(s.t, "damage of "+string(l.ID), l.Damage, "")
	}
}

func (s *scene) names() []string {
	s.vault.mu.Lock()
	defer s.vault.mu.Unlock()
	return slices.Sorted(maps.Keys(s.vault.files))
}

// memo is a witness in memory.
type memo struct {
	mu   sync.Mutex
	seen colony.Sighting
}

func (m *memo) Seen(context.Context) (colony.Sighting, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.seen, nil
}

func (m *memo) Update(_ context.Context, change func(colony.Sighting) colony.Sighting) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = change(m.seen)
	return nil
}
