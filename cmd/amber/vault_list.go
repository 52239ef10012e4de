package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
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
		Long: `List the snapshots of every label that the vault has, newest first, each with its label; with --label
those of one. What is wrong with one that cannot be restored is told. Signatures are not checked
here: restore does that. A label that cannot be listed is told of, and the others are listed.`,
		Example: `  amber vault list
  amber vault list --label laptop`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := pageSize(page.n); err != nil {
				return err
			}
			if !validVaultCursor(page.cursor) {
				return usage("--cursor %q is not what a page before ended with", oneLine(page.cursor, 60))
			}
			return a.withVaultOnly(cmd, f, func(ctx context.Context, s *opened, v *colony.Vault) error {
				var bad error
				found, err := working(a, "reading the vault", func() (all []colony.Listed, err error) {
					if cmd.Flags().Changed("label") {
						return v.List(ctx)
					}
					all, bad, err = a.listVault(ctx, s, v, *f)
					return all, err
				})
				if err != nil {
					return err
				}
				for i := range found {
					found[i].DocNames = orEmpty(found[i].DocNames)
				}
				err = showPage(a, cmd, page, func(n int, c amber.Cursor) (amber.Page[colony.Listed], error) {
					return pageOf(found, n, c), nil
				}, a.printVaultList)
				return errors.Join(err, a.judged(bad))
			})
		},
	}
	page.add(cmd)
	return cmd
}

// listVault lists every label: those that are there, and the agent's own, of
// which something may have been seen. Bad is what is wrong with labels that could
// not be listed.
func (a *app) listVault(ctx context.Context, s *opened, v *colony.Vault, f vaultFlags) (all []colony.Listed, bad, err error) {
	labels, err := v.Labels(ctx)
	if err != nil {
		return nil, nil, err
	}
	if !slices.Contains(labels, v.Label()) {
		labels = append(labels, v.Label())
	}
	url := strings.TrimRight(cmp.Or(f.url, s.config.Config.Vault.URL), "/")
	for _, label := range labels {
		some, err := v.Of(label, a.vaultWitness(s, url, label)).List(ctx)
		switch amber.KindOf(err) {
		case "":
		case amber.KindDamaged, amber.KindUntrusted, amber.KindTooNew:
			bad = errors.Join(bad, err)
		default:
			return nil, nil, err
		}
		all = append(all, some...)
	}
	slices.SortFunc(all, compareListed)
	return all, bad, nil
}

// compareListed puts the newest first, and of two labels with one time the labels
// in their order.
func compareListed(x, y colony.Listed) int {
	return cmp.Or(strings.Compare(string(y.ID), string(x.ID)), strings.Compare(x.Label, y.Label))
}

// A cursor is the snapshot that the page before ended with, which may be gone,
// and its label behind a dot.
func vaultCursor(l colony.Listed) amber.Cursor { return amber.Cursor(string(l.ID) + "." + l.Label) }

func validVaultCursor(c string) bool {
	id, _, _ := strings.Cut(c, ".")
	_, err := colony.ParseSnapshotID(id)
	return c == "" || err == nil
}

// pageOf cuts a page out of a list, the newest first. A cursor without a label is
// behind every label.
func pageOf(all []colony.Listed, n int, c amber.Cursor) amber.Page[colony.Listed] {
	id, label, of := strings.Cut(string(c), ".")
	before := func(l colony.Listed) bool {
		return string(l.ID) > id || string(l.ID) == id && (!of || l.Label <= label)
	}
	from := 0
	for from < len(all) && c != "" && before(all[from]) {
		from++
	}
	p := amber.Page[colony.Listed]{Items: all[from:]}
	if len(p.Items) > n {
		p.Items = p.Items[:n]
		p.Next = vaultCursor(p.Items[n-1])
	}
	return p
}

func (a *app) printVaultList(w io.Writer, found []colony.Listed) {
	var rows [][]string
	for _, l := range found {
		rows = append(rows, []string{string(l.ID), l.Label, l.CreatedAt, describeDocuments(l.Info), byteSize(l.ByteSize), describeListed(l)})
	}
	table(w, []string{"SNAPSHOT", "LABEL", "TAKEN", "DOCUMENTS", "SIZE", ""}, rows)
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
