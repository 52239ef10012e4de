package main

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
}

// vaultRestoreFlags say what is restored, and where to.
type vaultRestoreFlags struct {
	dir, snapshot string
	yes, dryRun   bool
}

func (a *app) vaultRestoreCommand(f *vaultFlags) *cobra.Command {
	var r vaultRestoreFlags
	cmd := &cobra.Command{
		Use:   "restore [SNAPSHOT]",
		Short: "Bring documents back",
		Long: `Bring the documents of the newest snapshot back, or those of the one that is named: as notes, or
with --dir as files below a folder. The digest of the documents is always checked, every declared
field unless --tolerant says otherwise, the signature if there is one unless --no-verify does; what
was checked is told. A snapshot that was changed, or whose pointer leads to an older one than was
seen before, is not restored.

Documents that say something else here are replaced only after a question; without a terminal
that needs --yes. --dry-run shows what would change. Documents that only this side has stay. When one of the names
cannot be written here, none is: export-merge prints them instead. Whatever interrupts a restore,
it can be run again.`,
		Example: `  amber vault restore --dry-run
  amber vault restore --dir ./memory --require-signed --trust did:key:z6Mkf5rGMoatrSj1f4CyvuHBeXJELe9RPdzo2PKGNCKVtZxP
  amber vault restore 20260813T101112131415Z-a1b2c3 --dir ./then`,
		Args: upTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := vaultSnapshot(args, r.snapshot)
			if err != nil {
				return err
			}
			return a.withVault(cmd, f, mayBeMade, func(ctx context.Context, s *opened, v *colony.Vault) error {
				return a.vaultRestore(ctx, s, v, id, r)
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
	// Look tells whether there is a document of that name, and whether it says
	// the same. Errors: refused when what is there cannot be replaced.
	Look(ctx context.Context, name, text string) (there, same bool, err error)
	// Write writes one durably; replace says that it is there. Errors: conflict
	// when it is there though it was not.
	Write(ctx context.Context, name, text string, replace bool) error
	// Close lets it go.
	Close() error
}

// vaultRestore reads, plans, asks and writes.
func (a *app) vaultRestore(ctx context.Context, s *opened, v *colony.Vault, id colony.SnapshotID, r vaultRestoreFlags) error {
	got, err := a.readVault(ctx, v, id)
	if err != nil {
		return err
	}
	to, dir, err := a.documentTarget(ctx, s, r)
	if err != nil {
		return err
	}
	report := vaultRestored{Restored: got, Dir: dir, DryRun: r.dryRun}
	err = planRestore(ctx, to, &report)
	if err == nil && len(report.Replaced) > 0 && !r.dryRun {
		err = a.confirmPlan(r.yes, "replace documents", func() (string, error) {
			a.printVaultRestored(a.stderr, report, true)
			return "replace " + count(int64(len(report.Replaced)), "document", "documents"), nil
		})
	}
	if err == nil && !r.dryRun {
		err = writeDocuments(ctx, to, report)
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	err = a.out.show(report, func(w io.Writer) { a.printVaultRestored(w, report, r.dryRun) })
	a.warnRestored(got)
	return err
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
	to, err := newDirTarget(dir)
	return to, dir, err
}

// maxRefused is how many names are told that cannot be written.
const maxRefused = 5

// planRestore finds out what is to be written. Errors: refused when anything
// cannot be.
func planRestore(ctx context.Context, to documentTarget, r *vaultRestored) error {
	r.Written, r.Replaced, r.Unchanged = []string{}, []string{}, []string{}
	refused := to.Refuses(r.Documents)
	for _, name := range slices.Sorted(maps.Keys(r.Documents)) {
		if refused[name] != "" {
			continue
		}
		there, same, err := to.Look(ctx, name, r.Documents[name])
		switch {
		case amber.KindOf(err) == amber.KindRefused:
			refused[name] = reason(err)
		case err != nil:
			return err
		case same:
			r.Unchanged = append(r.Unchanged, name)
		default:
			r.Written = append(r.Written, name)
			if there {
				r.Replaced = append(r.Replaced, name)
			}
		}
	}
	return refusal(refused)
}

// refusal is the error for names that cannot be written, nil for none.
func refusal(refused map[string]string) error {
	if len(refused) == 0 {
		return nil
	}
	var told []string
	for _, name := range slices.Sorted(maps.Keys(refused))[:min(len(refused), maxRefused)] {
		told = append(told, fmt.Sprintf("%q %s", oneLine(name, 80), refused[name]))
	}
	if more := len(refused) - maxRefused; more > 0 {
		told = append(told, fmt.Sprintf("and %d more", more))
	}
	return &amber.Error{
		Op: "restore documents", Kind: amber.KindRefused,
		Err:  fmt.Errorf("nothing was written, because %s cannot be: %s", count(int64(len(refused)), "document", "documents"), strings.Join(told, ", ")),
		Hint: "amber vault export-merge prints all of them; --dir names another folder",
	}
}

// writeDocuments carries out a plan.
func writeDocuments(ctx context.Context, to documentTarget, r vaultRestored) error {
	for i, name := range r.Written {
		err := ctx.Err()
		if err == nil {
			err = to.Write(ctx, name, r.Documents[name], slices.Contains(r.Replaced, name))
		}
		if err != nil {
			return &amber.Error{
				Op: "restore documents", Kind: amber.KindOf(err), ID: oneLine(name, 80), Err: fmt.Errorf("%d of %d are written: %w", i, len(r.Written), err),
				Hint: "run it again: what is written stays",
			}
		}
	}
	return nil
}
