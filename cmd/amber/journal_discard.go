package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/journal"
)

// discarded is what journal discard removes of one session.
type discarded struct {
	Key       journal.Key     `json:"key"`
	Host      string          `json:"host"`
	SessionID amber.SessionID `json:"session_id"`
	Entries   int64           `json:"entries"`
	Undrained int64           `json:"undrained"` // of which the store has nothing
	Bytes     int64           `json:"bytes"`
	through   int64           // the last sequence
}

// discardReport is the JSON of journal discard.
type discardReport struct {
	Items     []discarded `json:"items"`
	Entries   int64       `json:"entries"`
	Undrained int64       `json:"undrained"`
	DryRun    bool        `json:"dry_run"`
}

func (a *app) journalDiscardCommand() *cobra.Command {
	var session string
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "discard",
		Short: "Remove entries from the journal for good",
		Long: `Remove the entries of a session, or of every session, from the journal for good, also
those that were not drained: the store never gets them. Look at them first with
journal show. What is appended meanwhile stays, and so does what is in quarantine;
damaged segments go there.`,
		Example: `  amber journal discard --session 0199a3f2 --dry-run
  amber journal discard --session 0199a3f2 --yes`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := a.openJournal()
			if err != nil {
				return err
			}
			keys, err := chooseSessions(j, session)
			if err != nil {
				return err
			}
			return a.discardEntries(cmd, j, keys, yes, dryRun)
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "only of this session: its id, or its key")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "tell what would be removed, and remove nothing")
	return cmd
}

func (a *app) discardEntries(cmd *cobra.Command, j *journal.Journal, keys []journal.Key, yes, dryRun bool) error {
	report, err := a.planDiscard(cmd.Context(), j, keys)
	if err != nil {
		return err
	}
	report.DryRun = dryRun
	if !dryRun && len(report.Items) > 0 {
		question := fmt.Sprintf("discard %d entries of %d sessions for good, %d of them not drained", report.Entries, len(report.Items), report.Undrained)
		if err := a.confirm(yes, question); err != nil {
			return err
		}
		err := a.withStore(cmd, func(ctx context.Context, s *opened) error { return discardAll(ctx, j, s.Store.Ingest, report.Items) })
		if err != nil {
			return err
		}
	}
	return a.out.show(report, func(w io.Writer) { printDiscard(w, report) })
}

// planDiscard counts what there is. Nothing is changed.
func (a *app) planDiscard(ctx context.Context, j *journal.Journal, keys []journal.Key) (discardReport, error) {
	report := discardReport{Items: []discarded{}}
	at, err := a.configured()
	if err != nil {
		return report, err
	}
	store, err := at.Cursors(ctx)
	if err != nil {
		return report, err
	}
	defer store.Close()
	for _, key := range keys {
		drained, err := store.Of(ctx, j, key)
		if err != nil {
			return report, err
		}
		origin, _ := j.Origin(key) // one without is named by its key, and refused below
		d := discarded{Key: key, Host: origin.Host, SessionID: origin.ID}
		if _, err := j.Look(ctx, key, func(f journal.Frame) error {
			d.Entries++
			d.Bytes += int64(len(f.Payload))
			if d.through = f.Seq; f.Seq > drained {
				d.Undrained++
			}
			return nil
		}); err != nil {
			return report, err
		}
		if d.Entries > 0 {
			report.Items = append(report.Items, d)
			report.Entries += d.Entries
			report.Undrained += d.Undrained
		}
	}
	return report, nil
}

// discardAll tells the store that it has seen the entries, and then removes
// them: whatever is killed in between, they are never drained, and no reader
// takes their absence for damage.
func discardAll(ctx context.Context, j *journal.Journal, store amber.Ingester, items []discarded) (err error) {
	end, err := j.BeginDrain(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	for _, d := range items {
		origin, err := j.Origin(d.Key)
		if err != nil {
			e := &amber.Error{Op: "discard session", Kind: amber.KindOf(err), ID: string(d.Key), Err: err, Hint: "amber journal drain"}
			return e
		}
		cursor, err := store.JournalCursor(ctx, origin.Cursor)
		if err != nil {
			return err
		}
		if cursor.Seq < d.through {
			in := amber.Ingestion{Journal: origin.Cursor, Host: origin.Host, Session: origin.ID, After: cursor.Seq, Through: d.through}
			if _, err := store.Ingest(ctx, in); err != nil {
				return err
			}
		}
		if _, err := j.Clear(ctx, d.Key, d.through); err != nil {
			return err
		}
		if _, err := j.Remove(ctx, d.Key, d.through); err != nil {
			return err
		}
	}
	return nil
}

func printDiscard(w io.Writer, r discardReport) {
	verb := "discarded"
	if r.DryRun {
		verb = "would discard"
	}
	for _, d := range r.Items {
		fmt.Fprintf(w, "%s %d entries of %s, %d of them not drained\n", verb, d.Entries, flat(string(d.SessionID)), d.Undrained)
	}
	if len(r.Items) == 0 {
		fmt.Fprintln(w, "the journal holds no entries")
	}
}
