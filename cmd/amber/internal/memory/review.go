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
	cmd := cli.Family("review", "Decide about memories of agents that wait for their owner",
		a.reviewListCommand(), a.reviewKeepCommand(), a.reviewEditCommand(), a.reviewForgetCommand())
	cmd.Long = `Decide about memories that wait for their owner. An agent's memory that would hold for
every project, and an agent's standing constraint, is stored and found by recall, and
put before no agent that did not ask until its owner keeps it. write.review says
which memories wait.

A command that runs in an agent's shell cannot decide.`
	return cmd
}

func (a *app) reviewListCommand() *cobra.Command {
	var page cli.PageFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the memories that wait, newest first",
		Example: `  amber review list`,
		Args:    cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.PageSize(page.N); err != nil {
				return err
			}
			return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
				return cli.ShowPage(a.App, cmd, page, func(n int, c amber.Cursor) (amber.Page[amber.Memory], error) {
					return s.Store.Memories.List(ctx, amber.ListQuery{All: true, Waiting: amber.ReviewAgents, Limit: n, Cursor: c})
				}, a.printWaiting)
			})
		},
	}
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
	return &cobra.Command{
		Use:     "keep ID...",
		Short:   "Keep memories: they hold as if their owner had written them",
		Long:    "Keep memories. They hold as if their owner had written them; their history says who did.\n\n" + idHelp,
		Example: `  amber review keep 5f3a91c0`,
		Args:    atLeastOneID("review keep"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.decide(cmd, args, "kept", func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
				_, err := s.Store.Editor.Edit(ctx, amber.EditRequest{ID: id, Keep: true})
				return err
			})
		},
	}
}

func (a *app) reviewEditCommand() *cobra.Command {
	cmd := a.editing(true)
	cmd.Short = "Keep a memory in other words"
	cmd.Long = "Change a memory and keep it: it holds as if its owner had written it.\n\n" + idHelp
	cmd.Example = `  amber review edit 5f3a91c0 "Ask before a migration on production"`
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
	return &cobra.Command{
		Use:     "forget ID...",
		Short:   "Forget memories",
		Long:    "Forget memories. Their history stays; amber forget --erase removes a text for good.\n\n" + idHelp,
		Example: `  amber review forget 5f3a91c0`,
		Args:    atLeastOneID("review forget"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.decide(cmd, args, "forgotten", func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
				return s.Store.LongTerm.Delete(ctx, id)
			})
		},
	}
}

// atLeastOneID refuses a command line without an id.
func atLeastOneID(verb string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cli.Usage("%s needs the id of a memory", verb)
		}
		return nil
	}
}
