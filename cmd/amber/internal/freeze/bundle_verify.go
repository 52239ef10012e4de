package freeze

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

func (a *app) bundleVerifyCommand() *cobra.Command {
	var passphrase string
	var noIdentity bool
	cmd := cli.Verb("verify", func(cmd *cobra.Command, args []string) error {
		return a.withBundle(cmd, args[0], passphrase, cli.MayBeAbsent, func(ctx context.Context, _ *cli.Opened, e cli.SnapshotEngine, file string) error {
			r, err := a.readBundle(ctx, e, wire.BundleRequest{File: file, NoIdentity: noIdentity})
			if err != nil {
				return err
			}
			if err := a.Out.Show(r, func(w io.Writer) { a.printBundleVerified(w, r) }); err != nil {
				return err
			}
			if !r.OK() {
				return cli.Reported(amber.KindDamaged)
			}
			if err := a.keyOpened(r.File, r.NotChecked, noIdentity); err != nil {
				return a.Judged(err)
			}
			return a.Judged(e.Acceptable(r.File, r.Signature))
		})
	})
	cli.AddPassphraseFlag(cmd, &passphrase)
	cmd.Flags().BoolVar(&noIdentity, "no-identity", false, "ignore the keys of this home")
	return cmd
}

// keyOpened refuses a key that was named and opens nothing: the user would believe
// that the content was checked.
func (a *app) keyOpened(what string, notChecked []string, without bool) error {
	if without || len(a.Access.Identities) == 0 && a.Access.Passphrase == "" {
		return nil
	}
	if !slices.ContainsFunc(notChecked, func(s string) bool { return strings.Contains(s, "no identity opens") }) {
		return nil
	}
	return amber.Errorf(amber.KindRefused, "verify", what, "the key of --identity does not open the file, so its content was not checked")
}

// readBundle checks everything that can be checked.
func (a *app) readBundle(ctx context.Context, e cli.SnapshotEngine, r wire.BundleRequest) (wire.BundleReport, error) {
	report, err := cli.Working(a.App, "verifying", func() (wire.BundleReport, error) { return e.VerifyBundle(ctx, r) })
	report.Checked, report.NotChecked, report.Damaged = cli.OrEmpty(report.Checked), cli.OrEmpty(report.NotChecked), tidyDamage(report.Damaged)
	tidyRedactions(report.Redactions)
	return report, err
}

func (a *app) printBundleVerified(w io.Writer, r wire.BundleReport) {
	a.printVerdict(w, r.File, r.Damaged, r.Checked, r.NotChecked)
	a.PrintSignature(w, r.Signature)
}

// printVerdict says what a check of something found, and what it looked at.
func (a *app) printVerdict(w io.Writer, name string, damaged []wire.Damage, checked, notChecked []string) {
	p := a.Out
	verdict := "nothing damaged found"
	switch {
	case len(damaged) > 0:
		verdict = p.Style(cli.Amb, "DAMAGED")
	case len(checked) == 0:
		verdict = p.Style(cli.Amb, "NOT CHECKED")
	}
	fmt.Fprintf(w, "%s  %s\n", p.Style(cli.Bold, cli.Flat(name)), verdict)
	a.PrintDamage(w, damaged)
	p.Listed(w, "checked", checked)
	p.Listed(w, "not checked", notChecked)
}

// tidyDamage makes lists of a report [] in JSON, and not null.
func tidyDamage(list []wire.Damage) []wire.Damage {
	list = cli.OrEmpty(list)
	for i := range list {
		list[i].Snapshots = cli.OrEmpty(list[i].Snapshots)
	}
	return list
}

func (a *app) bundleShowCommand() *cobra.Command {
	var passphrase string
	cmd := cli.Verb("show", func(cmd *cobra.Command, args []string) error {
		return a.withBundle(cmd, args[0], passphrase, cli.MayBeAbsent, func(ctx context.Context, _ *cli.Opened, e cli.SnapshotEngine, file string) error {
			r, err := a.readBundle(ctx, e, wire.BundleRequest{File: file})
			if err != nil {
				return err
			}
			return a.ShowChecked(r, func(w io.Writer) { a.printBundle(w, r) })
		})
	})
	cli.AddPassphraseFlag(cmd, &passphrase)
	return cmd
}

func (a *app) printBundle(w io.Writer, r wire.BundleReport) {
	p := a.Out
	if r.Label != "" {
		fmt.Fprintln(w, p.Style(cli.Bold, cli.OneLine(r.Label, wire.MaxLabelBytes)))
	}
	fmt.Fprintln(w, p.Style(cli.Amb, cli.Flat(string(r.ID))))
	facts := []string{"format " + string(r.Format)}
	if r.Agent != "" {
		facts = append(facts, "agent "+string(r.Agent), "tenant "+string(r.Tenant))
	}
	if !r.CreatedAt.IsZero() {
		facts = append(facts, r.CreatedAt.String())
	}
	facts = append(facts, cli.ByteSize(r.Bytes))
	if r.Encrypted {
		facts = append(facts, strings.TrimSpace("encrypted "+describeKinds(r.Recipients)))
	}
	if r.Redacted {
		facts = append(facts, "redacted")
	}
	cli.Wrapped(w, 4, "%s", p.Style(cli.Dim, cli.Flat(strings.Join(facts, " · "))))
	p.Fact(w, "sha256", r.SHA256)
	p.Fact(w, "git", r.GitOID)
	a.printBundleVerified(w, r)
	if r.Redactions != nil {
		fmt.Fprintf(w, "  %s %s\n", p.Style(cli.Dim, "redacted:"), words.Count(r.Redactions.Matches, "secret", "secrets"))
	}
	if len(r.Parts) == 0 {
		return
	}
	fmt.Fprintln(w)
	cli.TableOf(w, []string{"PATH", "KIND", "SIZE", "SHA256"}, r.Parts, func(part wire.BundleEntry) []string {
		return []string{part.Path, part.Kind, cli.ByteSize(part.Bytes), part.SHA256[:min(16, len(part.SHA256))]}
	})
}

// describeKinds tells for what kinds of keys something is encrypted.
func describeKinds(kinds []string) string {
	if len(kinds) == 0 {
		return ""
	}
	return "(" + cli.Flat(strings.Join(kinds, ", ")) + ")"
}
