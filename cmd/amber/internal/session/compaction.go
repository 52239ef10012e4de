package session

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) compactionCommand() *cobra.Command {
	return cli.Family("compaction",
		a.compactionListCommand(), a.compactionShowCommand(), a.compactionAddCommand())
}

func (a *app) compactionListCommand() *cobra.Command {
	var session sessionFlag
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		return a.withCompactions(cmd, session, func(list []amber.Compaction) error {
			return cli.ShowItems(a.App, jsonl, amber.Page[amber.Compaction]{Items: list}, a.printCompactions)
		})
	})
	session.add(cmd, "the session (default the active one)")
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

// withCompactions calls fn with the compactions of the session of a flag.
func (a *app) withCompactions(cmd *cobra.Command, session sessionFlag, fn func(list []amber.Compaction) error) error {
	return session.with(a, cmd, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
		list, err := amber.All(ctx, s.Store.Compactions.Compactions, id)
		if err != nil {
			return err
		}
		return fn(list)
	})
}

func (a *app) printCompactions(w io.Writer, list []amber.Compaction) {
	for _, c := range list {
		fmt.Fprintf(w, "%s  %s  %s\n", a.Out.Style(cli.Amb, cli.Flat(c.ID)), a.Out.Style(cli.Dim, c.CreatedAt.String()), cli.OneLine(c.Summary, 100))
	}
}

func (a *app) compactionShowCommand() *cobra.Command {
	var session sessionFlag
	cmd := cli.Verb("show", func(cmd *cobra.Command, args []string) error {
		return a.withCompactions(cmd, session, func(list []amber.Compaction) error {
			for _, c := range list {
				if c.ID == args[0] {
					return a.Out.Show(c, func(w io.Writer) { a.PrintNote(w, c.Summary) })
				}
			}
			return amber.Errorf(amber.KindNotFound, "read compaction", args[0], "the session has no such compaction").WithHint("amber compaction list --session ID")
		})
	})
	session.add(cmd, "the session (default the active one)")
	return cmd
}

func (a *app) compactionAddCommand() *cobra.Command {
	var session sessionFlag
	var c amber.Compaction
	cmd := cli.Verb("add", func(cmd *cobra.Command, args []string) error {
		c := c
		var err error
		if c.Summary, err = a.Text(args[0], amber.MaxContentBytes); err != nil {
			return err
		}
		return session.with(a, cmd, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			c.SessionID = id
			return cli.Answer(s.Store.Compactions.AddCompaction(ctx, c))(a.Out, func(w io.Writer, stored amber.Compaction) {
				fmt.Fprintln(w, cli.Flat(stored.ID))
			})
		})
	})
	session.add(cmd, "the session (default the active one)")
	cmd.Flags().StringVar(&c.ID, "id", "", "the id (default a new one)")
	cmd.Flags().IntVar(&c.Turns, "turns", 0, "how many turns it summarises")
	return cmd
}
