package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
)

func (a *app) vaultListCommand(f *vaultFlags) *cobra.Command {
	var page pageFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the snapshots of every label, newest first",
		Long: `List the snapshots of every label of the vault, newest first; with --label those of one label. A
snapshot that cannot be restored is listed with the reason. Signatures are not checked: restore
does that. If one label cannot be listed, the others are, and the command fails.`,
		Example: `  amber vault list
  amber vault list --label laptop`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := pageSize(page.n); err != nil {
				return err
			}
			if !colony.ValidCursor(amber.Cursor(page.cursor)) {
				return usage("--cursor %q is not a cursor that an earlier page returned", oneLine(page.cursor, 60))
			}
			return a.withVaultOnly(cmd, f, func(ctx context.Context, s *opened, v *colony.Vault) error {
				var bad error
				found, err := working(a, "reading the vault", func() (all []colony.Listed, err error) {
					if cmd.Flags().Changed("label") {
						return v.List(ctx)
					}
					all, bad, err = v.ListAll(ctx, func(label string) colony.Witness { return vaultWitness(s, *f, label) })
					return all, err
				})
				if err != nil {
					return err
				}
				for i := range found {
					found[i].DocNames = orEmpty(found[i].DocNames)
				}
				err = showPage(a, cmd, page, func(n int, c amber.Cursor) (amber.Page[colony.Listed], error) {
					return colony.PageOf(found, n, c), nil
				}, a.printVaultList)
				return errors.Join(err, a.judged(bad))
			})
		},
	}
	page.add(cmd)
	return cmd
}

func (a *app) printVaultList(w io.Writer, found []colony.Listed) {
	var rows [][]string
	for _, l := range found {
		rows = append(rows, []string{string(l.ID), l.Label, l.CreatedAt, describeDocuments(l.Info), byteSize(l.ByteSize), describeListed(l)})
	}
	table(w, []string{"SNAPSHOT", "LABEL", "TAKEN", "DOCUMENTS", "SIZE", ""}, rows)
}

// describeDocuments tells how many there are, if the manifest is not encrypted.
func describeDocuments(i colony.Info) string {
	if i.Encrypted {
		return "encrypted"
	}
	return strconv.Itoa(len(i.DocNames))
}

// describeListed tells what is special about a snapshot.
func describeListed(l colony.Listed) string {
	var words []string
	if l.Latest {
		words = append(words, "latest")
	}
	if l.Signed {
		words = append(words, "signed as "+claimedKey(l.Issuer))
	}
	if l.Damage != "" {
		words = append(words, "DAMAGED: "+l.Damage)
	}
	return strings.Join(words, ", ")
}

func (a *app) vaultLatestCommand(f *vaultFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "latest",
		Short: "Show the newest snapshot of the label",
		Long: `Show the newest snapshot of the label, which is the one that restore takes. It exits with 3 if the
label has no snapshot; no other exit code means that.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withVaultOnly(cmd, f, func(ctx context.Context, _ *opened, v *colony.Vault) error {
				l, err := working(a, "reading the vault", func() (colony.Listed, error) { return v.Latest(ctx) })
				if err != nil {
					return err
				}
				l.DocNames = orEmpty(l.DocNames)
				return a.out.show(l, func(w io.Writer) { a.printLatest(w, l) })
			})
		},
	}
}

func (a *app) printLatest(w io.Writer, l colony.Listed) {
	p := a.out
	fmt.Fprintln(w, l.ID)
	p.fact(w, "label", l.Label)
	p.fact(w, "taken", l.CreatedAt)
	p.fact(w, "documents", describeDocuments(l.Info)+", "+byteSize(l.ByteSize))
	for _, name := range l.DocNames {
		fmt.Fprintln(w, " ", flat(name))
	}
	if l.Signed {
		p.fact(w, "signed as", claimedKey(l.Issuer)+" (restore checks it)")
	}
	if !l.Latest {
		p.fact(w, "pointer", "it does not name this snapshot")
	}
	p.fact(w, "damage", l.Damage)
}

func (a *app) vaultStatusCommand(f *vaultFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show how much room the vault has",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withVaultOnly(cmd, f, func(ctx context.Context, _ *opened, v *colony.Vault) error {
				s, err := working(a, "asking the vault", func() (colony.Status, error) { return v.Status(ctx) })
				if err != nil {
					return err
				}
				return a.out.show(s, func(w io.Writer) {
					fmt.Fprintf(w, "%s, %s used", count(s.FileCount, "file", "files"), byteSize(s.UsedBytes))
					if s.QuotaBytes > 0 {
						fmt.Fprintf(w, " of %s, %s left\n", byteSize(s.QuotaBytes), byteSize(s.AvailableBytes))
						return
					}
					fmt.Fprintln(w, "; the vault reports its quota after the first write")
				})
			})
		},
	}
}
