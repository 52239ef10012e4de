package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/journal"
)

func (a *app) journalQuarantineCommand() *cobra.Command {
	var show, session string
	var jsonl, retry, discard, yes, dryRun bool
	cmd := &cobra.Command{
		Use:   "quarantine",
		Short: "List, print, retry or discard entries that were set aside",
		Long: `List what was set aside: entries that could not be stored, with the reason; bytes that
were cut off behind a crash; segments and files that are damaged. Nothing
in quarantine is removed by itself.

With --show it prints one of them, as it is kept. With --retry entries go back into
the journal, to be drained again: a newer Amber may be able to store them. With
--discard everything that was set aside is removed for good.`,
		Example: `  amber journal quarantine
  amber journal quarantine --session 0199a3f2 --show 00000000000000000002.entry
  amber journal quarantine --retry && amber journal drain`,
		Args: cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if show != "" && session == "" {
				return cli.Usage("--show needs --session: files of several sessions may have one name")
			}
			j, err := a.openJournal()
			if err != nil {
				return err
			}
			keys, err := j.Find(session)
			if err != nil {
				return err
			}
			if show != "" {
				return a.showHeld(j, keys, show)
			}
			items, err := j.HeldEntries(cmd.Context(), keys)
			if err != nil {
				return err
			}
			switch {
			case retry && discard:
				return cli.Usage("--retry and --discard exclude each other")
			case retry:
				items, err = j.RetryHeld(cmd.Context(), items)
			case discard && !dryRun:
				if err := a.Confirm(yes, fmt.Sprintf("discard %d files for good", len(items))); err != nil {
					return err
				}
				err = j.DiscardHeld(cmd.Context(), items)
			}
			if err != nil {
				return err
			}
			return cli.ShowItems(a.App, jsonl, amber.Page[journal.HeldEntry]{Items: items}, a.printHeld)
		},
	}
	cmd.Flags().StringVar(&session, "session", "", "only of this session: its id, or its key")
	cmd.Flags().StringVar(&show, "show", "", "print this one")
	cmd.Flags().BoolVar(&retry, "retry", false, "put entries back into the journal")
	cmd.Flags().BoolVar(&discard, "discard", false, "remove what was set aside for good")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "with --discard, only list what would be removed")
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

// showHeld prints one file. A terminal gets it in a form it cannot act on.
func (a *app) showHeld(j *journal.Journal, keys []journal.Key, name string) error {
	if len(keys) > 1 {
		return amber.Errorf(amber.KindConflict, "find session", "", "%d hosts have a session of that id; give its key", len(keys))
	}
	h, err := j.Held(keys[0], name)
	if err != nil {
		return err
	}
	s, _ := j.Origin(keys[0])
	return a.Out.Show(journal.HeldEntry{Key: keys[0], Host: s.Host, SessionID: s.ID, Held: h}, func(w io.Writer) {
		if a.Terminal() {
			fmt.Fprintln(w, cli.Safe(string(h.Payload)))
			return
		}
		w.Write(h.Payload) // the printer keeps the error
	})
}

func (a *app) printHeld(w io.Writer, items []journal.HeldEntry) {
	cli.TableOf(w, []string{"SESSION", "NAME", "BYTES", "SEQ", "GIVEN UP", "REASON"}, items, func(h journal.HeldEntry) []string {
		seq := "-"
		if h.Seq > 0 {
			seq = strconv.FormatInt(h.Seq, 10)
		}
		return []string{string(h.SessionID), h.Name, strconv.FormatInt(h.Bytes, 10), seq, a.Out.When(h.At), cli.OneLine(h.Reason, 80)}
	})
}
