package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/proc"
	"github.com/amber-memory/amber/journal"
	"github.com/amber-memory/amber/journal/drain"
)

func (a *app) journalDrainCommand() *cobra.Command {
	var detached bool
	var generation int64
	cmd := &cobra.Command{
		Use:   "drain",
		Short: "Bring what the journal holds into the store",
		Long: `Bring what the journal holds into the store: each event once, whatever is killed
in between. Sessions, turns, activity and learnings come out of it; a session
whose process is gone is ended with reason crash. Events that can never be
stored go to quarantine and do not keep others back.

Hooks start this by themselves, in the background.

A restore parks what was not drained before it, because it was meant for the agent as it was.
With --from-generation it is brought into the agent as it is now; "amber journal status"
tells which generations have left entries behind.

With --explain it prints what could be learnt and what the policy decided; the keys
memory.write_back.* of the configuration are its switches.`,
		Example: "  amber journal drain\n  amber journal drain --explain\n  amber journal drain --from-generation 3",
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if detached {
				return a.drainInBackground(cmd.Context())
			}
			drainOnce := a.drainNow
			if cmd.Flags().Changed("from-generation") {
				drainOnce = func(ctx context.Context) (drain.Report, error) { return a.drainParked(ctx, generation) }
			}
			report, err := working(a, "draining", func() (drain.Report, error) { return drainOnce(cmd.Context()) })
			if err != nil {
				return err
			}
			if err := a.out.show(report, func(w io.Writer) { printDrain(w, report) }); err != nil {
				return err
			}
			return report.Err()
		},
	}
	cmd.Flags().Int64Var(&generation, "from-generation", 0, "drain what a restore parked of this generation")
	cmd.Flags().BoolVar(&a.explainDrain, "explain", false, "print what could be learnt, and why it was kept or not")
	cmd.Flags().BoolVar(&detached, "detached", false, "drain until nothing comes any more, unless somebody else does")
	if err := cmd.Flags().MarkHidden("detached"); err != nil {
		panic(err)
	}
	return cmd
}

// drainNow drains once, after whoever drains at the moment.
func (a *app) drainNow(ctx context.Context) (report drain.Report, err error) {
	s, err := a.open(ctx)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return a.drainInto(ctx, s)
}

// drainInto drains once into an open store.
func (a *app) drainInto(ctx context.Context, s *opened) (report drain.Report, err error) {
	// Whoever asks now wants to know now: no grace for ends that may be on
	// their way.
	w, err := a.drainWorker(s, drain.Options{Grace: -1, ClearEvery: 1, Progress: a.meter.set})
	if err != nil {
		return report, err
	}
	return w.Once(ctx)
}

func (a *app) drainWorker(s *opened, o drain.Options) (*drain.Worker, error) {
	j, err := a.openJournal()
	if err != nil {
		return nil, err
	}
	return a.workerOn(j, s, o)
}

// workerOn returns what drains a journal into an open store.
func (a *app) workerOn(j *journal.Journal, s *opened, o drain.Options) (*drain.Worker, error) {
	o.Journal, o.Clock, o.Alive = j, a.clock, proc.Check
	o.Policy, o.Loops, o.Explain = s.Policy, s.Store.Loops, a.explainDrain
	o.Store = struct {
		amber.Ingester
		amber.Turns
		amber.Activities
	}{s.Store.Ingest, s.Store.Turns, s.Store.Activities}
	return drain.New(o)
}

// backgroundLockName is the lock of whoever drains in the background, in the
// spool.
const backgroundLockName = "background.lock"

// The background drain waits a moment, so that one of them serves many hooks,
// and stays until nothing has come for a while.
const (
	drainPause = 300 * time.Millisecond
	drainStay  = 3 * time.Second
)

// drainInBackground drains until nothing comes any more. There is one at a
// time: whoever finds the lock taken leaves. A hook that appends after the last
// look and finds the lock still taken relies on this one, so it looks once more
// after letting go.
func (a *app) drainInBackground(ctx context.Context) error {
	agent, err := a.lookAtAgent()
	if err != nil {
		return err
	}
	for more := true; more && err == nil; {
		more, err = a.drainWhileAlone(ctx, filepath.Join(agent.SpoolDir(), backgroundLockName))
	}
	return err
}

// drainWhileAlone drains under a lock until nothing comes any more, lets go,
// and reports whether something has come after all.
func (a *app) drainWhileAlone(ctx context.Context, path string) (more bool, err error) {
	wait, cancel := context.WithTimeout(ctx, drainPause) // hooks take the lock for a moment, to look
	defer cancel()
	lock, err := fsx.AcquireLock(wait, path, fsx.Exclusive)
	if errors.Is(err, context.DeadlineExceeded) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.Unlock()
	s, err := a.open(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	w, err := a.drainWorker(s, drain.Options{})
	if err != nil {
		return false, err
	}
	err = drainUntilQuiet(ctx, w)
	if err = errors.Join(err, lock.Unlock()); err != nil {
		return false, err
	}
	report, err := w.Once(ctx)
	return report.Applied > 0, err
}

// drainUntilQuiet drains until nothing has come into the store for a while. A
// session that cannot be drained keeps nobody else waiting; the next one tries
// it again.
func drainUntilQuiet(ctx context.Context, w *drain.Worker) error {
	for quiet := time.Duration(0); quiet < drainStay; quiet += drainPause {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(drainPause):
		}
		report, err := w.Once(ctx)
		if err != nil {
			return err
		}
		if report.Applied > 0 {
			quiet = 0
		}
	}
	return nil
}

func printDrain(w io.Writer, r drain.Report) {
	fmt.Fprintf(w, "%d events of %d sessions: %d applied, %d known already, %d memories\n", r.Events, r.Sessions, r.Applied, r.Duplicates, r.Memories)
	for _, id := range r.Ended {
		fmt.Fprintf(w, "ended without a word: %s\n", id)
	}
	if r.Quarantined > 0 {
		fmt.Fprintf(w, "%d events are in quarantine: amber journal quarantine\n", r.Quarantined)
	}
	if r.Damaged > 0 {
		fmt.Fprintf(w, "%d places could not be read: amber journal verify\n", r.Damaged)
	}
	for _, d := range r.Decisions {
		verdict := "kept"
		if !d.Effective {
			verdict = "not kept, " + d.BlockedReason
		}
		fmt.Fprintf(w, "%s of session %s: %s: %s\n", d.Lesson, flat(string(d.SessionID)), verdict, flat(d.Text))
	}
	for key, why := range r.Failed {
		fmt.Fprintf(w, "session %s: %s\n", key, why)
	}
}
