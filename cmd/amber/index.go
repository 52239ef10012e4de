package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

func (a *app) indexCommand() *cobra.Command {
	family := cli.Family("index", "Look after the index that recall searches",
		a.indexStatusCommand(), a.indexSyncCommand(), a.indexRebuildCommand(), a.indexVerifyCommand())
	family.Long = `Look after the index that recall searches: passages of memories, sessions and notes by their
words, and by what they mean where there is a model (search.model). Everything in it is made of what
is stored, so it can be made anew at any time.

A passage is found by its words from the moment it is stored. The vector that says what it means is
made afterwards: by a server, by the command that wrote it, or by "amber index sync".`
	return family
}

// withIndex opens the index of the agent.
func (a *app) withIndex(cmd *cobra.Command, fn func(ctx context.Context, x agent.Index) error) error {
	return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
		x, err := s.Local.Index()
		if err != nil {
			return err
		}
		return fn(ctx, x)
	})
}

func (a *app) indexStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Show how far the index is",
		Long:    "Show how many passages the index has, which model makes vectors, and how much is not done yet.",
		Example: "  amber index status\n  amber index status --json",
		Args:    cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withIndex(cmd, func(ctx context.Context, x agent.Index) error {
				return cli.Answer(x.IndexStatus(ctx))(a.Out, a.printIndex)
			})
		},
	}
}

func (a *app) indexSyncCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "sync",
		Short: "Bring everything into the index",
		Long: `Bring everything into the index that is not in it yet, and make every vector that is missing. It may
be interrupted at any time, and goes on where it was when it is run again. After a change of
search.model the vectors of the former model stay until those of the new one are all there.`,
		Example: "  amber index sync",
		Args:    cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withIndex(cmd, func(ctx context.Context, x agent.Index) error {
				_, err := cli.Working(a.App, "indexing", func() (struct{}, error) { return struct{}{}, a.syncIndex(ctx, x) })
				if err != nil {
					return err
				}
				return cli.Answer(x.IndexStatus(ctx))(a.Out, a.printIndex)
			})
		},
	}
}

// syncIndex makes what is missing, and says how far it is.
func (a *app) syncIndex(ctx context.Context, x agent.Index) error {
	before, err := x.IndexStatus(ctx)
	if err != nil {
		return err
	}
	done := int64(0)
	a.Meter.Set("passages", 0, before.Pending)
	err = x.SyncIndex(ctx, func(made int) {
		done += int64(made)
		a.Meter.Set("passages", done, max(before.Pending, done))
	}, nil)
	if err != nil && ctx.Err() != nil {
		return &amber.Error{
			Op: "index", Kind: amber.KindUnreachable, Err: cli.Interruption("index"),
			Hint: fmt.Sprintf("%s made; amber index sync goes on", cli.Count(done, "vector was", "vectors were")),
		}
	}
	return err
}

func (a *app) indexRebuildCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "rebuild",
		Short: "Make the index anew",
		Long: `Make the index anew of what is stored: empty it, and bring everything in again. Questions find what is
in it so far meanwhile. It does not touch what is stored.

Vectors are made afterwards: it makes them too, and when it is interrupted "amber index sync" goes on.`,
		Example: "  amber index rebuild",
		Args:    cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withIndex(cmd, func(ctx context.Context, x agent.Index) error {
				_, err := cli.Working(a.App, "indexing", func() (struct{}, error) {
					if err := x.RebuildIndex(ctx); err != nil {
						return struct{}{}, err
					}
					return struct{}{}, a.syncIndex(ctx, x)
				})
				if err != nil {
					return err
				}
				return cli.Answer(x.IndexStatus(ctx))(a.Out, a.printIndex)
			})
		},
	}
}

// indexVerdict is the JSON of index verify.
type indexVerdict struct {
	OK bool `json:"ok"` // all of the index is what the records make
	wire.IndexStatus
}

func (a *app) indexVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Compare the index with what is stored",
		Long: `Read all of the index and compare it with what is stored. Nothing is changed. It exits 5 when they
differ; "amber index rebuild" mends that.`,
		Example: "  amber index verify",
		Args:    cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withIndex(cmd, func(ctx context.Context, x agent.Index) error {
				status, err := cli.Working(a.App, "verifying", func() (wire.IndexStatus, error) {
					if err := x.VerifyIndex(ctx); err != nil {
						return wire.IndexStatus{}, err
					}
					return x.IndexStatus(ctx)
				})
				if amber.KindOf(err) == amber.KindDamaged {
					return &amber.Error{Op: "verify index", Kind: amber.KindDamaged, Err: err, Hint: "amber index rebuild"}
				}
				if err != nil {
					return err
				}
				return a.Out.Show(indexVerdict{true, status}, func(w io.Writer) {
					fmt.Fprintf(w, "the index is what the records make: %s\n", cli.Count(status.Passages, "passage", "passages"))
				})
			})
		},
	}
}

func (a *app) printIndex(w io.Writer, s wire.IndexStatus) {
	row := func(name string, n int64) { fmt.Fprintf(w, "%-10s %10d\n", name, n) }
	row("passages", s.Passages)
	row("waiting", s.Waiting)
	model := s.Model
	if model == "" {
		model = "none"
	}
	fmt.Fprintf(w, "%-10s %s\n", "model", cli.OneLine(model, 200))
	if s.Model != "" {
		row("vectors", s.Vectors)
		row("pending", s.Pending)
	}
	if s.Note != "" {
		a.Out.Note("%s", s.Note)
	}
	if s.Waiting > 0 || s.Pending > 0 {
		a.Out.Note("amber index sync makes what is missing")
	}
}

// writeBudget is how long a command that has stored one memory or note may make its vectors.
const writeBudget = 300 * time.Millisecond

// indexWritten makes vectors of what a command has written, after it was acknowledged. A
// server makes its own.
func (a *app) indexWritten(ctx context.Context, s *cli.Opened, budget time.Duration) {
	if s.Local != nil {
		s.Local.SyncWithin(ctx, budget)
	}
}
