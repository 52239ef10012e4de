package capture

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

func (a *app) journalQuarantineCommand() *cobra.Command {
	var show, session string
	var jsonl, retry, discard, yes, dryRun bool
	cmd := cli.Verb("quarantine", func(cmd *cobra.Command, _ []string) error {
		if show != "" && session == "" {
			return cli.Usage("--show needs --session: files of several sessions may have one name")
		}
		if retry && discard {
			return cli.Usage("--retry and --discard exclude each other")
		}
		q, err := a.openQuarantine()
		if err != nil {
			return err
		}
		if show != "" {
			return a.showHeld(cmd.Context(), q, session, show)
		}
		var items []wire.HeldEntry
		switch {
		case retry:
			items, err = q.RetryHeld(cmd.Context(), wire.HeldRetry{Session: session})
		case discard:
			items, err = a.discardHeld(cmd.Context(), session, yes, dryRun)
		default:
			items, err = q.HeldEntries(cmd.Context(), session)
		}
		if err != nil {
			return err
		}
		return cli.ShowItems(a.App, jsonl, amber.Page[wire.HeldEntry]{Items: items}, a.printHeld)
	})
	cmd.Flags().StringVar(&session, "session", "", "only of this session: its id, or its key")
	cmd.Flags().StringVar(&show, "show", "", "print this one")
	cmd.Flags().BoolVar(&retry, "retry", false, "put entries back into the journal")
	cmd.Flags().BoolVar(&discard, "discard", false, "remove what was set aside for good")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "with --discard, only list what would be removed")
	cli.AddJSONL(cmd, &jsonl)
	cli.OnlyHere(cmd.Flags(), "discard")
	return cli.Remotely(cmd)[0]
}

// openQuarantine is the quarantine of the agent, here or of a server.
func (a *app) openQuarantine() (op.Quarantine, error) {
	if a.Remote != nil {
		return a.Remote.Agent, nil
	}
	at, err := a.Configured()
	if err != nil {
		return nil, err
	}
	return OwnQuarantine{at}, nil
}

// OwnQuarantine is that of an agent of this machine, whose owner is shown everything.
type OwnQuarantine struct{ *agent.Agent }

func (q OwnQuarantine) ShowHeld(_ context.Context, session, name string) (wire.HeldEntry, error) {
	j, err := q.Journal()
	if err != nil {
		return wire.HeldEntry{}, err
	}
	return j.ShowHeld(session, name)
}

// discardHeld removes what was set aside here for good, or lists it.
func (a *app) discardHeld(ctx context.Context, session string, yes, dryRun bool) ([]wire.HeldEntry, error) {
	at, err := a.Configured()
	if err != nil {
		return nil, err
	}
	items, err := at.HeldEntries(ctx, session)
	if err != nil || dryRun {
		return items, err
	}
	if err := a.Confirm(yes, "discard "+words.Count(len(items), "file", "files")+" for good"); err != nil {
		return nil, err
	}
	j, err := at.Journal()
	if err != nil {
		return nil, err
	}
	return items, j.DiscardHeld(ctx, items)
}

// showHeld prints one file. A terminal gets it in a form it cannot act on.
func (a *app) showHeld(ctx context.Context, q op.Quarantine, session, name string) error {
	h, err := q.ShowHeld(ctx, session, name)
	if err != nil {
		return err
	}
	return a.Out.Show(h, func(w io.Writer) {
		if a.Terminal() {
			fmt.Fprintln(w, cli.Safe(string(h.Payload)))
			return
		}
		w.Write(h.Payload) // the printer keeps the error
	})
}

func (a *app) printHeld(w io.Writer, items []wire.HeldEntry) {
	cli.TableOf(w, []string{"SESSION", "NAME", "BYTES", "SEQ", "GIVEN UP", "REASON"}, items, func(h wire.HeldEntry) []string {
		seq := "-"
		if h.Seq > 0 {
			seq = strconv.FormatInt(h.Seq, 10)
		}
		return []string{string(h.SessionID), h.Name, strconv.FormatInt(h.Bytes, 10), seq, a.Out.When(h.At), cli.OneLine(h.Reason, 80)}
	})
}
