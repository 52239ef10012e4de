package colony_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

var (
	rounds = flag.Int("colony.rounds", 15, "how many rounds writers race for a label")
	seed   = flag.Uint64("colony.seed", 1, "what the order of their requests is drawn from")
)

// turns lets one of several writers go at a time, from one request to the next,
// in an order that is drawn.
type turns struct {
	waiting chan *writer
	left    int  // writers that have not ended
	changed bool // the vault was, perhaps
}

// writer is one that waits for its turn before each request.
type writer struct {
	n     int
	t     *turns
	turn  chan struct{}
	ended bool
	b     colony.ConditionalBackend
	lives int // how many requests it has left; below 0: no bound
}

// wait waits for the turn. A writer that is dead does nothing more.
func (w *writer) wait() error {
	w.t.waiting <- w
	<-w.turn
	if w.lives == 0 {
		return amber.Errorf(amber.KindUnreachable, "ask", "", "dead")
	}
	w.lives--
	return nil
}

func (w *writer) Status(ctx context.Context) (colony.Status, error) {
	if err := w.wait(); err != nil {
		return colony.Status{}, err
	}
	return w.b.Status(ctx)
}

func (w *writer) List(ctx context.Context, prefix string) ([]colony.FileInfo, error) {
	if err := w.wait(); err != nil {
		return nil, err
	}
	return w.b.List(ctx, prefix)
}

func (w *writer) Get(ctx context.Context, name string) (colony.File, error) {
	if err := w.wait(); err != nil {
		return colony.File{}, err
	}
	return w.b.Get(ctx, name)
}

func (w *writer) Put(ctx context.Context, name, content string) (colony.FileInfo, error) {
	if err := w.wait(); err != nil {
		return colony.FileInfo{}, err
	}
	w.t.changed = true
	return w.b.Put(ctx, name, content)
}

func (w *writer) PutIf(ctx context.Context, name, content string, c colony.Condition) (colony.FileInfo, error) {
	if err := w.wait(); err != nil {
		return colony.FileInfo{}, err
	}
	w.t.changed = true
	return w.b.PutIf(ctx, name, content, c)
}

func (w *writer) Delete(ctx context.Context, name string) error {
	if err := w.wait(); err != nil {
		return err
	}
	w.t.changed = true
	return w.b.Delete(ctx, name)
}

// run lets the writers do their work. It calls check after each request, while no writer is at work.
func (t *turns) run(draw *rand.Rand, writers []*writer, work func(*writer), check func()) (steps int) {
	for _, w := range writers {
		go func() {
			w.t.waiting <- w
			<-w.turn
			work(w)
			w.ended = true
			t.waiting <- w
		}()
	}
	var ready []*writer
	for t.left = len(writers); t.left > 0; steps++ {
		// Everybody who is not at work waits or has ended.
		for len(ready) < t.left {
			if w := <-t.waiting; w.ended {
				t.left--
			} else {
				ready = append(ready, w)
			}
		}
		check()
		if t.left == 0 {
			return steps
		}
		i := draw.IntN(len(ready))
		w := ready[i]
		ready = slices.Delete(ready, i, i+1)
		w.turn <- struct{}{}
	}
	check()
	return steps
}

// race is one round: four writers make two backups each and prune.
type race struct {
	t     *testing.T
	fake  *colonytest.Fake
	keep  int
	parts int  // how many characters a part holds; 0: all of them
	guard bool // the vault knows conditions
	die   bool // some writers end in the middle
	// wild says that the writers also delete what they made, and that they
	// sleep until parts that lie about are removed.
	wild bool

	// written are the snapshots that came to be complete, reigned those that
	// were complete while the pointer named them, acked those whose backup
	// said so.
	written, reigned map[colony.SnapshotID]bool
	acked            map[colony.SnapshotID]string
	last             colony.SnapshotID
}

// check fails the test unless the pointer names a complete snapshot, never moves
// back, and the newest that came to be are still there.
func (r *race) check() {
	ids, named := complete(r.fake.Files(), "x")
	for _, id := range ids {
		r.written[id] = true
		r.reigned[id] = r.reigned[id] || id == named
	}
	if named == "" || r.wild {
		return
	}
	if r.guard {
		if !slices.Contains(ids, named) {
			r.t.Fatalf("the pointer names %s, and complete are %s", named, ids)
		}
		if named < r.last {
			r.t.Fatalf("the pointer went from %s back to %s", r.last, named)
		}
	}
	r.last = max(r.last, named)
	r.kept(ids, r.last)
}

// kept fails the test unless the newest snapshots up to the pointer's, and all
// later ones, are there.
func (r *race) kept(ids []colony.SnapshotID, named colony.SnapshotID) {
	var all []colony.SnapshotID
	for id := range r.written {
		all = append(all, id)
	}
	slices.Sort(all)
	slices.Reverse(all)
	n := 0
	for _, id := range all {
		if id <= named {
			n++
		}
		if n > r.keep {
			return
		}
		if !slices.Contains(ids, id) {
			r.t.Fatalf("%s is gone; the pointer names %s, complete were %s and are %s, kept are %d", id, named, all, ids, r.keep)
		}
	}
}

func (r *race) round(n uint64) (steps int) {
	r.t.Helper()
	c := newClock()
	r.fake = &colonytest.Fake{Clock: c.now}
	r.written, r.reigned = map[colony.SnapshotID]bool{}, map[colony.SnapshotID]bool{}
	r.acked, r.last = map[colony.SnapshotID]string{}, ""
	draw := rand.New(rand.NewPCG(*seed, n))
	r.keep = 1 + draw.IntN(3)
	if r.parts = 0; draw.IntN(2) == 0 {
		r.parts = 24
	}
	t := &turns{waiting: make(chan *writer)}
	var writers []*writer
	for i := range 4 {
		w := &writer{n: i, t: t, turn: make(chan struct{}), b: r.fake, lives: -1}
		if r.die && draw.IntN(2) == 0 {
			w.lives = draw.IntN(40)
		}
		writers = append(writers, w)
	}
	acks := make(chan func(), 16)
	sleeps := 2
	check := func() {
		if t.changed {
			t.changed = false
			r.check()
		}
		if r.wild && sleeps > 0 && draw.IntN(50) == 0 {
			sleeps--
			c.pass(colony.DefaultGrace + time.Hour)
		}
	}
	skew := make([]time.Duration, len(writers))
	for i := range skew {
		skew[i] = time.Duration(draw.IntN(3)) * time.Minute
	}
	steps = t.run(draw, writers, func(w *writer) {
		var b colony.Backend = w
		if !r.guard {
			b = colonytest.Unconditional(w)
		}
		v, err := colony.Open(b, colony.Options{
			Label: "x", Clock: func() time.Time { return c.now().Add(skew[w.n]) }, Random: randomness(n*10 + uint64(w.n)),
		})
		if err != nil {
			r.t.Error(err)
			return
		}
		v.SetPartChars(r.parts)
		for i := range 2 {
			c.pass(time.Millisecond)
			// Two of them back up the same.
			text := fmt.Sprint("by ", w.n/2*2, " number ", i)
			report, err := v.Backup(r.t.Context(), doc(text), colony.BackupOptions{Keep: r.keep})
			if err != nil {
				if w.lives != 0 {
					r.t.Errorf("writer %d: %v", w.n, err)
				}
				return
			}
			acks <- func() { r.acked[report.ID] = text }
			if top := max(report.ID, report.SupersededBy); r.guard && !r.reigned[top] {
				r.t.Errorf("writer %d was told that %s is the newest, and it never was", w.n, top)
			}
			if w.lives == 0 {
				return
			}
			if r.wild {
				r.remove(v, report.ID)
				continue
			}
			// Without conditions a slow writer puts the pointer back for a moment.
			failed := func(f colony.Failure) bool { return r.guard || f.Kind != amber.KindConflict }
			if report.Pruned == nil || slices.ContainsFunc(report.Pruned.Failed, failed) {
				r.t.Errorf("writer %d: prune says %+v, %q", w.n, report.Pruned, report.Warnings)
			}
		}
	}, check)
	close(acks)
	for ack := range acks {
		ack()
	}
	if r.wild {
		r.settle(c)
	} else {
		r.end(c)
	}
	return steps
}

// remove deletes a snapshot that was just made, every other time. Others may have
// done it before.
func (r *race) remove(v *colony.Vault, id colony.SnapshotID) {
	if id[len(id)-1]%2 == 0 {
		return
	}
	switch _, err := v.Delete(r.t.Context(), id, false); amber.KindOf(err) {
	case "", amber.KindNotFound, amber.KindConflict:
	default:
		r.t.Errorf("delete: %v", err)
	}
}

// settle checks that what is there can be restored when everybody has finished,
// and that the label can be used like any other.
func (r *race) settle(c *clock) {
	v := must.Get(colony.Open(r.fake, colony.Options{Label: "x", Clock: c.now, Random: randomness(0)}))(r.t)
	if ids, named := complete(r.fake.Files(), "x"); len(ids) > 0 {
		if got, err := v.Restore(r.t.Context(), ""); err != nil || got.Fallback != "" || got.ID != named {
			r.t.Fatalf("restored %s: %v %s; complete are %s, the pointer names %s", got.ID, err, got.Fallback, ids, named)
		}
	}
	c.pass(colony.DefaultGrace + time.Hour)
	last := must.Get(v.Backup(r.t.Context(), doc("at last"), colony.BackupOptions{Keep: 1}))(r.t)
	must.Equal(r.t, "what superseded the last backup", last.SupersededBy, "")
	if got, err := v.Restore(r.t.Context(), ""); err != nil || got.ID != last.ID || got.Fallback != "" {
		r.t.Fatalf("at last restored %+v: %v", got, err)
	}
	if all := names(r.fake, ""); len(all) != last.PartCount+2 {
		r.t.Fatalf("at last there are %q", all)
	}
}

// end checks what is there when everybody has finished.
func (r *race) end(c *clock) {
	ids, named := complete(r.fake.Files(), "x")
	for id := range r.acked {
		if !r.written[id] {
			r.t.Fatalf("%s was never complete", id)
		}
	}
	if r.die && len(r.acked) == 0 {
		return
	}
	if len(ids) == 0 || ids[len(ids)-1] != named && !r.die {
		r.t.Fatalf("the pointer names %s, and complete are %s", named, ids)
	}
	v := must.Get(colony.Open(r.fake, colony.Options{Label: "x", Clock: c.now, Random: randomness(0)}))(r.t)
	got, err := v.Restore(r.t.Context(), "")
	if err != nil || got.Fallback != "" || got.ID != named || r.acked[got.ID] != "" && got.Documents["MEMORY.md"] != r.acked[got.ID] {
		r.t.Fatalf("restored %s with %q: %v %s", got.ID, got.Documents, err, got.Fallback)
	}
}

func TestWritersRace(t *testing.T) {
	t.Parallel()
	r := race{t: t, guard: true}
	steps := 0
	for n := range *rounds {
		steps += r.round(uint64(n))
	}
	t.Logf("%d rounds of four writers, %d requests, seed %d", *rounds, steps, *seed)
}

func TestWritersDie(t *testing.T) {
	t.Parallel()
	r := race{t: t, guard: true, die: true}
	for n := range *rounds {
		r.round(uint64(n))
	}
}

// Writers that also delete, and that sleep for longer than parts may lie about:
// what each is told was so for a moment, and when all have finished, what is there
// can be restored.
func TestWritersRaceWithDeletes(t *testing.T) {
	t.Parallel()
	r := race{t: t, guard: true, wild: true}
	for n := range *rounds {
		r.round(uint64(n))
	}
}

// Without conditions the pointer may for a moment name what is older, and what
// was just removed; it ends at the newest, and nothing good is removed.
func TestWritersRaceWithoutConditions(t *testing.T) {
	t.Parallel()
	r := race{t: t}
	for n := range *rounds {
		r.round(uint64(n))
	}
}
