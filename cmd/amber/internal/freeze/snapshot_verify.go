package freeze

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

func (a *app) snapshotVerifyCommand() *cobra.Command {
	var all, readData bool
	cmd := cli.Verb("verify", func(cmd *cobra.Command, args []string) error {
		switch {
		case all && len(args) > 0:
			return cli.Usage("give a snapshot or --all, not both")
		case all:
			return a.WithSnapshots(cmd, cli.MayBeAbsent, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
				if err := a.known(ctx, s, e); err != nil {
					return err
				}
				return a.verifyAll(ctx, s, e, readData)
			})
		case len(args) == 0:
			return cli.Usage("%s needs the id of a snapshot, or --all", cmd.CommandPath())
		}
		return a.WithSnapshot(cmd, cli.MayBeAbsent, args[0], func(ctx context.Context, _ *cli.Opened, e cli.SnapshotEngine, ref wire.SnapshotRef) error {
			return a.verifyOne(ctx, e, wire.VerifyRequest{SnapshotRef: ref, ReadData: readData})
		})
	})
	cmd.Flags().BoolVar(&all, "all", false, "every snapshot of the agent")
	cmd.Flags().BoolVar(&readData, "read-data", false, "read every byte and run every check")
	return cmd
}

func (a *app) verifyOne(ctx context.Context, e cli.SnapshotEngine, r wire.VerifyRequest) error {
	report, err := cli.Working(a.App, "verifying", func() (wire.VerifyReport, error) { return e.VerifySnapshot(ctx, r) })
	if err != nil {
		return err
	}
	report = tidyReport(report)
	if err := a.Out.Show(report, func(w io.Writer) { a.printVerified(w, report, r.ReadData) }); err != nil {
		return err
	}
	if !report.OK() {
		return cli.Reported(amber.KindDamaged)
	}
	if err := a.keyOpened(string(r.ID), report.NotChecked, false); err != nil {
		return a.Judged(err)
	}
	return a.Judged(e.Acceptable(string(r.ID), report.Signature))
}

// verifyAll verifies every snapshot. A snapshot that cannot be verified does not keep the others from it; it is
// reported as not checked.
func (a *app) verifyAll(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, readData bool) error {
	var reports []wire.VerifyReport
	var verdict error
	_, err := cli.Working(a.App, "verifying", func() (struct{}, error) {
		return struct{}{}, cli.EachSnapshot(ctx, s, e, func(m wire.SnapshotMeta) error {
			report, err := e.VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: s.Ref(m.ID), ReadData: readData})
			switch {
			case ctx.Err() != nil:
				return err
			case amber.KindOf(err) == amber.KindNotFound: // deleted meanwhile
				return nil
			case err != nil:
				report = wire.VerifyReport{ID: m.ID, NotChecked: []string{"all of it: " + err.Error()}}
				if verdict == nil {
					verdict = cli.Reported(amber.KindOf(err))
				}
			}
			reports = append(reports, tidyReport(report))
			return nil
		})
	})
	if err != nil {
		return err
	}
	err = cli.ShowItems(a.App, false, amber.Page[wire.VerifyReport]{Items: reports}, func(w io.Writer, items []wire.VerifyReport) {
		for _, r := range items {
			a.printVerified(w, r, readData)
		}
	})
	if err != nil {
		return err
	}
	for _, r := range reports {
		if !r.OK() {
			return cli.Reported(amber.KindDamaged)
		}
	}
	if verdict != nil {
		return verdict
	}
	for _, r := range reports {
		if err := a.Judged(e.Acceptable(string(r.ID), r.Signature)); err != nil {
			return err
		}
	}
	return nil
}

func tidyReport(r wire.VerifyReport) wire.VerifyReport {
	r.Checked, r.NotChecked, r.Damaged, r.Checks = cli.OrEmpty(r.Checked), cli.OrEmpty(r.NotChecked), tidyDamage(r.Damaged), cli.OrEmpty(r.Checks)
	return r
}

func (a *app) printVerified(w io.Writer, r wire.VerifyReport, readData bool) {
	a.printVerdict(w, cli.ShortID(string(r.ID)), r.Damaged, r.Checked, r.NotChecked)
	a.PrintSignature(w, r.Signature)
	a.PrintChecks(w, r.Checks)
	if len(r.NotChecked) > 0 && !readData {
		fmt.Fprintln(w, a.Out.Style(cli.Dim, "  --read-data reads every byte"))
	}
}

func (a *app) snapshotCheckCommand() *cobra.Command {
	var readData bool
	cmd := cli.Verb("check", func(cmd *cobra.Command, _ []string) error {
		return a.WithSnapshots(cmd, cli.MayBeAbsent, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
			r, err := cli.Working(a.App, "checking", func() (wire.CheckReport, error) {
				return e.CheckRepository(ctx, wire.CheckRequest{Tenant: s.TenantID(), ReadData: readData})
			})
			if err != nil {
				return err
			}
			r.Checked, r.NotChecked, r.Damaged = cli.OrEmpty(r.Checked), cli.OrEmpty(r.NotChecked), tidyDamage(r.Damaged)
			return a.ShowChecked(r, func(w io.Writer) { a.printChecked(w, r) })
		})
	})
	cmd.Flags().BoolVar(&readData, "read-data", false, "read every byte")
	return cmd
}

func (a *app) printChecked(w io.Writer, r wire.CheckReport) {
	p := a.Out
	verdict := "nothing damaged found"
	if !r.OK() {
		verdict = p.Style(cli.Amb, "DAMAGED")
	}
	fmt.Fprintf(w, "%s, %s, %s, %s: %s\n", words.Count(int64(r.Snapshots), "snapshot", "snapshots"),
		words.Count(int64(r.Packs), "pack", "packs"), words.Count(int64(r.Blobs), "blob", "blobs"), cli.ByteSize(r.Bytes), verdict)
	a.PrintDamage(w, r.Damaged)
	p.Listed(w, "checked", r.Checked)
	p.Listed(w, "not checked", r.NotChecked)
	if r.Unused > 0 {
		fmt.Fprintf(w, "  %s that no snapshot needs: amber snapshot gc\n", cli.ByteSize(r.Unused))
	}
	if !r.DataRead {
		fmt.Fprintln(w, p.Style(cli.Dim, "  the data was not read; --read-data does that"))
	}
}
