package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Crew runs the workers of the background and reports how each of them is doing. The zero Crew is not ready: see
// [NewCrew]. Safe for concurrent use.
type Crew struct {
	Log *slog.Logger // gets the panics of workers, set before the first worker is started; nil: silent

	clock amber.Clock
	ctx   context.Context // of all of them; ends with Stop
	stop  context.CancelFunc
	wg    sync.WaitGroup

	mu      sync.Mutex
	workers []*worker // in the order they were started
}

type worker struct {
	crew   *Crew
	health wire.WorkerHealth // guarded by crew.mu
}

// NewCrew returns a crew without workers.
func NewCrew(clock amber.Clock) *Crew {
	ctx, stop := context.WithCancel(context.Background())
	return &Crew{clock: clock, ctx: ctx, stop: stop}
}

// Report is what a worker calls after each round: with words about what the round did, or with the error of the
// round. Safe for concurrent use.
type Report func(detail string, err error)

// Go starts a worker. It returns when its context ends; one that returns or
// panics earlier is unavailable from then on.
func (c *Crew) Go(name string, run func(ctx context.Context, report Report) error) {
	w := &worker{crew: c, health: wire.WorkerHealth{Name: name, Status: amber.Healthy}}
	c.mu.Lock()
	c.workers = append(c.workers, w)
	c.mu.Unlock()
	c.wg.Go(func() {
		err := w.run(run)
		if c.ctx.Err() == nil {
			w.ended(err)
		}
	})
}

// run does the work until it ends, or panics. A panic is shown as a failure of this worker; the other workers go
// on.
func (w *worker) run(run func(ctx context.Context, report Report) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if w.crew.Log != nil {
				w.crew.Log.Error("bug", "worker", w.health.Name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			}
			err = amber.Errorf(amber.KindInternal, "work", w.health.Name, "a bug in Amber; see the log of the server")
			w.report("", err)
		}
	}()
	return run(w.crew.ctx, w.report)
}

func (w *worker) report(detail string, err error) {
	w.crew.mu.Lock()
	defer w.crew.mu.Unlock()
	h, now := &w.health, amber.At(w.crew.clock())
	h.Runs++
	h.LastRun, h.LastError, h.Status = now, "", amber.Healthy
	if detail != "" {
		h.Detail = detail
	}
	if err != nil {
		h.Failures++
		h.LastFailure, h.LastError, h.Status = now, err.Error(), amber.Degraded
	}
}

func (w *worker) ended(err error) {
	w.crew.mu.Lock()
	defer w.crew.mu.Unlock()
	h := &w.health
	h.Status, h.LastError = amber.Unavailable, "the worker has stopped"
	if err != nil {
		h.LastError = err.Error()
	}
}

// Every calls fn at once and then after each pause of d, until ctx ends, and
// returns nil then.
func Every(ctx context.Context, d time.Duration, fn func()) error {
	for ctx.Err() == nil {
		fn()
		t := time.NewTimer(d)
		select {
		case <-ctx.Done():
			t.Stop()
		case <-t.C:
		}
	}
	return nil
}

// JoinSome joins errors and says of all after the tenth only how many there are;
// nil where there are none.
func JoinSome(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	const most = 10
	if more := len(errs) - most; more > 0 {
		errs = append(errs[:most:most], fmt.Errorf("and %d more", more))
	}
	return errors.Join(errs...)
}

// Health reports how every worker is doing.
func (c *Crew) Health() []wire.WorkerHealth {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]wire.WorkerHealth, len(c.workers))
	for i, w := range c.workers {
		out[i] = w.health
	}
	return out
}

// Stop ends every worker and waits for them until ctx ends. It may be called
// twice. Errors: unreachable when one is still at it.
func (c *Crew) Stop(ctx context.Context) error {
	c.stop()
	done := make(chan struct{})
	go func() {
		c.wg.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return &amber.Error{Op: "stop workers", Kind: amber.KindUnreachable, Err: ctx.Err()}
	}
}
