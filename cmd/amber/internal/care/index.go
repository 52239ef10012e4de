package care

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/store/openviking"
	"github.com/amber-memory/amber/wire"
)

func (a *app) indexCommand() *cobra.Command {
	family := cli.Family("index",
		a.indexStatusCommand(), a.indexSyncCommand(), a.indexRebuildCommand(), a.indexVerifyCommand(), a.indexCalibrateCommand(), a.indexProvisionCommand(), a.indexModelsCommand())
	family.Long = `Look after the index that recall searches: passages of memories, sessions and notes by their
words, and by what they mean where there is a model (search.model). Everything in it is made of what
is stored, so it can be made anew at any time.

A passage is found by its words from the moment it is stored. The vector that says what it means is
made afterwards: by a server, by the command that wrote it, or by "amber index sync".

With memory.backend openviking an OpenViking server is an index too, fed from what is stored: each of
these commands looks after both. docs/openviking.md says how to set it up.`
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
	return cli.Verb("status", func(cmd *cobra.Command, _ []string) error {
		return a.withIndex(cmd, func(ctx context.Context, x agent.Index) error {
			return a.showIndex(ctx, x)
		})
	})
}

// IndexReport is the JSON of index status.
type IndexReport struct {
	wire.IndexStatus
	OpenViking *openviking.Status `json:"openviking,omitempty"`
}

// showIndex says how far the index is, and the server beside it.
func (a *app) showIndex(ctx context.Context, x agent.Index) error {
	status, err := x.IndexStatus(ctx)
	if err != nil {
		return err
	}
	report := IndexReport{IndexStatus: status}
	if v := x.Viking(); v != nil {
		s, err := v.Status(ctx)
		if err != nil {
			return err
		}
		report.OpenViking = &s
	}
	return a.Out.Show(report, func(w io.Writer) {
		a.printIndex(w, status)
		if report.OpenViking != nil {
			a.printViking(w, *report.OpenViking)
		}
	})
}

func (a *app) indexSyncCommand() *cobra.Command {
	return cli.Verb("sync", func(cmd *cobra.Command, _ []string) error {
		return a.withIndex(cmd, func(ctx context.Context, x agent.Index) error {
			_, err := cli.Working(a.App, "indexing", func() (struct{}, error) { return struct{}{}, a.syncIndex(ctx, x) })
			if err == nil {
				err = a.feedViking(ctx, x, false)
			}
			if err != nil {
				return err
			}
			return a.showIndex(ctx, x)
		})
	})
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
			Hint: fmt.Sprintf("%s made; amber index sync goes on", words.Count(done, "vector was", "vectors were")),
		}
	}
	return err
}

func (a *app) indexRebuildCommand() *cobra.Command {
	return cli.Verb("rebuild", func(cmd *cobra.Command, _ []string) error {
		return a.withIndex(cmd, func(ctx context.Context, x agent.Index) error {
			_, err := cli.Working(a.App, "indexing", func() (struct{}, error) {
				if err := x.RebuildIndex(ctx); err != nil {
					return struct{}{}, err
				}
				return struct{}{}, a.syncIndex(ctx, x)
			})
			if err == nil {
				err = a.feedViking(ctx, x, true)
			}
			if err != nil {
				return err
			}
			return a.showIndex(ctx, x)
		})
	})
}

// IndexVerdict is the JSON of index verify.
type IndexVerdict struct {
	OK bool `json:"ok"` // all of the index is what the records make
	wire.IndexStatus
	OpenViking *openviking.Verification `json:"openviking,omitempty"`
}

func (a *app) indexVerifyCommand() *cobra.Command {
	deep := false
	cmd := cli.Verb("verify", func(cmd *cobra.Command, _ []string) error {
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
			verdict := IndexVerdict{true, status, nil}
			if verdict.OpenViking, err = a.verifyViking(ctx, x, deep); err != nil {
				return err
			}
			verdict.OK = verdict.OpenViking == nil || verdict.OpenViking.Clean()
			err = a.Out.Show(verdict, func(w io.Writer) {
				fmt.Fprintf(w, "the index is what the records make: %s\n", words.Count(status.Passages, "passage", "passages"))
				if v := verdict.OpenViking; v != nil {
					printVerification(w, v)
				}
			})
			if err == nil && !verdict.OK {
				return cli.Reported(amber.KindDamaged)
			}
			return err
		})
	})
	cmd.Flags().BoolVar(&deep, "deep", false, "read the files of an OpenViking server too")
	return cmd
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
