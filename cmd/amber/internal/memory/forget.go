package memory

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

// forgotten is the JSON of a plain forget.
type forgotten struct {
	ID        amber.MemoryID `json:"id"`
	Forgotten bool           `json:"forgotten"`
}

// erasePlan is the JSON of forget --erase --dry-run.
type erasePlan struct {
	ID          amber.MemoryID `json:"id"`
	DryRun      bool           `json:"dry_run"`
	WouldRemove []string       `json:"would_remove"`
}

func (a *app) forgetCommand() *cobra.Command {
	var erase, yes, dryRun bool
	cmd := cli.Verb("forget", func(cmd *cobra.Command, args []string) error {
		if dryRun && !erase {
			return cli.Usage("--dry-run goes with --erase; a memory that is only forgotten keeps its history")
		}
		return a.WithMemory(cmd, args[0], func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
			switch {
			case dryRun:
				return a.planErase(ctx, s, id)
			case erase:
				return a.erase(ctx, s, id, yes)
			}
			if err := s.Store.LongTerm.Delete(ctx, id); err != nil {
				return err
			}
			return a.Out.Show(forgotten{id, true}, func(w io.Writer) { fmt.Fprintln(w, id) })
		})
	})
	cmd.Flags().BoolVar(&erase, "erase", false, "remove its text for good")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be removed and remove nothing")
	return cmd
}

func (a *app) planErase(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
	revisions, err := amber.All(ctx, s.Store.Memories.History, id)
	if err != nil {
		return err
	}
	plan := erasePlan{ID: id, DryRun: true, WouldRemove: []string{words.Count(len(revisions), "revision", "revisions")}}
	return a.Out.Show(plan, func(w io.Writer) {
		fmt.Fprintf(w, "%s\nwould remove %s\n", id, strings.Join(plan.WouldRemove, ", "))
	})
}

// erase removes a memory's text once a person has said yes.
func (a *app) erase(ctx context.Context, s *cli.Opened, id amber.MemoryID, yes bool) error {
	if _, err := amber.All(ctx, s.Store.Memories.History, id); err != nil && amber.KindOf(err) != amber.KindNotFound {
		return err
	}
	if err := a.Writer().Check(ctx, s.Store.Memories, "erase memory", id); err != nil {
		return err
	}
	if err := a.Confirm(yes, "erase memory "+string(id)+" for good"); err != nil {
		return err
	}
	report, err := cli.Working(a.App, "erasing", func() (amber.EraseReport, error) { return a.Site(s).Erase(ctx, id) })
	return cli.Answer(report, err)(a.Out, a.printErased)
}

func (a *app) printErased(w io.Writer, r amber.EraseReport) {
	fmt.Fprintln(w, r.ID)
	if len(r.Removed) == 0 {
		a.Out.Note("it was erased already")
	} else {
		fmt.Fprintf(w, "removed %s\n", cli.OneLine(strings.Join(r.Removed, ", "), 400))
	}
	for _, place := range r.Remaining {
		fmt.Fprintf(w, "a copy remains: %s\n", cli.OneLine(place, 400))
	}
}
