package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
)

// A background drain waits a moment, so that one of them serves many hooks, and stays
// until nothing has come for a while.
const (
	drainPause = 300 * time.Millisecond
	drainStay  = 3 * time.Second
	// idlePause is how often it looks after that, and idleLook how often it looks closely: a
	// session whose process is gone changes no file.
	idlePause = time.Second
	idleLook  = 30 * time.Second
	// lastWords is how long hooks that are being answered at the end have.
	lastWords = time.Second
)

// BackgroundLock is the file that the background drain of the agent has locked, in the spool.
func (a *Agent) BackgroundLock() string {
	return filepath.Join(a.folder.SpoolDir(), "background.lock")
}

// DrainsInBackground reports whether a process drains the journal in the background.
func (a *Agent) DrainsInBackground() (bool, error) {
	// Shared: a look must not keep another hook from looking.
	lock, err := fsx.TryLock(a.BackgroundLock(), fsx.Shared)
	if errors.Is(err, fsx.ErrLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, lock.Unlock()
}

// Attendant answers hooks from an agent that a background drain has open.
type Attendant interface {
	// Asked is when a hook asked last; the zero time before the first.
	Asked() time.Time
	// Retires reports whether a server answers them: the drain goes on without.
	Retires(ctx context.Context) bool
	// Leaves reports whether hooks need another process than this one.
	Leaves() bool
	// StandBack waits a moment while hooks are answered, and Politely returns what does so for
	// the calls of one drain, for a bounded time in all.
	StandBack(ctx context.Context)
	Politely() func(ctx context.Context)
	// Close lets no hook in any more. Those who are have until ctx ends.
	Close(ctx context.Context) error
}

// Background says how a background drain goes on when nothing comes any more.
type Background struct {
	// Attend begins to answer hooks; nil: this process answers none, and the drain ends. An error is a warning,
	// and the drain goes on without answering hooks. DrainInBackground calls it with the lock of the drain
	// held.
	Attend func(a *Agent) (Attendant, error)
	// Stay is how long the process stays after the last event and the last question.
	Stay time.Duration
}

// DrainInBackground opens the agent and drains its journal until nothing comes any
// more. One process at a time does: others find the lock taken and return. A hook
// that appends after the last look and finds the lock still taken relies on this
// drain, so it looks once more after it let go of the lock.
func DrainInBackground(ctx context.Context, o Options, b Background) error {
	for more := true; more; {
		var err error
		if more, err = drainWhileAlone(ctx, o, b); err != nil {
			return err
		}
	}
	return nil
}

// drainWhileAlone drains under a lock until nothing comes any more, lets go of the
// lock, and reports whether something has come since and it should go on.
func drainWhileAlone(ctx context.Context, o Options, b Background) (more bool, err error) {
	closed, err := At(o)
	if err != nil {
		return false, err
	}
	wait, cancel := context.WithTimeout(ctx, drainPause) // hooks take the lock for a moment, to look
	defer cancel()
	lock, err := fsx.AcquireLock(wait, closed.BackgroundLock(), fsx.Exclusive)
	if errors.Is(err, context.DeadlineExceeded) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Unlock()
	a, err := Open(ctx, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	s, err := a.newStay(b)
	if err != nil {
		return false, err
	}
	err = errors.Join(s.run(ctx), lock.Unlock())
	if ctx.Err() != nil {
		return false, err
	}
	report, last := s.drain(ctx) // whatever came of the others: a hook may rely on it
	if err = errors.Join(err, last); err != nil {
		return false, err
	}
	if report.Applied == 0 {
		a.SyncWithin(ctx, a.config.Search.Budget)
	}
	return report.Applied > 0 && !s.left && !s.isRetired(), nil
}

// stay is one stay of a background drain, from taking the lock to letting go of it.
type stay struct {
	a        *Agent
	b        Background
	worker   *drain.Worker
	place    fs.FileInfo // of the lock
	visitors Attendant   // nil: this process answers no hooks
	politely func(context.Context)

	// The state when the journal and the store were last looked at.
	last   time.Time // when something came
	looked time.Time // when the journal was read
	mark   string    // of the journal then
	log    int64     // how long the write-ahead logs were
	idle   bool      // nothing comes
	left   bool      // there was a reason to end, though something may come
	away   bool      // the server of an edge could not be reached

	retired time.Time // when a server had come

	wake     chan struct{} // something was drained
	indexing atomic.Bool   // vectors are being made
	dismiss  func()        // ends answering hooks
}

func (a *Agent) newStay(b Background) (*stay, error) {
	s := &stay{a: a, b: b, wake: make(chan struct{}, 1)}
	var err error
	if s.place, err = os.Lstat(a.BackgroundLock()); err != nil {
		return nil, &amber.Error{Op: "drain", Kind: amber.KindNotFound, ID: a.BackgroundLock(), Err: err}
	}
	if s.worker, err = a.Drainer(drain.Options{StandBack: s.standBack}); err != nil {
		return nil, err
	}
	if b.Attend != nil && b.Stay > 0 {
		if s.visitors, err = b.Attend(a); err != nil {
			a.o.Warn("hooks are not answered from here: " + err.Error())
			s.visitors = nil
		}
	}
	return s, nil
}

// standBack lets hooks go first, for a bounded time in one drain.
func (s *stay) standBack(ctx context.Context) {
	if s.politely != nil {
		s.politely(ctx)
	}
}

// drain drains once. A session that cannot be drained keeps no other waiting; the next drain
// tries it again.
func (s *stay) drain(ctx context.Context) (drain.Report, error) {
	s.politely = nil
	if s.visitors != nil {
		s.politely = s.visitors.Politely()
	}
	return s.worker.Once(ctx)
}

// run drains until nothing has come for a while. Where there is an attendant, it answers hooks meanwhile. After
// run it answers none.
func (s *stay) run(ctx context.Context) error {
	if v := s.visitors; v != nil {
		background, stop := context.WithCancel(ctx)
		var index sync.WaitGroup
		index.Go(func() { s.completeIndex(background, v) })
		s.dismiss = sync.OnceFunc(func() {
			s.visitors = nil
			within, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
			defer cancel()
			if err := v.Close(within); err != nil { // who is cut off looks into the store itself
				s.a.o.Warn("hooks were cut off: " + err.Error())
			}
			stop()
			index.Wait()
		})
		defer s.dismiss()
	}
	return s.untilQuiet(ctx)
}

// untilQuiet drains until nothing has come into the store for a while, and then until no hook asks any more.
func (s *stay) untilQuiet(ctx context.Context) error {
	for s.last = s.a.o.Clock(); ; {
		pause := drainPause
		if s.idle {
			pause = idlePause
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		now := s.a.o.Clock()
		if err := s.look(ctx, now); err != nil {
			return err
		}
		if s.left = s.leaves(); s.left {
			return nil
		}
		if s.visitors != nil && s.visitors.Retires(ctx) {
			s.dismiss()
			s.retired = now
		}
		// Beside a server, which drains too, it does not stay because something comes.
		quiet := now.Sub(s.last) >= drainStay || s.isRetired() && now.Sub(s.retired) >= drainStay
		if quiet && !s.stays(now) {
			return nil
		}
		s.settle(ctx, quiet)
	}
}

// look drains, where something may have come.
func (s *stay) look(ctx context.Context, now time.Time) error {
	mark := journal.Mark(s.a.folder.SpoolDir()) // before: what comes meanwhile is seen next time
	seen := s.idle || s.a.remote != nil         // a server need not be asked about every session again and again
	if seen && mark != "" && mark == s.mark && now.Sub(s.looked) < idleLook {
		return nil
	}
	report, err := s.drain(ctx)
	if s.visitors != nil && amber.KindOf(err) == amber.KindBusy { // another drain is at it
		mark, err = "", nil
	}
	if s.away = s.a.remote != nil && amber.KindOf(err) == amber.KindUnreachable && ctx.Err() == nil; s.away {
		err = nil // the entries wait, and so does this process for a while
	}
	s.mark, s.looked = mark, now
	if report.Applied > 0 || len(report.Ended) > 0 {
		s.last = now
		s.awake()
	}
	return err
}

// settle makes the process small when nothing comes, and keeps it so.
func (s *stay) settle(ctx context.Context, quiet bool) {
	if quiet && !s.idle {
		debug.FreeOSMemory() // what the drain took
	}
	if s.idle = quiet; quiet {
		s.rest(ctx)
	}
}

func (s *stay) isRetired() bool { return !s.retired.IsZero() }

// leaves reports whether hooks need another process, or there is no such agent any more.
func (s *stay) leaves() bool {
	if s.visitors == nil {
		return false
	}
	info, err := os.Lstat(s.a.BackgroundLock())
	return s.visitors.Leaves() || err != nil || !os.SameFile(info, s.place)
}

// stays reports whether the process stays though nothing comes: hooks may ask it, or the server
// of an edge may come back.
func (s *stay) stays(now time.Time) bool {
	if s.away {
		passed := now.Sub(s.last)
		return passed >= 0 && passed < s.b.Stay
	}
	if s.visitors == nil {
		return false
	}
	last := s.last
	if asked := s.visitors.Asked(); asked.After(last) {
		last = asked
	}
	passed := now.Sub(last)
	return passed >= 0 && passed < s.b.Stay // a clock that was set back does not keep it
}

// awake says that something was drained.
func (s *stay) awake() {
	select {
	case s.wake <- struct{}{}:
	default: // a signal waits already
	}
}

// completeIndex makes vectors of what is missing and of what is drained, until ctx ends, and
// stands back while hooks are answered.
func (s *stay) completeIndex(ctx context.Context, v Attendant) {
	for ctx.Err() == nil {
		s.indexing.Store(true)
		if s.a.core != nil {
			err := Index{s.a}.SyncIndex(ctx, nil, func() { v.StandBack(ctx) })
			if err != nil && ctx.Err() == nil {
				s.a.o.Warn("the index is not complete: " + err.Error() + "; amber index sync goes on")
			}
		}
		s.indexing.Store(false)
		select {
		case <-ctx.Done():
		case <-s.wake:
		}
	}
}

// rest empties the write-ahead logs of the databases when nothing was written for a while, so
// that the files alone are complete though this process has them open.
func (s *stay) rest(ctx context.Context) {
	if s.a.sqlite == nil || s.a.absent || s.a.sqlite.ReadOnly() || s.indexing.Load() {
		return
	}
	before := s.log
	if s.log = s.a.sqlite.LogSize(); s.log == 0 || s.log != before {
		return
	}
	if err := s.a.sqlite.Rest(ctx); err != nil {
		s.a.o.Warn(err.Error())
	}
}
