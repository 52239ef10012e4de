package freeze

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/wire"
)

// exportFlags say what kind of bundle is written.
type exportFlags struct {
	now                             bool
	label, file, format, passphrase string
	recipients                      []string
	redact, noRedact, noSign        bool
	level                           int
}

// Exported is the JSON of bundle export.
type Exported struct {
	wire.ExportReport
	Snapshot *wire.SnapshotMeta `json:"snapshot,omitempty"` // that --now took
}

func (a *app) bundleExportCommand() *cobra.Command {
	var f exportFlags
	cmd := cli.Verb("export", func(cmd *cobra.Command, args []string) error {
		switch {
		case f.now == (len(args) == 1):
			return cli.Usage("%s needs the id of a snapshot, or --now", cmd.CommandPath())
		case cmd.Flags().Changed("label") && !f.now:
			return cli.Usage("--label goes with --now")
		}
		if !f.now {
			return a.WithSnapshot(cmd, cli.MayBeAbsent, args[0], func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, ref wire.SnapshotRef) error {
				r, err := a.exportRequest(cmd, s, f)
				if err != nil {
					return err
				}
				r.SnapshotRef = ref
				return a.export(ctx, e, r, nil)
			})
		}
		return a.WithSnapshots(cmd, cli.MustBeThere, func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine) error {
			return a.exportNow(ctx, cmd, s, e, f)
		})
	})
	fl := cmd.Flags()
	fl.BoolVar(&f.now, "now", false, "take a snapshot first and export that")
	fl.StringVar(&f.label, "label", "", "what to call the snapshot of --now")
	fl.StringVarP(&f.file, "output", "o", "", "the file, or a folder for it (default the home's folder of bundles)")
	fl.StringArrayVar(&f.recipients, "encrypt", nil, "encrypt to this age or SSH public key (repeat)")
	cli.AddPassphraseFlag(cmd, &f.passphrase)
	fl.BoolVar(&f.redact, "redact", false, "remove secrets (default unless export.redact is false)")
	fl.BoolVar(&f.noRedact, "no-redact", false, "keep secrets in the bundle")
	fl.BoolVar(&f.noSign, "no-sign", false, "do not sign it")
	fl.StringVar(&f.format, "format", string(wire.FormatAmber), "amber or nexo")
	fl.IntVar(&f.level, "level", 3, "compression level, 1 to 19")
	return cmd
}

// exportRequest makes the request of the flags and the configuration, for any snapshot. It refuses here the
// mistakes that can be found without a snapshot.
func (a *app) exportRequest(cmd *cobra.Command, s *cli.Opened, f exportFlags) (wire.ExportRequest, error) {
	config := s.Config.Config
	r := wire.ExportRequest{
		SnapshotRef: s.Ref("00000000-0000-7000-8000-000000000000"),
		Format:      wire.BundleFormat(f.format), Recipients: f.recipients, NoSign: f.noSign, Level: f.level,
	}
	given := cmd.Flags().Changed
	if given("format") && f.format == "" || given("output") && f.file == "" || f.level < 1 {
		return r, cli.Usage("--format, --output and --level are not empty")
	}
	redact, err := cli.Either(cmd, "redact", "no-redact", config.Export.Redact)
	if err != nil {
		return r, err
	}
	r.NoRedact = !redact
	if _, err := agekey.ParseRecipients(append(append([]string{}, config.Snapshot.Encryption.Recipients...), f.recipients...)); err != nil {
		return r, err
	}
	toSomebody := len(f.recipients)+len(config.Snapshot.Encryption.Recipients) > 0
	if given("passphrase-file") || !toSomebody {
		if r.Passphrase, err = a.ReadPassphrase(cmd, f.passphrase); err != nil {
			return r, err
		}
	}
	if f.file != "" {
		if r.File, err = a.freeFile(f.file); err != nil {
			return r, err
		}
	}
	return r.Normalize()
}

// freeFile returns the path where a file may be made, or a folder to make it
// in.
func (a *app) freeFile(name string) (string, error) {
	path, err := a.Absolute(name)
	if err != nil {
		return "", err
	}
	info, err := os.Lstat(path)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		info, err = os.Stat(path)
	}
	if err == nil && !info.IsDir() {
		return "", amber.Errorf(amber.KindConflict, "export snapshot", path, "there is a file of that name")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", &amber.Error{Op: "export snapshot", Kind: amber.KindInvalid, ID: path, Err: err}
	}
	return path, nil
}

// exportNow freezes the agent first.
func (a *app) exportNow(ctx context.Context, cmd *cobra.Command, s *cli.Opened, e cli.SnapshotEngine, f exportFlags) error {
	r, err := a.exportRequest(cmd, s, f)
	if err != nil {
		return err
	}
	take := wire.SnapshotRequest{Tenant: s.Agent.Tenant(), Agent: s.Agent.ID(), Label: f.label, By: a.Writer().Asks(wire.Asker{})}
	if take, err = take.Normalize(); err != nil {
		return err
	}
	meta, err := cli.Working(a.App, "freezing", func() (wire.SnapshotMeta, error) { return e.Snapshot(ctx, take) })
	if err != nil {
		return err
	}
	meta.Skipped = cli.OrEmpty(meta.Skipped)
	a.WarnSkipped(meta.Skipped, meta.Warnings)
	r.SnapshotRef = s.Ref(meta.ID)
	if err := a.export(ctx, e, r, &meta); err != nil {
		a.Out.Note("snapshot %s was taken and stays", meta.ID)
		return err
	}
	return nil
}

// export writes the bundle and prints its path, which is what scripts want.
func (a *app) export(ctx context.Context, e cli.SnapshotEngine, r wire.ExportRequest, taken *wire.SnapshotMeta) error {
	report, err := cli.Working(a.App, "exporting", func() (wire.ExportReport, error) { return e.Export(ctx, r) })
	if err != nil {
		return err
	}
	report.LeftOut = cli.OrEmpty(report.LeftOut)
	tidyRedactions(report.Redactions)
	err = a.Out.Show(Exported{report, taken}, func(w io.Writer) { fmt.Fprintln(w, report.File) })
	a.noteRedactions(report.Redactions)
	a.WarnSkipped(nil, report.Warnings)
	a.NoteLeftOut(report.LeftOut, "bundle")
	if !report.Encrypted {
		a.Out.Note("the bundle is not encrypted: anybody who has the file can read it; --encrypt RECIPIENT encrypts it")
	}
	return err
}
