package exchange

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/wire"
)

func (a *app) undoCommand() *cobra.Command {
	return cli.Verb("undo", func(cmd *cobra.Command, args []string) error {
		if a.Remote != nil {
			return a.tellUndo(func() (wire.ImportUndo, error) { return a.Remote.Agent.UndoImport(cmd.Context(), args[0]) })
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			return a.tellUndo(func() (wire.ImportUndo, error) {
				r, err := transfer.Undo(ctx, s.Store, args[0], transfer.UndoOptions{Settle: a.Site(s).Settle, Clock: a.Clock, NewID: a.newID})
				if err == nil {
					a.index(ctx, s)
				}
				return r, err
			})
		})
	})
}

func (a *app) tellUndo(undo func() (wire.ImportUndo, error)) error {
	r, err := cli.Working(a.App, "undoing", undo)
	if err != nil {
		return err
	}
	return a.Out.Show(r, func(w io.Writer) { a.printUndo(w, r) })
}

func (a *app) printUndo(w io.Writer, r wire.ImportUndo) {
	if r.Already {
		fmt.Fprintf(w, "import %s was undone before\n", r.ID)
		return
	}
	fmt.Fprintf(w, "undid import %s: %d deleted, %d as before, %d gone already\n", r.ID, r.Deleted, r.Restored, r.Gone)
	for _, k := range r.Kept[:min(len(r.Kept), cli.MaxWarnings)] {
		cli.Wrapped(w, 4, "  %s %s %s: %s", a.Out.Style(cli.Amb, "KEPT"), k.Kind, cli.Flat(k.ID), cli.Flat(k.Reason))
	}
	if more := len(r.Kept) - cli.MaxWarnings; more > 0 {
		fmt.Fprintf(w, "  %s %d more; --json names all\n", a.Out.Style(cli.Amb, "KEPT"), more)
	}
}

func (a *app) listCommand() *cobra.Command {
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		if a.Remote != nil {
			return cli.Listing(a.Remote.Agent.Imports(cmd.Context()))(a.App, jsonl, a.printImports)
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			return cli.Listing(transfer.List(ctx, s.Store))(a.App, jsonl, a.printImports)
		})
	})
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

func (a *app) printImports(w io.Writer, list []wire.ImportRecord) {
	for _, r := range list {
		mark := ""
		if r.Undone {
			mark = " (undone)"
		}
		fmt.Fprintf(w, "%s  %s  %-18s  %s%s\n", a.Out.Style(cli.Amb, r.ID), a.Out.Style(cli.Dim, a.Out.When(r.At)), r.Format, cli.Flat(r.Path), mark)
	}
}
