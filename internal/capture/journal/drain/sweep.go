package drain

import (
	"context"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/proc"
)

// sweep ends the sessions that are over without a word: their process is gone, or they are
// silent for long and nothing is known about their process. A host that speaks again later
// opens its session again. The last words of sessions of other journals may wait on another
// machine. Such sessions end by silence alone, and this worker does not end them where the
// store is shared.
func (w *Worker) sweep(ctx context.Context, turn *turn, report *Report) error {
	open, err := w.o.Store.OpenJournals(ctx)
	if err != nil {
		return err
	}
	now := w.o.Clock()
	ended, passed := len(report.Ended), false
	for _, c := range w.latest(open) {
		key := w.keys[c.Journal]
		if report.Failed[string(key)] != "" {
			continue // what it said last is not in the store yet
		}
		reason, over := w.verdict(c, now)
		if !over || w.o.Shared && key == "" {
			continue
		}
		if w.o.StandBack != nil && len(report.Ended) > ended {
			ended, passed = len(report.Ended), true
			if err := turn.pass(ctx, w.o.StandBack); err != nil {
				return err
			}
		}
		if passed {
			is, err := w.o.Store.JournalCursor(ctx, c.Journal)
			if err != nil {
				return err
			}
			if is.Ended || is.Seq != c.Seq {
				continue // another worker has moved it since
			}
		}
		err := w.end(ctx, c, reason, report)
		switch amber.KindOf(err) {
		case "":
			report.Ended = append(report.Ended, string(c.Session))
			if key != "" {
				err = w.tidy(ctx, key, c.Seq, true, report)
			}
			if err != nil {
				report.fail(key, err)
			}
		case amber.KindConflict: // it has just said something
		default:
			return err
		}
	}
	return nil
}

// latest returns the last cursor of each session that no process is known to
// work on. A session that was removed from the journal and came back has
// several cursors, and so has a session that two hosts report.
func (w *Worker) latest(cursors []amber.JournalCursor) []amber.JournalCursor {
	last := map[amber.SessionID]amber.JournalCursor{}
	alive := map[amber.SessionID]bool{}
	for _, c := range cursors {
		if l, ok := last[c.Session]; !ok || c.LastAt.UnixMilli() >= l.LastAt.UnixMilli() {
			last[c.Session] = c
		}
		alive[c.Session] = alive[c.Session] || w.o.Alive(c.Process) == proc.Alive
	}
	var out []amber.JournalCursor
	for _, c := range cursors {
		if last[c.Session].Journal == c.Journal && !alive[c.Session] {
			out = append(out, c)
		}
	}
	return out
}

// verdict says whether a session is over, and why.
func (w *Worker) verdict(c amber.JournalCursor, now time.Time) (amber.EndReason, bool) {
	silent := now.Sub(c.LastAt.Time())
	// The process in a cursor of another journal may belong to another machine. Its boot is not
	// that of this machine, so Alive would report it as dead, as after a restart.
	if w.keys[c.Journal] != "" && w.o.Alive(c.Process) == proc.Dead {
		return amber.EndCrash, silent >= w.o.Grace
	}
	return amber.EndIdle, silent >= w.o.IdleAfter
}

// end ends a session at the time it was last heard of.
func (w *Worker) end(ctx context.Context, c amber.JournalCursor, reason amber.EndReason, report *Report) error {
	step := amber.IngestStep{
		At: c.LastAt, Start: amber.SessionStart{ID: c.Session, Binding: c.Host}, End: &amber.SessionEnd{ID: c.Session, Reason: reason},
	}
	var err error
	if step.End.Summary, err = w.digested(ctx, subject{id: c.Session, host: c.Host}, &step, report); err != nil {
		return err
	}
	_, err = w.o.Store.Ingest(ctx, amber.Ingestion{
		Journal: c.Journal, Host: c.Host, Session: c.Session, After: c.Seq, Through: c.Seq, Steps: []amber.IngestStep{step},
	})
	return err
}
