package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
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
	Skipped  []amber.Skipped `json:"skipped"`
	Redacted map[string]int  `json:"redacted"` // by rule
}

// vaultBackupPlan is the JSON of vault backup --dry-run.
type vaultBackupPlan struct {
	DocNames []string        `json:"doc_names"`
	Digest   string          `json:"documents_sha256"`
	Skipped  []amber.Skipped `json:"skipped"`
	Redacted map[string]int  `json:"redacted"`
	DryRun   bool            `json:"dry_run"`
}

func (a *app) vaultBackupCommand(f *vaultFlags) *cobra.Command {
	var b vaultBackup
	cmd := &cobra.Command{
		Use:   "backup [-]",
		Short: "Back up the notes, the text files of a folder, or any texts by name",
		Long: `Back up the notes, or with --dir the text files below a folder, or with - the texts that one JSON
object on stdin gives names to, as one new snapshot, and print its id, with --json the whole report. It is done
when the pointer of the label names it. Documents that the newest snapshot holds already are not
uploaded again, unless --force says so. An upload that was interrupted goes on.

Whether there is room, and leave to write, is found out before the first file is written. Secrets
are taken out, and what was is told, unless --no-redact says otherwise or export.redact is false.
Links, what is no text, what is too large, the files with the keys and the home of Amber itself
stay here, and each is named.

With --encrypt-to only the recipients and this home can read it, and colony-memory cannot.`,
		Example: `  amber vault backup --url https://thecolony.ai/api/v1 --api-key-file ~/.colony/key
  amber vault backup --dir ./memory --label laptop --keep 5 --sign
  echo '{"MEMORY.md": "We chose PostgreSQL."}' | amber vault backup --json -`,
		Args: upTo(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, b.plain = cutPlain(args)
			if err := f.takeSeed(cmd, args); err != nil {
				return err
			}
			if b.plain {
				if err := checkPlain(f, b.dir); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("keep") {
				if err := limit("--keep", b.keep); err != nil {
					return err
				}
			}
			if b.dryRun {
				return a.planVaultBackup(cmd, f, b)
			}
			return a.withVault(cmd, f, b.need(), func(ctx context.Context, s *opened, v *colony.Vault) error {
				return a.vaultBackup(ctx, cmd, s, v, *f, b)
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&b.dir, "dir", "", "the folder (default the notes of the agent)")
	fl.IntVar(&b.keep, "keep", 0, "keep so many of the newest snapshots afterwards (default all)")
	fl.BoolVar(&b.force, "force", false, "make a snapshot also when nothing has changed")
	fl.BoolVar(&b.dryRun, "dry-run", false, "tell what would be backed up and ask nobody")
	fl.BoolVar(&b.redact, "redact", false, "take secrets out (default unless export.redact is false)")
	fl.BoolVar(&b.noRedact, "no-redact", false, "leave everything as it is")
	fl.StringVar(&f.sign, "sign", "", "sign it with the key of this home, or with the seed in this file (default vault.sign)")
	fl.Lookup("sign").NoOptDefVal = signWithHome
	fl.BoolVar(&f.noSign, "no-sign", false, "do not sign it")
	fl.StringArrayVar(&f.recipients, "encrypt-to", nil, "encrypt it to this age or SSH public key (repeat)")
	return cmd
}

// takeSeed reads "--sign FILE": without "=" the file is an argument.
func (f *vaultFlags) takeSeed(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if f.sign != signWithHome || args[0] == "" || len(args) > 1 {
		return usage("%s does not take %q", cmd.CommandPath(), oneLine(args[0], 60))
	}
	f.sign = args[0]
	return nil
}

// need is what the backup needs of the live agent.
func (b vaultBackup) need() liveAgent {
	if b.dir != "" || b.plain {
		return mayBeMade
	}
	return mustBeOpened
}

// vaultBackupDocuments reads what is to be backed up. Errors: invalid when there
// is nothing: a snapshot of nothing is a mistake, and would be the newest one.
func (a *app) vaultBackupDocuments(ctx context.Context, cmd *cobra.Command, s *opened, f vaultFlags, b vaultBackup) (d vaultDocuments, err error) {
	redact, err := either(cmd, "redact", "no-redact", s.config.Config.Export.Redact)
	if err != nil {
		return d, err
	}
	part, own := partNotes, a.vaultOwn(s, f)
	switch {
	case b.plain:
		part = partInput
		d, err = a.readPlain()
	case b.dir == "":
		d, err = readNotes(ctx, s)
	default:
		part = partDir
		var dir string
		if dir, err = a.absolute(b.dir); err == nil {
			d, err = readDir(ctx, dir, own)
		}
	}
	if err == nil && redact {
		err = d.redact(part, own)
	}
	if err == nil && len(d.Documents) == 0 {
		a.noteLeftOut(d.Skipped, "backup")
		err = &amber.Error{
			Op: "back up", Kind: amber.KindInvalid, ID: b.dir, Err: errors.New("there is no document to back up"),
			Hint: "amber note write makes a note; --dir names another folder, and - takes JSON from stdin",
		}
	}
	if d.Redacted == nil {
		d.Redacted = map[string]int{}
	}
	return d, err
}

// planVaultBackup tells what would be backed up. Nobody is asked.
func (a *app) planVaultBackup(cmd *cobra.Command, f *vaultFlags, b vaultBackup) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	need := b.need()
	if need == mayBeMade {
		need = mayBeAbsent
	}
	ctx := cmd.Context()
	s, err := a.openFrozen(ctx, need)
	if err != nil {
		return ofThisSide(err)
	}
	defer s.Close() // it was only read
	d, err := a.vaultBackupDocuments(ctx, cmd, s, *f, b)
	if err != nil {
		return ofThisSide(err)
	}
	plan := vaultBackupPlan{
		DocNames: slices.Sorted(maps.Keys(d.Documents)), Skipped: orEmpty(d.Skipped), Redacted: d.Redacted, DryRun: true,
	}
	if plan.Digest, err = d.Digest(); err != nil {
		return err
	}
	err = a.out.show(plan, func(w io.Writer) {
		for _, name := range plan.DocNames {
			fmt.Fprintln(w, "would back up", flat(name))
		}
	})
	a.noteVaultDocuments(d)
	return err
}

func (a *app) vaultBackup(ctx context.Context, cmd *cobra.Command, s *opened, v *colony.Vault, f vaultFlags, b vaultBackup) error {
	if b.dir == "" && !b.plain {
		// Hooks may have kept what has not arrived yet.
		for _, left := range a.site(s).Settle(ctx) {
			a.out.note("not in the backup: %s", left)
		}
	}
	d, err := a.vaultBackupDocuments(ctx, cmd, s, f, b)
	if err != nil {
		return ofThisSide(err)
	}
	report, err := working(a, "backing up", func() (colony.BackupReport, error) {
		return v.Backup(ctx, d.Documents, colony.BackupOptions{Force: b.force, Keep: b.keep})
	})
	if err != nil {
		if n := len(report.Uploaded); n > 0 {
			a.out.note("%s uploaded; the next backup goes on from there", count(int64(n), "file is", "files are"))
		}
		return err
	}
	report.DocNames, report.Uploaded = orEmpty(report.DocNames), orEmpty(report.Uploaded)
	if report.Pruned != nil {
		tidyPruned(report.Pruned)
	}
	err = a.out.show(vaultBackedUp{report, orEmpty(d.Skipped), d.Redacted}, func(w io.Writer) { a.printBackedUp(w, report, len(d.Documents)) })
	a.noteVaultDocuments(d)
	for _, text := range report.Warnings {
		a.out.warn("%s", text)
	}
	if report.Pruned != nil {
		a.warnPruned(*report.Pruned)
	}
	return err
}
