package openviking

import (
	"context"
	"errors"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

// Budget bounds a feed. The zero value: until everything is done.
type Budget struct {
	// Time is looked at between steps: a step that has begun is finished. 0: no bound.
	Time time.Duration
	// Hard cuts calls of the server off when the time is up, which counts as an outage.
	Hard bool
	// Force asks a server at once after an outage or a refusal, and tries what is in
	// quarantine again.
	Force bool
}

// shortBudget is the time from which a feed takes large steps and lists large trees.
const shortBudget = 5 * time.Second

func (b Budget) short() bool { return b.Time > 0 && b.Time < shortBudget }

// Report is what a feed did.
type Report struct {
	Changes     int  `json:"changes"`     // entries of the change log that were read
	Written     int  `json:"written"`     // files
	Deleted     int  `json:"deleted"`     // names of files, whether or not they were there
	Withheld    int  `json:"withheld"`    // memories of a scope that does not leave
	Quarantined int  `json:"quarantined"` // memories that the server did not take
	Mended      int  `json:"mended"`      // vectors that were made again
	Compared    bool `json:"compared"`    // the listings of both sides
	// Done says that the server has everything. If it is false without an error, the budget
	// ran out.
	Done bool `json:"done"`
	// Again is how long to wait before the next feed, after an error or for files that are busy.
	Again time.Duration `json:"again,omitempty"`
	// Look is when to feed again although everything is done: something is to be looked at then.
	Look time.Duration `json:"look,omitempty"`
}

// errSpent ends a round whose budget is used up.
var errSpent = errors.New("the budget is used up")

// Feed makes the server equal to the live memories of the primary, from where the last feed ended, by one feeder at a
// time. Its progress is kept, also when it fails. Errors: busy when another feeder is at work; unreachable, refused,
// unsupported, damaged and, where no file is taken, invalid, all of them also before the next attempt is due; those of
// the primary.
func (s *Store) Feed(ctx context.Context, b Budget) (report Report, err error) {
	release, err := s.lock(ctx)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, release()) }()
	r := &round{s: s, budget: b, begun: s.o.Clock(), gaveUp: ctx.Err}
	work := ctx
	if b.Hard && b.Time > 0 {
		within, cancel := context.WithTimeout(ctx, b.Time)
		defer cancel()
		work = within
	}
	if err = r.run(work); amber.KindOf(err) == amber.KindUnreachable && ctx.Err() == nil {
		s.circuit.trip(s.o.Clock(), r.failedAt()) // questions do not wait for it either
	}
	return r.report, err
}

// lock keeps other feeders out: of this process, then of others.
func (s *Store) lock(ctx context.Context) (release func() error, err error) {
	if !s.feeding.TryLock() {
		return nil, amber.Errorf(amber.KindBusy, "feed openviking", s.o.URL, "another feeder of this process is at work")
	}
	unlock, err := s.o.Lock(ctx)
	if err != nil {
		s.feeding.Unlock()
		return nil, err
	}
	return func() error {
		defer s.feeding.Unlock()
		return unlock()
	}, nil
}

// round is one feed.
type round struct {
	s      *Store
	budget Budget
	begun  time.Time
	report Report

	layout
	place   string
	cursor  amber.IndexCursor
	notes   notes
	dirty   bool         // the notes are not those of the cursor
	gaveUp  func() error // the error of the caller's context
	failed  error
	tired   bool             // of waiting for busy paths
	stuck   []amber.MemoryID // whose files are busy
	crowded bool             // more were busy than can be noted
}

func (r *round) now() amber.Time { return amber.At(r.s.o.Clock()) }

// failedAt is when the server failed last.
func (r *round) failedAt() time.Time {
	if r.user == "" {
		return r.s.early.FailedAt.Time()
	}
	return r.notes.FailedAt.Time()
}

// spent reports whether the budget is used up.
func (r *round) spent() bool {
	return r.budget.Time > 0 && r.s.o.Clock().Sub(r.begun) >= r.budget.Time
}

// server notes an error of the server, so that Feed can distinguish it from errors of the primary.
func (r *round) server(err error) error {
	if err != nil {
		r.failed = err
	}
	return err
}

func (r *round) run(ctx context.Context) error {
	if err := r.ready(ctx); err != nil {
		return err
	}
	if err := r.load(ctx); err != nil {
		return err
	}
	if r.budget.Force {
		r.force()
	}
	if wait, err := r.notes.blocked(r.now()); err != nil {
		r.report.Again = wait
		return err
	}
	_, err := r.s.ready(ctx)
	if err = r.server(err); err == nil {
		err = r.work(ctx)
	}
	return r.settle(ctx, err)
}

// ready finds out whose files to write. Before that is known, there is no cursor to note a
// failure in.
func (r *round) ready(ctx context.Context) (err error) {
	if r.layout = r.s.known(); r.user != "" {
		return nil
	}
	early := &r.s.early
	if r.budget.Force {
		early.succeeded()
	}
	if r.report.Again, err = early.blocked(r.now()); err != nil {
		return err
	}
	if r.layout, err = r.s.ready(ctx); err == nil {
		early.succeeded()
		return nil
	}
	if r.gaveUp() == nil {
		asked, _ := api.RetryAfter(err)
		early.failed(r.now(), err, asked)
		r.report.Again, _ = early.blocked(r.now())
	}
	return err
}

// load reads the cursor. It forgets what is known of the files if another feeder moved the cursor.
func (r *round) load(ctx context.Context) (err error) {
	r.place = r.layout.place(&r.s.o)
	if r.cursor, err = r.s.o.Cursors.IndexCursor(ctx, r.place); err != nil {
		return err
	}
	r.notes = readNotes(r.cursor.Notes)
	if r.s.files.fence != r.cursor.Fence {
		r.s.files = files{}
	}
	r.notes.Compare = r.notes.Compare || outdated(r.cursor, r.notes, &r.s.o)
	return nil
}

// outdated reports whether the files of a place were never sent, or with other settings.
func outdated(c amber.IndexCursor, n notes, o *Options) bool {
	return c.Position == "" || n.Settings != o.settings()
}

// force lets go of what would keep the round from its work.
func (r *round) force() {
	r.notes.succeeded()
	r.notes.MendAt, r.notes.MendDelay = amber.Time{}, 0
	r.notes.AgainAt, r.notes.AgainDelay = amber.Time{}, 0
	if !r.notes.CompareAt.IsZero() {
		r.notes.Compare = true
	}
	if r.notes.Uncounted > 0 {
		r.notes.Compare, r.notes.Uncounted = true, 0
	}
	r.dirty = true
}

// save makes the position and the notes durable. Errors: busy when another feeder was faster.
func (r *round) save(ctx context.Context, p amber.Position) error {
	b, err := r.notes.bytes()
	if err != nil {
		return err
	}
	next := amber.IndexCursor{Position: p, Fence: r.cursor.Fence + 1, Notes: b}
	if err := r.s.o.Cursors.MoveIndexCursor(ctx, r.place, next); err != nil {
		r.s.files = files{}
		if amber.KindOf(err) == amber.KindConflict {
			return amber.Errorf(amber.KindBusy, "feed openviking", r.place, "another feeder moved the cursor: %w", err)
		}
		return err
	}
	r.cursor, r.dirty, r.s.files.fence = next, false, next.Fence
	return nil
}

// settle notes how the round ended.
func (r *round) settle(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, errSpent) {
		return r.finish(ctx, err == nil)
	}
	r.s.files = files{} // a call without an answer may have changed them
	if r.failed == nil || !errors.Is(err, r.failed) {
		return err // of the primary
	}
	if r.gaveUp() != nil { // the server may still carry out a call that the caller gave up
		r.notes.CompareAt = r.now().Add(compareAfter)
		return errors.Join(err, r.save(context.WithoutCancel(ctx), r.cursor.Position))
	}
	r.s.forgetVersion()
	asked, _ := api.RetryAfter(err)
	r.notes.failed(r.now(), err, asked)
	r.notes.CompareAt = r.now().Add(compareAfter)
	r.report.Again, _ = r.notes.blocked(r.now())
	return errors.Join(err, r.save(context.WithoutCancel(ctx), r.cursor.Position))
}

// finish ends a round in which nothing failed. After an outage vectors may be missing.
func (r *round) finish(ctx context.Context, done bool) error {
	r.report.Done = done
	if wait := time.Duration(r.notes.AgainAt.UnixMilli()-r.now().UnixMilli()) * time.Millisecond; !done && wait > 0 {
		r.report.Again = wait
	}
	r.s.files.forgetMany()
	if r.notes.failing() {
		r.notes.succeeded()
		r.notes.uncheckedSince(r.now())
		r.dirty = true
	}
	if done {
		r.report.Look = r.look()
	}
	if !r.dirty {
		return nil
	}
	return r.save(context.WithoutCancel(ctx), r.cursor.Position)
}

// look returns how long it is until files or vectors are to be looked at; 0 for never.
func (r *round) look() (wait time.Duration) {
	n := &r.notes
	sooner := func(at amber.Time) {
		left := max(time.Duration(at.UnixMilli()-r.now().UnixMilli())*time.Millisecond, time.Second)
		if wait == 0 || left < wait {
			wait = min(left, lastDelay)
		}
	}
	if !n.CompareAt.IsZero() {
		sooner(n.CompareAt)
	}
	if n.Unchecked {
		sooner(laterOf(n.WaitSince.Add(mendAfter), n.MendAt))
	}
	if len(n.Mend) > 0 {
		sooner(n.MendAt)
	}
	return wait
}

func laterOf(a, b amber.Time) amber.Time {
	if a.Before(b) {
		return b
	}
	return a
}
