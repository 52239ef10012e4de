package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/capture/digest"
	"github.com/amber-memory/amber/internal/capture/digest/writer"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
)

// Journal returns the crash journal of the agent, bounded as the configuration says.
// It makes nothing and opens no database: agent hosts wait for it. The first append
// makes the folders it needs.
func (a *Agent) Journal() (*journal.Journal, error) {
	return journal.Open(a.folder.SpoolDir(), JournalOptions(a.config.Journal, a.o.Clock))
}

// JournalOptions bounds a journal as the configuration says.
func JournalOptions(c config.Journal, clock amber.Clock) journal.Options {
	return journal.Options{
		Clock:           clock,
		FlushInterval:   c.FlushInterval,
		MaxEntries:      c.MaxEntries,
		MaxSessionBytes: int64(c.MaxSessionBytes),
		MaxBytes:        int64(c.MaxBytes),
	}
}

// Drain brings what the crash journal holds into the store, once, after any drain
// that runs at the moment. With explain the report has what the policy decided.
func (a *Agent) Drain(ctx context.Context, explain bool) (report drain.Report, err error) {
	// The caller wants to know now: no grace for ends that may be on their way.
	w, err := a.Drainer(drain.Options{Grace: -1, ClearEvery: 1, Explain: explain, Progress: a.o.Progress})
	if err != nil {
		return report, err
	}
	return w.Once(ctx)
}

// Drainer returns a worker that drains the crash journal into the store.
func (a *Agent) Drainer(o drain.Options) (*drain.Worker, error) {
	j, err := a.Journal()
	if err != nil {
		return nil, err
	}
	return a.drainer(j, o)
}

// drainer returns a worker that drains a journal into the store.
func (a *Agent) drainer(j *journal.Journal, o drain.Options) (*drain.Worker, error) {
	o.Journal, o.Clock, o.Alive = j, a.o.Clock, proc.Check
	o.Policy, o.Loops, o.Memories, o.Sessions = a.Policy, a.plain.Loops, a.plain.Memories, a.plain.Sessions
	o.Shared, o.Place = a.remote != nil, a.place
	o.Writer = DigestWriter(a.config.Digest, a.o.Getenv)
	o.Store = struct {
		amber.Ingester
		amber.Turns
		amber.Activities
	}{a.plain.Ingest, a.plain.Turns, a.plain.Activities}
	return drain.New(o)
}

// DigestWriter returns the writer of digests that the configuration names; nil: the rules
// do. Getenv may be nil.
func DigestWriter(c config.Digest, getenv func(string) string) digest.Writer {
	o := writer.Options{Command: c.Command, URL: c.URL, Model: c.Model, Timeout: c.Timeout}
	if c.KeyEnv != "" && getenv != nil {
		o.Key = getenv(c.KeyEnv)
	}
	return writer.New(o)
}

// Settle brings what the crash journal holds into the store, and names what stays in
// the journal.
func (a *Agent) Settle(ctx context.Context) []string {
	const unsearched = "the crash journal, which was not searched: "
	j, err := a.Journal()
	if err != nil {
		return []string{unsearched + err.Error()}
	}
	keys, err := j.Keys()
	if err == nil && len(keys) > 0 {
		report, derr := a.Drain(ctx, false)
		err = errors.Join(derr, report.Err())
	}
	if err != nil {
		return []string{"the crash journal, which could not be drained: " + err.Error()}
	}
	if keys, err = j.Keys(); err != nil { // the sessions that are still there
		return []string{unsearched + err.Error()}
	}
	var remaining []string
	for _, k := range keys {
		remaining = append(remaining, unsettled(ctx, j, k)...)
	}
	return remaining
}

// unsettled names what the journal still holds of a session.
func unsettled(ctx context.Context, j *journal.Journal, k journal.Key) (remaining []string) {
	st, err := j.Status(ctx, k, 0)
	if err != nil {
		return []string{fmt.Sprintf("session %s of the crash journal, which was not searched: %v", k, err)}
	}
	if st.Entries > 0 {
		remaining = append(remaining, fmt.Sprintf("%s of session %s in the crash journal, not searched", words.Count(st.Entries, "entry", "entries"), st.SessionID))
	}
	if st.Quarantined > 0 {
		remaining = append(remaining, fmt.Sprintf("%s in the quarantine of session %s, not searched", words.Count(st.Quarantined, "file", "files"), st.SessionID))
	}
	return remaining
}

// settledSessions are sessions whose journal is brought in before one is deleted:
// a later drain would make the session again.
type settledSessions struct {
	amber.Sessions
	agent *Agent
}

// DeleteSession implements [amber.Sessions]. Errors: also busy while the crash journal
// holds entries of the session that cannot be brought in. Nothing is deleted then.
func (s settledSessions) DeleteSession(ctx context.Context, id amber.SessionID) error {
	s.agent.Settle(ctx) // what it could not bring in shows now
	if err := s.agent.settled(ctx, id); err != nil {
		return err
	}
	return s.Sessions.DeleteSession(ctx, id)
}

// settled returns nil when the crash journal holds nothing of a session that the store has not taken. Damaged
// entries and entries in quarantine make no session, so they do not count.
func (a *Agent) settled(ctx context.Context, id amber.SessionID) error {
	busy := func(why string) error {
		return amber.Errorf(amber.KindBusy, "delete session", string(id), "%s, and would make it again", why).WithHint("amber journal drain")
	}
	j, err := a.Journal()
	if err != nil {
		return busy("the crash journal cannot be read: " + err.Error())
	}
	states, err := j.List(ctx, func(k journal.Key) (int64, error) { return cursorSeq(ctx, j, a.plain.Ingest, k) })
	if err != nil {
		return busy("the crash journal cannot be read: " + err.Error())
	}
	for _, st := range states {
		if st.SessionID == id && st.Undrained > 0 {
			return busy(words.Count(st.Undrained, "entry of it is", "entries of it are") + " still in the crash journal")
		}
	}
	return nil
}
