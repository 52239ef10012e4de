package memory

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

func (a *app) reviewCommand() *cobra.Command {
	return cli.Family("review",
		a.reviewListCommand(), a.reviewKeepCommand(), a.reviewEditCommand(), a.reviewForgetCommand())
}

func (a *app) reviewListCommand() *cobra.Command {
	var page cli.PageFlags
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			return cli.ShowPage(a.App, cmd, page, func(n int, c amber.Cursor) (amber.Page[amber.Memory], error) {
				return s.Store.Memories.List(ctx, amber.ListQuery{All: true, Waiting: amber.ReviewAgents, Limit: n, Cursor: c})
			}, a.printWaiting)
		})
	})
	page.Add(cmd)
	return cmd
}

// printWaiting prints a memory in two lines: what it says, and who said it where.
func (a *app) printWaiting(w io.Writer, items []amber.Memory) {
	for _, m := range items {
		fmt.Fprintf(w, "%s\n          %s\n", a.memoryLine(m), a.Out.Style(cli.Dim, cli.OneLine("by "+words.Author(m.Trust, m.Author), 200)))
	}
}

// reviewed is the JSON of review keep and review forget.
type reviewed struct {
	Items []reviewedMemory `json:"items"`
}

type reviewedMemory struct {
	ID      amber.MemoryID `json:"id"`
	Outcome string         `json:"outcome"` // kept or forgotten
}

// decide does something with each memory that the arguments name.
func (a *app) decide(cmd *cobra.Command, args []string, outcome string, do func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error) error {
	if err := a.OwnerOnly("review memory"); err != nil {
		return err
	}
	ends := make([]agent.IDEnd, len(args))
	for i, arg := range args {
		var err error
		if ends[i], err = agent.ParseIDEnd(arg); err != nil {
			return err
		}
	}
	return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
		done := reviewed{Items: []reviewedMemory{}}
		for _, end := range ends {
			id, err := agent.FindMemory(ctx, s.Store, end)
			if err == nil {
				err = do(ctx, s, id)
			}
			if err != nil {
				return err
			}
			done.Items = append(done.Items, reviewedMemory{id, outcome})
		}
		return a.Out.Show(done, func(w io.Writer) {
			for _, m := range done.Items {
				fmt.Fprintf(w, "%s %s\n", m.ID, m.Outcome)
			}
		})
	})
}

func (a *app) reviewKeepCommand() *cobra.Command {
	return cli.Verb("keep", func(cmd *cobra.Command, args []string) error {
		return a.decide(cmd, args, "kept", func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
			_, err := s.Store.Editor.Edit(ctx, amber.EditRequest{ID: id, Keep: true})
			return err
		})
	})
}

func (a *app) reviewEditCommand() *cobra.Command {
	cmd := a.editing(true)
	edit := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := a.OwnerOnly("review memory"); err != nil {
			return err
		}
		return edit(cmd, args)
	}
	return cmd
}

func (a *app) reviewForgetCommand() *cobra.Command {
	return cli.Verb("forget", func(cmd *cobra.Command, args []string) error {
		return a.decide(cmd, args, "forgotten", func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
			return s.Store.LongTerm.Delete(ctx, id)
		})
	})
}
