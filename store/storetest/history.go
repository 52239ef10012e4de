package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

// HistoryOptions say how long a history is. Zero fields take their defaults.
type HistoryOptions struct {
	Operations int // default 200
	Sessions   int // default 3
}

// grid is the smallest step of a history's clock. A backoff with jitter is
// shorter, so that chance never decides whether an entry is due.
const grid = 20 * time.Millisecond

// historyQueue makes every bound of the queue easy to reach.
func historyQueue() amber.QueueOptions {
	return amber.QueueOptions{
		Lease: 5 * grid, MaxInFlight: 3, MaxQueued: 4, MaxAttempts: 3,
		Backoff: grid / 5, MaxBackoff: grid / 2,
	}
}

// History makes one random history of operations on a fresh store of each backend and compares
// every answer, every change log entry and, at the end, everything both hold. It does not compare
// values that differ between any two stores: it translates the ids they mint, and holds stamps,
// tokens and fences to their laws instead. It leaves out operations that need a part one of the two
// lacks. It reopens a durable subject now and then.
//
// Equal seeds give equal histories. Goroutines write concurrently only in short phases, and their
// writes do not depend on their order. The error names the seed, the operation, and what differs.
func History(ctx context.Context, seed uint64, o HistoryOptions, model, subject Backend) (err error) {
	if o.Operations == 0 {
		o.Operations = 200
	}
	if o.Sessions == 0 {
		o.Sessions = 3
	}
	clock := NewClock(start())
	m, err := enter(ctx, model, clock, seed, historyQueue())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.leave()) }()
	s, err := enter(ctx, subject, clock, seed, historyQueue())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.leave()) }()
	return newHistory(seed, o, m, s).run(o.Operations)
}

// history is one history while it is made. Its chance decides everything that
// is not an answer of the model.
type history struct {
	seed           uint64
	rng            *rand.Rand
	clock          *Clock
	model, subject *world
	has            map[part]bool // parts that both stores have
	long           bool          // weeks pass, and there is no queue

	toModel, toSubject map[string]string // ids, by each other
	stamps             map[*world]*stampLaw
	logs               map[*world]*logMarks

	memories    []pair[amber.MemoryID]
	keyed       []amber.WriteRequest // those with an idempotency key
	dated       int                  // memories with a date of their own
	relations   []pair[string]
	sessions    []amber.SessionID
	tasks       []string
	leases      []pair[amber.Lease]
	concurrents int // phases so far

	trace []string // what was done, newest last
}

func newHistory(seed uint64, o HistoryOptions, m, s *world) *history {
	h := &history{
		seed: seed, rng: rand.New(rand.NewPCG(seed, 0)), clock: m.clock, model: m, subject: s, has: m.parts(),
		toModel: map[string]string{}, toSubject: map[string]string{},
		stamps: map[*world]*stampLaw{m: {of: map[amber.Stamp]string{}}, s: {of: map[amber.Stamp]string{}}},
		logs:   map[*world]*logMarks{m: {}, s: {}},
		tasks:  []string{"task-0", "task-1", "task-2"},
	}
	for p, has := range s.parts() {
		h.has[p] = h.has[p] && has
	}
	h.has[durable] = s.backend.Durable
	h.long = h.chance(0.25)
	if h.long {
		// A backend may forget what was acked long ago, and none is asked
		// when.
		h.has[queueing] = false
	} else {
		h.has[queueing] = h.has[control]
	}
	for i := range o.Sessions {
		h.sessions = append(h.sessions, amber.SessionID(fmt.Sprint("session-", i)))
	}
	return h
}

// queueing is the part that operations of the queue need.
const queueing part = "queue"

// run makes n operations and compares what both stores hold in the end.
func (h *history) run(n int) error {
	ops := h.operations()
	for i := range n {
		op := h.choose(ops)
		if err := h.step(op.name, func() { op.run(h); h.compareLogs(op.concurrent) }); err != nil {
			return h.report(i+1, op.name, err)
		}
	}
	if err := caught(h.compareDumps); err != nil {
		return h.report(n, "comparison of everything", err)
	}
	if h.has[durable] {
		if err := caught(func() { h.subject.reopen(); h.compareDumps() }); err != nil {
			return h.report(n, "comparison of everything after reopening", err)
		}
	}
	return nil
}

// step runs one operation at a time that may be that of the one before.
func (h *history) step(name string, f func()) error {
	if h.chance(0.5) {
		h.clock.Advance(grid)
	}
	h.trace = append(h.trace, name)
	return caught(f)
}

// note adds detail to the trace of the operation that runs.
func (h *history) note(format string, args ...any) {
	h.trace[len(h.trace)-1] += " " + fmt.Sprintf(format, args...)
}

// report says where in which history the stores part.
func (h *history) report(n int, op string, err error) error {
	last := h.trace[max(0, len(h.trace)-6):]
	return fmt.Errorf("history of %s against %s with seed %d: operation %d, %s: %w\nthe last operations:\n\t%s",
		h.subject.backend.Name, h.model.backend.Name, h.seed, n, op, err, strings.Join(last, "\n\t"))
}

// operation is one thing that can happen in a history.
type operation struct {
	name       string
	weight     int
	needs      []part
	run        func(h *history)
	concurrent bool // the order of its change log entries is chance
}

// operations returns those whose parts both stores have. A history dwells on
// some nouns and leaves others out: the rare meetings of two operations happen
// where there is little else.
func (h *history) operations() []operation {
	nouns := [][]operation{readOperations(), besideOperations(), sessionOperations(), turnOperations(), ingestOperations(), taskOperations(), queueOperations(), documentOperations()}
	all := slices.Concat(memoryOperations(), timeOperations())
	for _, ops := range nouns {
		factor := oneOf(h, 0, 1, 1, 4)
		for i := range ops {
			ops[i].weight *= factor
		}
		all = append(all, ops...)
	}
	return slices.DeleteFunc(all, func(o operation) bool {
		return o.weight == 0 || slices.ContainsFunc(o.needs, func(p part) bool { return !h.has[p] })
	})
}

func (h *history) choose(ops []operation) operation {
	total := 0
	for _, o := range ops {
		total += o.weight
	}
	n := h.rng.IntN(total)
	for _, o := range ops {
		if n -= o.weight; n < 0 {
			return o
		}
	}
	panic("storetest: weights do not add up")
}

func (h *history) chance(p float64) bool { return h.rng.Float64() < p }

// oneOf returns one of several values.
func oneOf[T any](h *history, values ...T) T { return values[h.rng.IntN(len(values))] }

// now returns the time both stores see.
func (h *history) now() amber.Time { return amber.At(h.clock.Now()) }
