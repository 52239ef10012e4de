package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

func (a *app) bundleVerifyCommand() *cobra.Command {
	var passphrase string
	var noIdentity bool
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a bundle",
		Long: `Check that a bundle is as it was written: the digest beside it, its signature, and with a key that
decrypts it every file in it. Without a key the content is not checked, and the report says so.
--no-identity ignores the keys of this home.

It exits 5 when something is damaged or the signature is bad or was removed, and 6 when
snapshot.require_signed asks for a signature that counts.

` + passphraseHelp,
		Example: `  amber bundle verify agent.tar.zst.age
  amber bundle verify agent.tar.zst.age --identity ~/keys/me.txt`,
		Args: exactly("a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withBundle(cmd, args[0], passphrase, mayBeAbsent, func(ctx context.Context, _ *opened, e snapshotEngine, file string) error {
				r, err := a.readBundle(ctx, e, wire.BundleRequest{File: file, NoIdentity: noIdentity})
				if err != nil {
					return err
				}
				if err := a.out.show(r, func(w io.Writer) { a.printBundleVerified(w, r) }); err != nil {
					return err
				}
				if !r.OK() {
					return errReported{amber.KindDamaged}
				}
				if err := a.keyOpened(r.File, r.NotChecked, noIdentity); err != nil {
					return a.judged(err)
				}
				return a.judged(e.Acceptable(r.File, r.Signature))
			})
		},
	}
	addPassphraseFlag(cmd, &passphrase)
	cmd.Flags().BoolVar(&noIdentity, "no-identity", false, "ignore the keys of this home")
	return cmd
}

// keyOpened refuses a key that was named and opens nothing: the user would believe
// that the content was checked.
func (a *app) keyOpened(what string, notChecked []string, without bool) error {
	if without || len(a.access.identities) == 0 && a.access.passphrase == "" {
		return nil
	}
	if !slices.ContainsFunc(notChecked, func(s string) bool { return strings.Contains(s, "no identity opens") }) {
		return nil
	}
	return amber.Errorf(amber.KindRefused, "verify", what, "the key of --identity does not open the file, so its content was not checked")
}

// readBundle checks everything that can be checked.
func (a *app) readBundle(ctx context.Context, e snapshotEngine, r wire.BundleRequest) (wire.BundleReport, error) {
	report, err := working(a, "verifying", func() (wire.BundleReport, error) { return e.VerifyBundle(ctx, r) })
	report.Checked, report.NotChecked, report.Damaged = orEmpty(report.Checked), orEmpty(report.NotChecked), orEmpty(report.Damaged)
	for i := range report.Damaged {
		report.Damaged[i].Snapshots = orEmpty(report.Damaged[i].Snapshots)
	}
	tidyRedactions(report.Redactions)
	return report, err
}

func (a *app) printBundleVerified(w io.Writer, r wire.BundleReport) {
	p := a.out
	verdict := "nothing damaged found"
	switch {
	case !r.OK():
		verdict = p.style(amb, "DAMAGED")
	case len(r.Checked) == 0:
		verdict = p.style(amb, "NOT CHECKED")
	}
	fmt.Fprintf(w, "%s  %s\n", p.style(bold, flat(r.File)), verdict)
	a.printDamage(w, r.Damaged)
	p.listed(w, "checked", r.Checked)
	p.listed(w, "not checked", r.NotChecked)
	a.printSignature(w, r.Signature)
}

func (a *app) bundleShowCommand() *cobra.Command {
	var passphrase string
	cmd := &cobra.Command{
		Use:   "show FILE",
		Short: "Show what a bundle says about itself",
		Long: `Show what a bundle says about itself and, with a key that opens it, every file in it. The bundle
is read whole and checked on the way as bundle verify does.

` + passphraseHelp,
		Args: exactly("a file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withBundle(cmd, args[0], passphrase, mayBeAbsent, func(ctx context.Context, _ *opened, e snapshotEngine, file string) error {
				r, err := a.readBundle(ctx, e, wire.BundleRequest{File: file})
				if err != nil {
					return err
				}
				return a.showChecked(r, func(w io.Writer) { a.printBundle(w, r) })
			})
		},
	}
	addPassphraseFlag(cmd, &passphrase)
	return cmd
}

func (a *app) printBundle(w io.Writer, r wire.BundleReport) {
	p := a.out
	if r.Label != "" {
		fmt.Fprintln(w, p.style(bold, oneLine(r.Label, wire.MaxLabelBytes)))
	}
	fmt.Fprintln(w, p.style(amb, flat(string(r.ID))))
	facts := []string{"format " + string(r.Format)}
	if r.Agent != "" {
		facts = append(facts, "agent "+string(r.Agent), "tenant "+string(r.Tenant))
	}
	if !r.CreatedAt.IsZero() {
		facts = append(facts, r.CreatedAt.String())
	}
	facts = append(facts, byteSize(r.Bytes))
	if r.Encrypted {
		facts = append(facts, strings.TrimSpace("encrypted "+describeKinds(r.Recipients)))
	}
	if r.Redacted {
		facts = append(facts, "redacted")
	}
	wrapped(w, 4, "%s", p.style(dim, flat(strings.Join(facts, " · "))))
	p.fact(w, "sha256", r.SHA256)
	p.fact(w, "git", r.GitOID)
	a.printBundleVerified(w, r)
	if r.Redactions != nil {
		fmt.Fprintf(w, "  %s %s\n", p.style(dim, "redacted:"), count(r.Redactions.Matches, "secret", "secrets"))
	}
	if len(r.Parts) == 0 {
		return
	}
	fmt.Fprintln(w)
	rows := make([][]string, len(r.Parts))
	for i, part := range r.Parts {
		rows[i] = []string{part.Path, part.Kind, byteSize(part.Bytes), part.SHA256[:min(16, len(part.SHA256))]}
	}
	table(w, []string{"PATH", "KIND", "SIZE", "SHA256"}, rows)
}

// describeKinds tells for what kinds of keys something is encrypted.
func describeKinds(kinds []string) string {
	if len(kinds) == 0 {
		return ""
	}
	return "(" + flat(strings.Join(kinds, ", ")) + ")"
}
