package capture

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/capture/journal"
)

func (a *app) journalDiscardCommand() *cobra.Command {
	var session string
	var yes, dryRun bool
	cmd := cli.Verb("discard", func(cmd *cobra.Command, _ []string) error {
		at, err := a.Configured()
		if err != nil {
			return err
		}
		j, err := at.Journal()
		if err != nil {
			return err
		}
		keys, err := j.Find(session)
		if err != nil {
			return err
		}
		return a.discardEntries(cmd, at, keys, yes, dryRun)
	})
	cmd.Flags().StringVar(&session, "session", "", "only of this session: its id, or its key")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be removed and remove nothing")
	return cmd
}

func (a *app) discardEntries(cmd *cobra.Command, at *agent.Agent, keys []journal.Key, yes, dryRun bool) error {
	report, err := at.PlanDiscard(cmd.Context(), keys)
	if err != nil {
		return err
	}
	report.DryRun = dryRun
	if !dryRun && len(report.Items) > 0 {
		question := fmt.Sprintf("discard %s of %s for good, %d of them not drained", words.Count(report.Entries, "entry", "entries"), words.Count(len(report.Items), "session", "sessions"), report.Undrained)
		if err := a.Confirm(yes, question); err != nil {
			return err
		}
		err := a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error { return s.Local.Discard(ctx, report.Items) })
		if err != nil {
			return err
		}
	}
	return a.Out.Show(report, func(w io.Writer) { printDiscard(w, report) })
}

func printDiscard(w io.Writer, r agent.DiscardReport) {
	verb := "discarded"
	if r.DryRun {
		verb = "would discard"
	}
	for _, d := range r.Items {
		fmt.Fprintf(w, "%s %s of %s, %d of them not drained\n", verb, words.Count(d.Entries, "entry", "entries"), cli.Flat(string(d.SessionID)), d.Undrained)
	}
	if len(r.Items) == 0 {
		fmt.Fprintln(w, "the journal holds no entries")
	}
}
