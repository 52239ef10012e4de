package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
)

func (a *app) vaultListCommand(f *vaultFlags) *cobra.Command {
	var page pageFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the snapshots of the label, newest first",
		Long: `List the snapshots of the label, newest first. What is wrong with one that cannot be restored is
told. Signatures are not checked here: restore does that.`,
		Example: `  amber vault list --label laptop`,
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := pageSize(page.n); err != nil {
				return err
			}
			if _, err := colony.ParseSnapshotID(page.cursor); page.cursor != "" && err != nil {
				return usage("--cursor %q is not what a page before ended with", oneLine(page.cursor, 60))
			}
			return a.withVaultOnly(cmd, f, func(ctx context.Context, _ *opened, v *colony.Vault) error {
				found, err := working(a, "reading the vault", func() ([]colony.Listed, error) { return v.List(ctx) })
				if err != nil {
					return err
				}
				for i := range found {
					found[i].DocNames = orEmpty(found[i].DocNames)
				}
				return showPage(a, cmd, page, func(n int, c amber.Cursor) (amber.Page[colony.Listed], error) {
					return pageOf(found, n, c), nil
				}, a.printVaultList)
			})
		},
	}
	page.add(cmd)
	return cmd
}

// pageOf cuts a page out of a list, the newest first. A cursor is the snapshot
// that the page before ended with, which may be gone.
func pageOf(all []colony.Listed, n int, c amber.Cursor) amber.Page[colony.Listed] {
	from := 0
	for from < len(all) && c != "" && all[from].ID >= colony.SnapshotID(c) {
		from++
	}
	p := amber.Page[colony.Listed]{Items: all[from:]}
	if len(p.Items) > n {
		p.Items = p.Items[:n]
		p.Next = amber.Cursor(p.Items[n-1].ID)
	}
	return p
}

func (a *app) printVaultList(w io.Writer, found []colony.Listed) {
	var rows [][]string
	for _, l := range found {
		rows = append(rows, []string{string(l.ID), l.CreatedAt, describeDocuments(l.Info), byteSize(l.ByteSize), describeListed(l)})
	}
	table(w, []string{"SNAPSHOT", "TAKEN", "DOCUMENTS", "SIZE", ""}, rows)
}

// describeDocuments tells how many there are, where the manifest does.
func describeDocuments(i colony.Info) string {
	if i.Encrypted {
		return "encrypted"
	}
	return strconv.Itoa(len(i.DocNames))
}

// describeListed tells what is special about a snapshot.
func describeListed(l colony.Listed) string {
	text := ""
	add := func(word string) {
		if text != "" {
			text += ", "
		}
		text += word
	}
	if l.Latest {
		add("latest")
	}
	if l.Signed {
		add("signed as " + claimedKey(l.Issuer))
	}
	if l.Damage != "" {
		add("DAMAGED: " + l.Damage)
	}
	return text
}

func (a *app) vaultLatestCommand(f *vaultFlags) *cobra.Command {
	return &cobra.Command{
		Use:   "latest",
		Short: "Show the newest snapshot of the label",
		Long: `Show the newest snapshot of the label: the one that restore takes. Without any it exits with 3,
which is the only answer that means that there is nothing.`,
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
		p.fact(w, "pointer", "it names another one, or none")
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
					fmt.Fprintln(w, "; it does not tell how much it takes before something is written")
				})
			})
		},
	}
}
