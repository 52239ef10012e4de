package freeze

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/agekey"
)

// Readership is the JSON of repo recipients add, remove and rotate.
type Readership struct {
	Recipients []string `json:"recipients"`
	Added      []string `json:"added"`
	Removed    []string `json:"removed"`
	Rotated    bool     `json:"rotated"`
}

// Reader is one item of repo recipients list.
type Reader struct {
	Recipient string `json:"recipient"`
	Kind      string `json:"kind"`
}

func (a *app) repoRecipientsCommand() *cobra.Command {
	verbs := []*cobra.Command{
		a.recipientsListCommand(), a.recipientsAddCommand(), a.recipientsRemoveCommand(), a.recipientsRotateCommand(),
	}
	a.AddRepoFlag(verbs...)
	return cli.Family("recipients", verbs...)
}

func (a *app) recipientsListCommand() *cobra.Command {
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		return a.WithSnapshots(cmd, cli.MayBeAbsent, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
			list, err := e.Recipients(ctx, s.Agent.Tenant())
			if err != nil {
				return err
			}
			page := amber.Page[Reader]{}
			for _, text := range list {
				item := Reader{Recipient: text}
				if r, err := agekey.ParseRecipient(text); err == nil {
					item.Kind = string(r.Kind)
				}
				page.Items = append(page.Items, item)
			}
			return cli.ShowItems(a.App, jsonl, page, func(w io.Writer, items []Reader) {
				for _, r := range items {
					fmt.Fprintln(w, cli.Flat(r.Recipient))
				}
			})
		})
	})
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

func (a *app) recipientsAddCommand() *cobra.Command {
	return cli.Verb("add", func(cmd *cobra.Command, args []string) error {
		return a.changeReaders(cmd, args, nil, false)
	})
}

func (a *app) recipientsRemoveCommand() *cobra.Command {
	return cli.Verb("remove", func(cmd *cobra.Command, args []string) error {
		return a.changeReaders(cmd, nil, args, false)
	})
}

func (a *app) recipientsRotateCommand() *cobra.Command {
	return cli.Verb("rotate", func(cmd *cobra.Command, _ []string) error {
		return a.changeReaders(cmd, nil, nil, true)
	})
}

func (a *app) changeReaders(cmd *cobra.Command, add, remove []string, rotate bool) error {
	change := Readership{Added: cli.OrEmpty(add), Removed: cli.OrEmpty(remove), Rotated: rotate}
	for _, list := range [][]string{change.Added, change.Removed} {
		for i, text := range list {
			r, err := agekey.ParseRecipient(text)
			if err != nil {
				return err
			}
			list[i] = r.Text
		}
	}
	return a.WithSnapshots(cmd, cli.MayBeMade, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
		list, err := cli.Working(a.App, "changing keys", func() ([]string, error) {
			return e.ChangeRecipients(ctx, s.Agent.Tenant(), add, remove, rotate)
		})
		if err != nil {
			return err
		}
		change.Recipients = cli.OrEmpty(list)
		err = a.Out.Show(change, func(w io.Writer) {
			for _, r := range change.Recipients {
				fmt.Fprintln(w, cli.Flat(r))
			}
		})
		a.tellReaders(change)
		return err
	})
}

// tellReaders says what a change does not do.
func (a *app) tellReaders(c Readership) {
	if len(c.Removed) > 0 {
		a.Out.Warn("the removed recipient may have kept the key of the repository, and with it can read old and new snapshots")
		a.Out.Note("hint: amber repo recipients rotate gives new snapshots a new key")
	}
	for _, r := range c.Added {
		a.Out.Note("%s can read every encrypted snapshot of the repository from now on", cli.OneLine(r, 80))
	}
	if c.Rotated {
		a.Out.Note("the next snapshot is stored whole, under the new key; older snapshots stay under the old key")
	}
}
