package share

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/documents"
	"github.com/amber-memory/amber/wire/sign"
)

// vaultRestored is the JSON of vault restore.
type vaultRestored struct {
	colony.Restored
	Dir string `json:"dir,omitempty"` // "": the notes
	documents.Plan
	DryRun bool `json:"dry_run"`
}

// vaultRestoreFlags say what is restored, and where to.
type vaultRestoreFlags struct {
	dir, snapshot string
	yes, dryRun   bool
	plain         bool // documents as JSON on stdout
}

func (a *app) vaultRestoreCommand(f *vaultFlags) *cobra.Command {
	var r vaultRestoreFlags
	cmd := cli.Verb("restore", func(cmd *cobra.Command, args []string) error {
		args, r.plain = cutPlain(args)
		if len(args) > 1 {
			return cli.Usage("%s takes one snapshot", cmd.CommandPath())
		}
		if r.plain && r.dir != "" {
			return cli.Usage("--dir and - exclude each other: documents go to a folder, or to stdout")
		}
		id, err := vaultSnapshot(args, r.snapshot)
		if err != nil {
			return err
		}
		f.seen = &colony.DeferredWitness{}
		return a.withVaultOnly(cmd, f, func(ctx context.Context, s *cli.Opened, v *colony.Vault) error {
			got, err := a.readVault(ctx, v, id)
			if err != nil {
				return err
			}
			if r.plain {
				return a.printPlain(ctx, got, r.dryRun, f.seen)
			}
			return a.vaultRestore(ctx, s, got, r, f.seen)
		})
	})
	fl := cmd.Flags()
	fl.StringVar(&r.dir, "dir", "", "the folder (default the notes of the agent)")
	addSnapshotFlag(cmd, &r.snapshot, "the snapshot (default the newest)")
	cli.AddPlanFlags(cmd, &r.yes, &r.dryRun, "show what would change and change nothing")
	return cmd
}

// readVault reads a snapshot, "" for the newest, and checks it.
func (a *app) readVault(ctx context.Context, v *colony.Vault, id colony.SnapshotID) (colony.Restored, error) {
	got, err := cli.Working(a.App, "reading the vault", func() (colony.Restored, error) { return v.Restore(ctx, id) })
	got.DocNames = cli.OrEmpty(got.DocNames)
	return got, err
}

// vaultRestore plans, asks and writes, and only then remembers what it saw.
func (a *app) vaultRestore(ctx context.Context, s *cli.Opened, got colony.Restored, r vaultRestoreFlags, seen *colony.DeferredWitness) error {
	report := vaultRestored{Restored: got, DryRun: r.dryRun}
	to, err := a.documentTarget(ctx, s, r, &report.Dir)
	if err == nil {
		err = errors.Join(a.putBack(ctx, to, &report, r), to.Close())
	}
	if err != nil {
		return localError(err)
	}
	report.Warnings = append(report.Warnings, warnMarked(got.Documents, report.Written)...)
	if !r.dryRun {
		report.Warnings = append(report.Warnings, remember(ctx, seen)...)
	}
	err = a.Out.Show(report, func(w io.Writer) { a.printVaultRestored(w, report, r.dryRun) })
	a.warnRestored(report.Restored)
	return err
}

// warnMarked warns of documents that came back without their secrets.
func warnMarked(docs colony.Documents, names []string) []string {
	n := documents.Marked(docs, names)
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("secrets were taken out of %s before the backup", words.Count(n, "document", "documents"))}
}

// remember keeps what was seen, or warns.
func remember(ctx context.Context, seen *colony.DeferredWitness) []string {
	if err := seen.Keep(ctx); err != nil {
		return []string{fmt.Sprintf("the restored snapshot could not be noted as seen: %v", err)}
	}
	return nil
}

// putBack writes what is not there yet, once a person has seen what it replaces,
// or has said not to ask.
func (a *app) putBack(ctx context.Context, to documents.Target, report *vaultRestored, r vaultRestoreFlags) (err error) {
	if report.Plan, err = documents.NewPlan(ctx, to, report.Documents); err != nil || r.dryRun {
		return err
	}
	if len(report.Replaced) > 0 {
		err = a.ConfirmPlan(r.yes, "replace documents", func() (string, error) {
			a.ShowAside(func(w io.Writer) { a.printVaultRestored(w, *report, true) })
			return "replace " + words.Count(int64(len(report.Replaced)), "document", "documents"), nil
		})
	}
	if err != nil {
		return err
	}
	return report.Plan.Write(ctx, to)
}

// documentTarget is the folder of the flag, or the notes of the agent of s. An agent
// is not made for a look.
func (a *app) documentTarget(ctx context.Context, s *cli.Opened, r vaultRestoreFlags, dir *string) (documents.Target, error) {
	rules := s.Config.Config.Redactor()
	if r.dir == "" {
		if _, err := s.Agent.Current(); r.dryRun && amber.KindOf(err) == amber.KindNotFound {
			return documents.NotesTarget{Rules: rules}, nil
		}
		store, err := a.Open(ctx)
		if err != nil {
			return nil, err
		}
		return notesOf{documents.NotesTarget{Notes: store.Store.Notes, Rules: rules}, store}, nil
	}
	var err error
	if *dir, err = a.Absolute(r.dir); err != nil {
		return nil, err
	}
	return documents.OpenFolder(*dir, s.Home.Dir(), rules)
}

// notesOf closes the store with its notes.
type notesOf struct {
	documents.NotesTarget
	store *cli.Opened
}

func (n notesOf) Close() error { return n.store.Close() }

// printPlain prints the documents as one JSON object, which is all of stdout.
func (a *app) printPlain(ctx context.Context, got colony.Restored, dryRun bool, seen *colony.DeferredWitness) error {
	if err := a.printJSON(got.Documents, got); err != nil {
		return err
	}
	got.Warnings = append(got.Warnings, warnMarked(got.Documents, got.Documents.Names())...)
	if !dryRun {
		got.Warnings = append(got.Warnings, remember(ctx, seen)...)
	}
	a.warnRestored(got)
	return nil
}

// printJSON prints a value as JSON, and on stderr what was read and checked.
func (a *app) printJSON(v any, got colony.Restored) error {
	out := a.Out
	out.JSON = true
	err := out.Show(v, nil)
	a.Out.Note("%s of %s, signature: %s", got.ID, cli.Flat(got.Label), a.describeSignature(got.Checks.Signature, got.Issuer))
	return err
}

func (a *app) printVaultRestored(w io.Writer, r vaultRestored, planned bool) {
	did, write := "restored", "wrote"
	if planned {
		did, write = "would restore", "would write"
	}
	where := "the notes"
	if r.Dir != "" {
		where = cli.Flat(r.Dir)
	}
	fmt.Fprintf(w, "%s %s of %s, taken %s, to %s\n", did, r.ID, cli.Flat(r.Label), cli.Flat(r.CreatedAt), where)
	a.printVaultChecks(w, r.Restored)
	for _, name := range r.Written {
		note := ""
		if _, replaced := slices.BinarySearch(r.Replaced, name); replaced {
			text := " over one that says something else"
			if documents.Marked(r.Documents, []string{name}) > 0 {
				text += "; secrets were taken out of this one"
			}
			note = a.Out.Style(cli.Amb, text)
		}
		fmt.Fprintf(w, "  %s %s%s\n", write, cli.Flat(name), note)
	}
	if n := len(r.Unchanged); n > 0 {
		fmt.Fprintf(w, "  %s the same\n", words.Count(int64(n), "document is", "documents are"))
	}
}

// printVaultChecks says what was checked and what was not.
func (a *app) printVaultChecks(w io.Writer, r colony.Restored) {
	fmt.Fprintln(w, "  digest of the documents: it matches")
	declared := "they match"
	if !r.Checks.Declared {
		declared = a.Out.Style(cli.Amb, "NOT CHECKED")
	}
	fmt.Fprintln(w, "  declared fields:", declared)
	for _, text := range r.Checks.Relaxed {
		fmt.Fprintln(w, "    accepted:", cli.Flat(text))
	}
	fmt.Fprintln(w, "  signature:", a.describeSignature(r.Checks.Signature, r.Issuer))
}

func (a *app) describeSignature(found string, key sign.KeyID) string {
	switch found {
	case colony.SignatureVerified:
		return "verified, by the trusted key " + cli.Flat(string(key))
	case colony.SignatureUnknown:
		return "valid, by a key that is not trusted here: " + cli.Flat(string(key))
	case colony.SignatureNone:
		return "none: anybody who may write to the vault can have made the snapshot"
	case colony.SignatureSkipped:
		return a.Out.Style(cli.Amb, "NOT CHECKED") + ", it names " + claimedKey(key)
	}
	return cli.Flat(found)
}

// claimedKey names the key of a signature that was not checked.
func claimedKey(key sign.KeyID) string {
	if key == "" {
		return "a key that cannot be read"
	}
	return cli.Flat(string(key))
}

// warnRestored reports what the reader should know.
func (a *app) warnRestored(r colony.Restored) {
	if r.Fallback != "" {
		a.Out.Warn("not the snapshot that the pointer names: %s", r.Fallback)
	}
	for _, text := range r.Warnings {
		a.Out.Warn("%s", text)
	}
}

// vaultMerge is what other programs take an agent's memory from.
type vaultMerge struct {
	Memory colony.Documents `json:"memory"`
	Format string           `json:"memory_format"`
}

func (a *app) vaultExportMergeCommand(f *vaultFlags) *cobra.Command {
	var snapshot string
	cmd := cli.Verb("export-merge", func(cmd *cobra.Command, args []string) error {
		id, err := vaultSnapshot(args, snapshot)
		if err != nil {
			return err
		}
		return a.withVaultOnly(cmd, f, func(ctx context.Context, _ *cli.Opened, v *colony.Vault) error {
			got, err := a.readVault(ctx, v, id)
			if err != nil {
				return err
			}
			err = a.printJSON(vaultMerge{got.Documents, colony.Format}, got)
			a.warnRestored(got)
			return err
		})
	})
	addSnapshotFlag(cmd, &snapshot, "the snapshot (default the newest)")
	return cmd
}
