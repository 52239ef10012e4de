package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/colony"
)

// vaultRestored is the JSON of vault restore.
type vaultRestored struct {
	colony.Restored
	Dir       string   `json:"dir,omitempty"` // "": the notes
	Written   []string `json:"written"`
	Replaced  []string `json:"replaced"` // those of Written that said something else before
	Unchanged []string `json:"unchanged"`
	DryRun    bool     `json:"dry_run"`

	before map[string]found // what there was in the place of Written when it was planned
}

// vaultRestoreFlags say what is restored, and where to.
type vaultRestoreFlags struct {
	dir, snapshot string
	yes, dryRun   bool
	plain         bool // documents as JSON on stdout
}

func (a *app) vaultRestoreCommand(f *vaultFlags) *cobra.Command {
	var r vaultRestoreFlags
	cmd := &cobra.Command{
		Use:   "restore [SNAPSHOT] [-]",
		Short: "Bring documents back",
		Long: `Bring the documents of the newest snapshot back, or those of the one that is named: as notes, or
with --dir as files below a folder. The digest of the documents is always checked, every declared
field unless --tolerant says otherwise, the signature if there is one unless --no-verify does; what
was checked is told. A snapshot that was changed, or whose pointer leads to an older one than was
seen before, is not restored.

Documents that say something else here are replaced only after a question; without a terminal
that needs --yes. What has changed since it was looked at is not replaced. --dry-run shows what
would change. Documents that only this side has stay. When one of the names cannot be written here,
none is: - prints them instead. Whatever interrupts a restore, it can be run again.

With - nothing is written here: the documents are printed as one JSON object of names and texts,
which is what vault backup - takes, and what was checked is told on stderr.`,
		Example: `  amber vault restore --dry-run
  amber vault restore --dir ./memory --require-signed --trust did:key:z6Mkf5rGMoatrSj1f4CyvuHBeXJELe9RPdzo2PKGNCKVtZxP
  amber vault restore 20260813T101112131415Z-a1b2c3 --dir ./then
  amber vault restore --json - | jq -r '.["MEMORY.md"]'`,
		Args: upTo(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			args, r.plain = cutPlain(args)
			if len(args) > 1 {
				return usage("%s takes one snapshot", cmd.CommandPath())
			}
			if r.plain && r.dir != "" {
				return usage("--dir and - do not go together: documents go to a folder, or to stdout")
			}
			id, err := vaultSnapshot(args, r.snapshot)
			if err != nil {
				return err
			}
			f.late = &lateWitness{}
			return a.withVaultOnly(cmd, f, func(ctx context.Context, s *opened, v *colony.Vault) error {
				got, err := a.readVault(ctx, v, id)
				if err != nil {
					return err
				}
				if r.plain {
					return a.printPlain(ctx, got, r.dryRun, f.late)
				}
				return a.vaultRestore(ctx, s, got, r, f.late)
			})
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&r.dir, "dir", "", "the folder (default the notes of the agent)")
	addSnapshotFlag(cmd, &r.snapshot, "the snapshot (default the newest)")
	addPlanFlags(cmd, &r.yes, &r.dryRun, "tell what would change and change nothing")
	return cmd
}

// documentTarget is where documents are restored to.
type documentTarget interface {
	// Refuses says why names cannot be written, by name.
	Refuses(d colony.Documents) map[string]string
	// Look tells what there is under a name, and whether it says the text.
	// Errors: refused when what is there cannot be replaced.
	Look(ctx context.Context, name, text string) (found, error)
	// Write writes one durably in the place of what was found before. Errors:
	// conflict when something else is there now.
	Write(ctx context.Context, name, text string, before found) error
	// Close lets it go.
	Close() error
}

// found is what there is under the name of a document.
type found struct {
	there, same bool
	digest      string // of its text
}

// vaultRestore plans, asks and writes, and only then remembers what it saw.
func (a *app) vaultRestore(ctx context.Context, s *opened, got colony.Restored, r vaultRestoreFlags, seen *lateWitness) error {
	to, dir, err := a.documentTarget(ctx, s, r)
	if err != nil {
		return ofThisSide(err)
	}
	report := vaultRestored{Restored: got, Dir: dir, DryRun: r.dryRun}
	err = errors.Join(a.putBack(ctx, to, &report, r), to.Close())
	if n := marked(report.Documents, report.Written); n > 0 {
		report.Warnings = append(report.Warnings, fmt.Sprintf("in %s secrets were taken out before they went to the vault", count(n, "document", "documents")))
	}
	if err != nil {
		return ofThisSide(err)
	}
	if !r.dryRun {
		if err := seen.keep(ctx); err != nil {
			report.Warnings = append(report.Warnings, fmt.Sprintf("what was seen could not be remembered: %v", err))
		}
	}
	err = a.out.show(report, func(w io.Writer) { a.printVaultRestored(w, report, r.dryRun) })
	a.warnRestored(report.Restored)
	return err
}

// putBack writes what is not there yet, once a person has seen what it replaces,
// or has said not to ask.
func (a *app) putBack(ctx context.Context, to documentTarget, report *vaultRestored, r vaultRestoreFlags) error {
	err := planRestore(ctx, to, report)
	if err != nil || r.dryRun {
		return err
	}
	if len(report.Replaced) > 0 {
		err = a.confirmPlan(r.yes, "replace documents", func() (string, error) {
			a.showAside(func(w io.Writer) { a.printVaultRestored(w, *report, true) })
			return "replace " + count(int64(len(report.Replaced)), "document", "documents"), nil
		})
	}
	if err != nil {
		return err
	}
	return writeDocuments(ctx, to, *report)
}

// readVault reads a snapshot, "" for the newest, and checks it.
func (a *app) readVault(ctx context.Context, v *colony.Vault, id colony.SnapshotID) (colony.Restored, error) {
	got, err := working(a, "reading the vault", func() (colony.Restored, error) { return v.Restore(ctx, id) })
	got.DocNames = orEmpty(got.DocNames)
	return got, err
}

func (a *app) documentTarget(ctx context.Context, s *opened, r vaultRestoreFlags) (documentTarget, string, error) {
	if r.dir == "" {
		to, err := a.noteTarget(ctx, s, r.dryRun)
		return to, "", err
	}
	dir, err := a.absolute(r.dir)
	if err != nil {
		return nil, "", err
	}
	to, err := newDirTarget(dir, s.home.Dir())
	if err == nil {
		to.rules = s.config.Config.Redactor()
	}
	return to, dir, err
}
