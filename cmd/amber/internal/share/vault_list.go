package share

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/colony"
)

func (a *app) vaultListCommand(f *vaultFlags) *cobra.Command {
	var page cli.PageFlags
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		if !colony.ValidCursor(amber.Cursor(page.Cursor)) {
			return cli.Usage("--cursor %q is not a cursor that an earlier page returned", cli.OneLine(page.Cursor, 60))
		}
		return a.withVaultOnly(cmd, f, func(ctx context.Context, s *cli.Opened, v *colony.Vault) error {
			var bad error
			found, err := cli.Working(a.App, "reading the vault", func() (all []colony.Listed, err error) {
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
				found[i].DocNames = cli.OrEmpty(found[i].DocNames)
			}
			err = cli.ShowPage(a.App, cmd, page, func(n int, c amber.Cursor) (amber.Page[colony.Listed], error) {
				return colony.PageOf(found, n, c), nil
			}, a.printVaultList)
			return errors.Join(err, a.Judged(bad))
		})
	})
	page.Add(cmd)
	return cmd
}

func (a *app) printVaultList(w io.Writer, found []colony.Listed) {
	var rows [][]string
	for _, l := range found {
		rows = append(rows, []string{string(l.ID), l.Label, l.CreatedAt, describeDocuments(l.Info), cli.ByteSize(l.ByteSize), describeListed(l)})
	}
	cli.Table(w, []string{"SNAPSHOT", "LABEL", "TAKEN", "DOCUMENTS", "SIZE", ""}, rows)
}

// describeDocuments tells how many there are, if the manifest is not encrypted.
func describeDocuments(i colony.Info) string {
	if i.Encrypted {
		return "encrypted"
	}
	return strconv.Itoa(len(i.DocNames))
}

// describeListed returns what is special about a snapshot.
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
	return cli.Verb("latest", func(cmd *cobra.Command, _ []string) error {
		return a.withVaultOnly(cmd, f, func(ctx context.Context, _ *cli.Opened, v *colony.Vault) error {
			l, err := cli.Working(a.App, "reading the vault", func() (colony.Listed, error) { return v.Latest(ctx) })
			if err != nil {
				return err
			}
			l.DocNames = cli.OrEmpty(l.DocNames)
			return a.Out.Show(l, func(w io.Writer) { a.printLatest(w, l) })
		})
	})
}

func (a *app) printLatest(w io.Writer, l colony.Listed) {
	p := a.Out
	fmt.Fprintln(w, l.ID)
	p.Fact(w, "label", l.Label)
	p.Fact(w, "taken", l.CreatedAt)
	p.Fact(w, "documents", describeDocuments(l.Info)+", "+cli.ByteSize(l.ByteSize))
	for _, name := range l.DocNames {
		fmt.Fprintln(w, " ", cli.Flat(name))
	}
	if l.Signed {
		p.Fact(w, "signed as", claimedKey(l.Issuer)+" (restore checks it)")
	}
	if !l.Latest {
		p.Fact(w, "pointer", "it does not name this snapshot")
	}
	p.Fact(w, "damage", l.Damage)
}

func (a *app) vaultStatusCommand(f *vaultFlags) *cobra.Command {
	return cli.Verb("status", func(cmd *cobra.Command, _ []string) error {
		return a.withVaultOnly(cmd, f, func(ctx context.Context, _ *cli.Opened, v *colony.Vault) error {
			status, err := cli.Working(a.App, "asking the vault", func() (colony.Status, error) { return v.Status(ctx) })
			return cli.Answer(status, err)(a.Out, func(w io.Writer, s colony.Status) {
				fmt.Fprintf(w, "%s, %s used", words.Count(s.FileCount, "file", "files"), cli.ByteSize(s.UsedBytes))
				if s.QuotaBytes > 0 {
					fmt.Fprintf(w, " of %s, %s left\n", cli.ByteSize(s.QuotaBytes), cli.ByteSize(s.AvailableBytes))
					return
				}
				fmt.Fprintln(w, "; the vault reports its quota after the first write")
			})
		})
	})
}
