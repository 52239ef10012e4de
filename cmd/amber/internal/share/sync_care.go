package share

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/wire"
)

func (a *app) syncVerifyCommand(f *syncFlags) *cobra.Command {
	return cli.Verb("verify", func(cmd *cobra.Command, _ []string) error {
		return a.withSync(cmd, f, false, func(ctx context.Context, g *gitsync.Sync) error {
			v, err := cli.Working(a.App, "verifying", func() (wire.SyncVerify, error) { return g.Verify(ctx) })
			if err != nil {
				return err
			}
			v.Checked, v.NotChecked, v.Damaged = cli.OrEmpty(v.Checked), cli.OrEmpty(v.NotChecked), cli.OrEmpty(v.Damaged)
			v.Missing, v.Summary.Authors = cli.OrEmpty(v.Missing), cli.OrEmpty(v.Summary.Authors)
			if err := a.Out.Show(v, func(w io.Writer) { a.printSyncVerified(w, g.Dir(), v) }); err != nil {
				return err
			}
			if len(v.Damaged)+len(v.Missing) > 0 {
				return cli.Reported(amber.KindDamaged)
			}
			return nil
		})
	})
}

func (a *app) printSyncVerified(w io.Writer, dir string, v wire.SyncVerify) {
	p := a.Out
	verdict := "nothing damaged found"
	switch {
	case len(v.Damaged) > 0:
		verdict = p.Style(cli.Amb, "DAMAGED")
	case len(v.Missing) > 0:
		verdict = p.Style(cli.Amb, "INCOMPLETE")
	case len(v.Checked) == 0:
		verdict = p.Style(cli.Amb, "NOT CHECKED")
	}
	fmt.Fprintf(w, "%s  %s\n", p.Style(cli.Bold, cli.Flat(dir)), verdict)
	for _, d := range v.Damaged[:min(len(v.Damaged), cli.MaxWarnings)] {
		fmt.Fprintf(w, "  %s %s: %s: %s\n", p.Style(cli.Amb, "DAMAGED"), shortChunk(d.ID), d.Kind, cli.Flat(d.Reason))
	}
	if more := len(v.Damaged) - cli.MaxWarnings; more > 0 {
		fmt.Fprintf(w, "  %s %d more\n", p.Style(cli.Amb, "DAMAGED"), more)
	}
	if len(v.Missing) > 0 {
		fmt.Fprintf(w, "  %s %s\n", p.Style(cli.Amb, "MISSING"), shortChunks(v.Missing))
	}
	p.Listed(w, "checked", v.Checked)
	p.Listed(w, "not checked", v.NotChecked)
	fmt.Fprintf(w, "  %d signed by trusted keys, %d by others, %d not signed\n", v.Signed, v.Unknown, v.Unsigned)
	a.printSummary(w, v.Summary)
}

func (a *app) syncCompactCommand(f *syncFlags) *cobra.Command {
	return cli.Verb("compact", func(cmd *cobra.Command, _ []string) error {
		return a.withSync(cmd, f, true, func(ctx context.Context, g *gitsync.Sync) error {
			r, err := cli.Working(a.App, "compacting", func() (wire.SyncCompact, error) { return g.Compact(ctx) })
			if err != nil {
				return err
			}
			if r.Left > 0 {
				a.Out.Warn("%s erased text and %s signed by others: it goes when they compact", words.Count(r.Left, "chunk holds", "chunks hold"), are(int(r.Left)))
			}
			return a.Out.Show(r, func(w io.Writer) {
				if r.Packed == 0 && r.Rewritten == 0 && r.Before == r.After {
					fmt.Fprintf(w, "nothing to compact, %s\n", words.Count(r.Before, "file", "files"))
					return
				}
				fmt.Fprintf(w, "%s became %s, %s freed", words.Count(r.Before, "file", "files"), words.Count(r.After, "file", "files"), cli.ByteSize(max(r.Freed, 0)))
				if r.Rewritten > 0 {
					fmt.Fprintf(w, "; %s written again without erased text", words.Count(r.Rewritten, "chunk", "chunks"))
				}
				fmt.Fprintln(w)
			})
		})
	})
}

func (a *app) syncRepairCommand(f *syncFlags) *cobra.Command {
	return cli.Verb("repair", func(cmd *cobra.Command, _ []string) error {
		return a.withSync(cmd, f, false, func(ctx context.Context, g *gitsync.Sync) error {
			r, err := g.Repair(ctx)
			if err != nil {
				return err
			}
			r.Repaired = cli.OrEmpty(r.Repaired)
			return a.Out.Show(r, func(w io.Writer) {
				if len(r.Repaired) == 0 {
					fmt.Fprintf(w, "nothing to mend, %s\n", words.Count(r.Chunks, "chunk", "chunks"))
				}
				for _, text := range r.Repaired {
					fmt.Fprintf(w, "mended: %s\n", cli.Flat(text))
				}
				if r.Backup != "" {
					fmt.Fprintf(w, "as it was: %s\n", cli.Flat(r.Backup))
				}
			})
		})
	})
}
