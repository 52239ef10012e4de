package share

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/documents"
	"github.com/amber-memory/amber/wire"
)

// vaultBackup says what is backed up, and how.
type vaultBackup struct {
	dir              string
	keep             int
	force, dryRun    bool
	redact, noRedact bool
	plain            bool // documents as JSON on stdin
}

// vaultBackedUp is the JSON of vault backup.
type vaultBackedUp struct {
	colony.BackupReport
	Skipped  []wire.Skipped `json:"skipped"`
	Redacted map[string]int `json:"redacted"` // by rule
}

// vaultBackupPlan is the JSON of vault backup --dry-run.
type vaultBackupPlan struct {
	DocNames []string       `json:"doc_names"`
	Digest   string         `json:"documents_sha256"`
	Skipped  []wire.Skipped `json:"skipped"`
	Redacted map[string]int `json:"redacted"`
	DryRun   bool           `json:"dry_run"`
}

// plainDocuments is the argument for documents as one JSON object of names and
// texts: on stdin for a backup, on stdout for a restore.
const plainDocuments = "-"

// cutPlain takes that argument out of the others, and reports whether it was among
// them.
func cutPlain(args []string) (rest []string, plain bool) {
	rest = slices.DeleteFunc(slices.Clone(args), func(s string) bool { return s == plainDocuments })
	return rest, len(rest) < len(args)
}

func (a *app) vaultBackupCommand(f *vaultFlags) *cobra.Command {
	var b vaultBackup
	cmd := cli.Verb("backup", func(cmd *cobra.Command, args []string) error {
		args, b.plain = cutPlain(args)
		if err := b.check(cmd, f, args); err != nil {
			return err
		}
		if b.dryRun {
			return a.planVaultBackup(cmd, f, b)
		}
		return a.withVault(cmd, f, b.need(), func(ctx context.Context, s *cli.Opened, v *colony.Vault) error {
			return a.vaultBackup(ctx, cmd, s, v, *f, b)
		})
	})
	cmd.Args = cli.UpTo(2) // "--sign FILE" leaves the file among them
	fl := cmd.Flags()
	fl.StringVar(&b.dir, "dir", "", "the folder (default the notes of the agent)")
	fl.IntVar(&b.keep, "keep", 0, "keep this many of the newest snapshots afterwards (default all)")
	fl.BoolVar(&b.force, "force", false, "make a snapshot even if nothing has changed")
	fl.BoolVar(&b.dryRun, "dry-run", false, "show what would be backed up, without asking the vault")
	fl.BoolVar(&b.redact, "redact", false, "remove secrets (default unless export.redact is false)")
	fl.BoolVar(&b.noRedact, "no-redact", false, "do not remove secrets")
	fl.StringVar(&f.sign, "sign", "", "sign it with the key of this home, or with the seed in this file (default vault.sign)")
	fl.Lookup("sign").NoOptDefVal = signWithHome
	fl.BoolVar(&f.noSign, "no-sign", false, "do not sign it")
	fl.StringArrayVar(&f.recipients, "encrypt-to", nil, "encrypt it to this age or SSH public key (repeat)")
	return cmd
}

// check reads "--sign FILE", where the file is an argument without "=", and
// refuses flags that exclude each other.
func (b *vaultBackup) check(cmd *cobra.Command, f *vaultFlags, args []string) error {
	if len(args) > 0 {
		if f.sign != signWithHome || args[0] == "" || len(args) > 1 {
			return cli.Usage("%s does not take %q", cmd.CommandPath(), cli.OneLine(args[0], 60))
		}
		f.sign = args[0]
	}
	switch {
	case b.plain && b.dir != "":
		return cli.Usage("--dir and - exclude each other: documents come from a folder, or from stdin")
	case b.plain && f.keyFile == stdinKey:
		return cli.Usage("--api-key-file - and - both read stdin: write the API key to a file")
	case cmd.Flags().Changed("keep"):
		return cli.Limit("--keep", b.keep)
	}
	return nil
}

// need is what the backup needs of the live agent.
func (b vaultBackup) need() cli.LiveAgent {
	if b.dir != "" || b.plain {
		return cli.MayBeMade
	}
	return cli.MustBeOpened
}

// noteDocuments returns the notes of an agent as documents, without secrets unless
// export.redact is false.
func (a *app) noteDocuments(ctx context.Context, s *cli.Opened) (documents.Set, error) {
	d, err := readNotes(ctx, s)
	if err == nil && s.Config.Config.Export.Redact {
		err = d.Redact(documents.PartNotes, a.vaultOwn(s, vaultFlags{}))
	}
	return d, err
}

func readNotes(ctx context.Context, s *cli.Opened) (documents.Set, error) {
	if s.Notes != nil {
		return documents.ReadNotes(ctx, s.Notes)
	}
	return documents.ReadNotes(ctx, s.Store.Notes)
}

// vaultBackupDocuments reads what is to be backed up. Errors: invalid without any
// document: an empty snapshot is a mistake, and would be the newest one.
func (a *app) vaultBackupDocuments(ctx context.Context, cmd *cobra.Command, s *cli.Opened, f vaultFlags, b vaultBackup) (d documents.Set, err error) {
	redact, err := cli.Either(cmd, "redact", "no-redact", s.Config.Config.Export.Redact)
	if err != nil {
		return d, err
	}
	part, own := documents.PartNotes, a.vaultOwn(s, f)
	switch {
	case b.plain:
		part = documents.PartInput
		d, err = a.readPlain()
	case b.dir == "":
		d, err = readNotes(ctx, s)
	default:
		part = documents.PartFolder
		var dir string
		if dir, err = a.Absolute(b.dir); err == nil {
			d, err = documents.ReadFolder(ctx, dir, own)
		}
	}
	if err == nil && redact {
		err = d.Redact(part, own)
	}
	if err == nil && len(d.Documents) == 0 {
		a.NoteLeftOut(d.Skipped, "backup")
		err = &amber.Error{
			Op: "back up", Kind: amber.KindInvalid, ID: b.dir, Err: errors.New("there is no document to back up"),
			Hint: "amber note write NAME TEXT makes a note; --dir FOLDER backs up a folder",
		}
	}
	if d.Redacted == nil {
		d.Redacted = map[string]int{}
	}
	return d, err
}

// readPlain reads documents from stdin.
func (a *app) readPlain() (documents.Set, error) {
	text, err := a.Text(plainDocuments, documents.MaxJSON)
	if err != nil {
		return documents.Set{}, err
	}
	d, err := documents.ParseJSON(text)
	if err != nil {
		err = &amber.Error{
			Op: "read stdin", Kind: amber.KindOf(err), Err: err,
			Hint: `stdin takes one JSON object of names and texts: {"MEMORY.md": "We chose PostgreSQL."}`,
		}
	}
	return d, err
}

// planVaultBackup shows what would be backed up. The vault is not asked.
func (a *app) planVaultBackup(cmd *cobra.Command, f *vaultFlags, b vaultBackup) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	need := b.need()
	if need == cli.MayBeMade {
		need = cli.MayBeAbsent
	}
	ctx := cmd.Context()
	s, err := a.OpenFrozen(ctx, need)
	if err != nil {
		return localError(err)
	}
	defer s.Close() // it was only read
	d, err := a.vaultBackupDocuments(ctx, cmd, s, *f, b)
	if err != nil {
		return localError(err)
	}
	plan := vaultBackupPlan{DocNames: d.Names(), Skipped: cli.OrEmpty(d.Skipped), Redacted: d.Redacted, DryRun: true}
	if plan.Digest, err = d.Digest(); err != nil {
		return err
	}
	err = a.Out.Show(plan, func(w io.Writer) {
		for _, name := range plan.DocNames {
			fmt.Fprintln(w, "would back up", cli.Flat(name))
		}
	})
	a.noteVaultDocuments(d)
	return err
}

func (a *app) vaultBackup(ctx context.Context, cmd *cobra.Command, s *cli.Opened, v *colony.Vault, f vaultFlags, b vaultBackup) error {
	if b.dir == "" && !b.plain {
		// Hooks may have written to the journal what is not in the notes yet.
		for _, left := range a.Site(s).Settle(ctx) {
			a.Out.Note("not in the backup: %s", left)
		}
	}
	d, err := a.vaultBackupDocuments(ctx, cmd, s, f, b)
	if err != nil {
		return localError(err)
	}
	report, err := cli.Working(a.App, "backing up", func() (colony.BackupReport, error) {
		return v.Backup(ctx, d.Documents, colony.BackupOptions{Force: b.force, Keep: b.keep})
	})
	if err != nil {
		if n := len(report.Uploaded); n > 0 {
			a.Out.Note("%s uploaded; the next backup continues from there", words.Count(int64(n), "file is", "files are"))
		}
		return err
	}
	report.DocNames, report.Uploaded = cli.OrEmpty(report.DocNames), cli.OrEmpty(report.Uploaded)
	if report.Pruned != nil {
		tidyPruned(report.Pruned)
	}
	err = a.Out.Show(vaultBackedUp{report, cli.OrEmpty(d.Skipped), d.Redacted}, func(w io.Writer) { a.printBackedUp(w, report, len(d.Documents)) })
	a.noteVaultDocuments(d)
	for _, text := range report.Warnings {
		a.Out.Warn("%s", text)
	}
	if report.Pruned != nil {
		a.warnPruned(*report.Pruned)
	}
	return err
}

// printBackedUp prints the id first, which scripts read.
func (a *app) printBackedUp(w io.Writer, r colony.BackupReport, n int) {
	docs := words.Count(int64(n), "document", "documents")
	fmt.Fprintln(w, r.ID)
	what := fmt.Sprintf("backed up %s as %s, %s", docs, cli.Flat(r.Label), cli.ByteSize(r.ByteSize))
	switch {
	case r.Unchanged:
		what = fmt.Sprintf("unchanged: the newest snapshot of %s holds the same %s; nothing was uploaded", cli.Flat(r.Label), docs)
	case r.Resumed:
		what += ", continuing an interrupted upload"
	}
	fmt.Fprintln(w, " ", what)
	if r.SupersededBy != "" {
		fmt.Fprintf(w, "  %s another writer was later: the newest snapshot is %s\n", a.Out.Style(cli.Amb, "SUPERSEDED"), r.SupersededBy)
	}
	if r.Signed {
		fmt.Fprintln(w, "  signed by", cli.Flat(string(r.Issuer)))
	}
	if !r.Encrypted && !r.Unchanged {
		a.Out.Note("the snapshot is not encrypted: the operator of the vault can read it; --encrypt-to RECIPIENT encrypts it")
	}
	if r.Pruned != nil {
		fmt.Fprintf(w, "  pruned: deleted %s, kept %d\n", words.Count(int64(len(r.Pruned.Deleted)), "snapshot", "snapshots"), len(r.Pruned.Kept))
	}
}

// noteVaultDocuments reports what was removed and what was left out.
func (a *app) noteVaultDocuments(d documents.Set) {
	a.noteRemoved(d.Redacted)
	a.NoteLeftOut(d.Skipped, "backup")
}

// noteRemoved tells how many secrets were removed, by rule.
func (a *app) noteRemoved(byRule map[string]int) {
	total := 0
	for _, n := range byRule {
		total += n
	}
	if total > 0 {
		a.Out.Note("redacted: %s taken out (%s)", words.Count(int64(total), "passage", "passages"), cli.Flat(strings.Join(slices.Sorted(maps.Keys(byRule)), ", ")))
	}
}
