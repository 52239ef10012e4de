package serve

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/wire"
)

func (a *app) tokenListCommand() *cobra.Command {
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		tenant, err := a.givenTenant(cmd)
		if err != nil {
			return err
		}
		d, err := a.lookAtLedger(cmd.Context())
		if err != nil {
			return err
		}
		tokens := []wire.Token{}
		if d != nil {
			tokens, err = d.tokens(cmd.Context(), tenant)
			err = errors.Join(err, d.Close())
		}
		if err != nil {
			return err
		}
		return cli.ShowItems(a.App, jsonl, amber.Page[wire.Token]{Items: tokens}, a.printTokens)
	})
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

// givenTenant returns --tenant where it was given, "" for every tenant.
func (a *app) givenTenant(cmd *cobra.Command) (amber.TenantID, error) {
	if !cmd.Flags().Changed("tenant") {
		return "", nil
	}
	return amber.ParseTenantID(a.Global.Tenant)
}

func (a *app) printTokens(w io.Writer, tokens []wire.Token) {
	cli.TableOf(w, []string{"ID", "NAME", "FOR", "SCOPES", "STATE", "MADE", "EXPIRES", "USED"}, tokens, func(t wire.Token) []string {
		expires := "never"
		if !t.ExpiresAt.IsZero() {
			expires = t.ExpiresAt.Time().Format("2006-01-02 15:04")
		}
		return []string{
			string(t.ID), t.Name, reach(t), scopeNames(t.Scopes), a.tokenState(t),
			a.Out.When(t.CreatedAt), expires, a.Out.When(t.LastUsedAt),
		}
	})
}

// revocation is the JSON of token revoke.
type revocation struct {
	wire.Token
	Revoked bool `json:"revoked"` // now
	DryRun  bool `json:"dry_run"`
}

func (a *app) tokenRevokeCommand() *cobra.Command {
	var yes, dryRun bool
	cmd := cli.Verb("revoke", func(cmd *cobra.Command, args []string) error {
		d, err := a.lookAtLedger(cmd.Context())
		if err != nil {
			return err
		}
		if d == nil {
			return ledger.NoToken(args[0])
		}
		return errors.Join(a.revokeToken(cmd.Context(), d, args[0], yes, dryRun), d.Close())
	})
	cli.AddPlanFlags(cmd, &yes, &dryRun, "show what would be revoked and revoke nothing")
	return cmd
}

func (a *app) revokeToken(ctx context.Context, d homeLedger, arg string, yes, dryRun bool) error {
	tokens, err := d.tokens(ctx, "")
	if err != nil {
		return err
	}
	t, err := ledger.PickToken(tokens, arg)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("token %s (%s, for %s)", t.ID, cli.OneLine(t.Name, 60), reach(t))
	if dryRun {
		return a.Out.Show(revocation{Token: t, DryRun: true}, func(w io.Writer) { fmt.Fprintln(w, "would revoke", name) })
	}
	if !t.RevokedAt.IsZero() {
		a.Out.Note("the token was revoked already, %s", a.Out.When(t.RevokedAt))
		return a.Out.Show(revocation{Token: t}, func(w io.Writer) { fmt.Fprintln(w, "revoked", name) })
	}
	if err := a.Confirm(yes, "revoke "+name); err != nil {
		return err
	}
	if t, err = d.end(ctx, t.ID); err != nil {
		return err
	}
	return a.Out.Show(revocation{Token: t, Revoked: true}, func(w io.Writer) { fmt.Fprintln(w, "revoked", name) })
}
