package drain

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/capture/digest"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/recall/policy"
)

// Journal is what a worker needs of the crash journal.
type Journal interface {
	Keys() ([]journal.Key, error)
	Origin(key journal.Key) (journal.Origin, error)
	BeginDrain(ctx context.Context) (end func() error, err error)
	Start(ctx context.Context, s journal.Session) error
	Read(ctx context.Context, key journal.Key, after int64, fn func(journal.Frame) error) (journal.Damage, error)
	Clear(ctx context.Context, key journal.Key, drained int64) (removed int64, err error)
	Remove(ctx context.Context, key journal.Key, drained int64) (removed bool, err error)
	Quarantine(ctx context.Context, key journal.Key, seq int64, payload []byte, reason string) error
}

// Store is what a worker needs of a store.
type Store interface {
	amber.Ingester
	amber.Turns
	amber.Activities
}

// Options say how a worker works. Journal, Store and Clock are required.
type Options struct {
	Journal Journal
	Store   Store
	Clock   amber.Clock

	// Policy decides what is learnt; nil: [policy.Conservative] as it is.
	// Loops tells which sessions wait to be resumed; nil: none.
	Policy amber.Policy
	Loops  amber.Loops
	// Memories tells which items of a digest are known; nil: those that are equal to
	// the byte. Sessions tells the project and the folder of a session; may be nil.
	Memories amber.MemoryReader
	Sessions amber.Sessions
	// Writer writes digests; nil, and where it fails: the rules of package digest. It
	// is called while nothing else drains, and outside of any transaction.
	Writer digest.Writer
	// Place returns the project that the folder of an event has now; nil: the one that the event names.
	Place func(ctx context.Context, ev journal.HostEvent) string
	// Explain puts every decision of the policy into the report.
	Explain bool
	// Progress is called before each session with what is being done and how far
	// it is; it may be nil.
	Progress func(step string, done, total int64)

	// StandBack is called between two sessions when something of the first was drained or it
	// was ended, while nothing is locked: others may drain meanwhile. It may be nil.
	StandBack func(ctx context.Context)

	// Alive reports whether the process of a host still runs. If it is nil, a
	// session ends only when the host says so or after a time of silence.
	Alive func(amber.HostProcess) proc.Liveness
	// Grace is how long after its last event a session with a dead process may
	// still get the end its host wrote; 0: 5 s, negative: none.
	Grace time.Duration
	// IdleAfter is how long a session may be silent when nothing is known about
	// its process; 0: 6 h.
	IdleAfter time.Duration

	// Interval is the pause between two rounds of Run; 0: 1 s.
	Interval time.Duration
	// Attempts is how often one event is tried; 0: 5. Backoff is the first
	// pause between two attempts, each is twice the one before; 0: 50 ms.
	Attempts int
	Backoff  time.Duration
	// ClearEvery is after how many entries the drained segments of a session
	// that goes on are cleared; 0: 16, 1: always.
	ClearEvery int64
	// Final is for a journal to which no process appends any more: its sessions
	// are removed as soon as they are drained, whether they have ended or not, and
	// none is ended for being silent.
	Final bool
	// Shared is for a store on a server, which other journals are drained into too. No
	// session of theirs is ended, and a round ends where the server is away: it would be
	// waited for again with every session.
	Shared bool
	// Wait pauses; nil: by a timer. It returns early, with the error, when ctx
	// ends.
	Wait func(ctx context.Context, d time.Duration) error
}

// Worker drains one journal into one store. One call of Once or Run at a time;
// workers in other processes are no harm.
type Worker struct {
	o    Options
	keys map[string]journal.Key // of this round, by the names of their cursors
}

// New returns a worker. Errors: invalid.
func New(o Options) (*Worker, error) {
	if o.Journal == nil || o.Store == nil || o.Clock == nil {
		return nil, amber.Errorf(amber.KindInvalid, "make drain", "", "a journal, a store and a clock are required")
	}
	if o.Alive == nil {
		o.Alive = func(amber.HostProcess) proc.Liveness { return proc.Unknown }
	}
	if o.Policy == nil {
		o.Policy = policy.Conservative{}
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	o.IdleAfter = cmp.Or(o.IdleAfter, 6*time.Hour)
	o.Interval = cmp.Or(o.Interval, time.Second)
	o.Backoff = cmp.Or(o.Backoff, 50*time.Millisecond)
	o.Attempts = cmp.Or(o.Attempts, 5)
	o.ClearEvery = cmp.Or(o.ClearEvery, 16)
	return &Worker{o: o}, nil
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Run drains again and again until ctx ends, which is no error. Told is
// called with the outcome of every round that did or failed something; it may
// be nil.
func (w *Worker) Run(ctx context.Context, told func(Report, error)) error {
	for {
		report, err := w.Once(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if told != nil && (err != nil || report.Any()) {
			told(report, err)
		}
		if w.o.Wait(ctx, w.o.Interval) != nil {
			return nil
		}
	}
}

// Once drains the entries of the spool and ends the sessions that are over. If another
// process drains at the moment, Once waits for it. A session that cannot be drained is
// told in the report and never keeps another from being drained. Errors: busy,
// unreachable when ctx ends or a shared store is away, and those of reading the spool
// itself.
func (w *Worker) Once(ctx context.Context) (report Report, err error) {
	report = newReport()
	turn := &turn{journal: w.o.Journal}
	err = turn.begin(ctx)
	if amber.KindOf(err) == amber.KindNotFound { // no process has ever appended
		return report, nil
	}
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, turn.end()) }()
	keys, err := w.o.Journal.Keys()
	if err != nil {
		return report, err
	}
	w.keys = map[string]journal.Key{}
	applied := int64(0)
	for i, key := range keys {
		if w.o.StandBack != nil && report.Applied > applied {
			if err := turn.pass(ctx, w.o.StandBack); err != nil {
				return report, err
			}
		}
		applied = report.Applied
		if w.o.Progress != nil {
			w.o.Progress("sessions", int64(i), int64(len(keys)))
		}
		err := w.drain(ctx, key, &report)
		if ctx.Err() != nil {
			return report, &amber.Error{Op: "drain", Kind: amber.KindUnreachable, Err: context.Cause(ctx)}
		}
		if err != nil {
			report.fail(key, err)
		}
		if w.o.Shared && amber.KindOf(err) == amber.KindUnreachable {
			return report, err
		}
	}
	if w.o.Final {
		return report, nil
	}
	return report, w.sweep(ctx, turn, &report)
}

// turn is the right to drain, which one worker has at a time.
type turn struct {
	journal Journal
	release func() error // nil: it is not ours
}

func (t *turn) begin(ctx context.Context) (err error) {
	t.release, err = t.journal.BeginDrain(ctx)
	return err
}

func (t *turn) end() error {
	if t.release == nil {
		return nil
	}
	release := t.release
	t.release = nil
	return release()
}

// pass lets others have it while standBack waits.
func (t *turn) pass(ctx context.Context, standBack func(context.Context)) error {
	if err := t.end(); err != nil {
		return err
	}
	standBack(ctx)
	return t.begin(ctx)
}

// drain drains one session. Another worker may be faster; then it goes on
// behind it.
func (w *Worker) drain(ctx context.Context, key journal.Key, report *Report) error {
	for {
		s := &session{Worker: w, key: key, report: report}
		err := s.run(ctx)
		if !errors.Is(err, errOvertaken) {
			return err
		}
	}
}
