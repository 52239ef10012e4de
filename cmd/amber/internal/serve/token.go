package serve

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

func (a *app) tokenCommand() *cobra.Command {
	c := cli.Family("token", "Manage the tokens of the server",
		a.tokenCreateCommand(), a.tokenListCommand(), a.tokenRevokeCommand())
	c.Long = `A token lets a program use an Amber server: for one agent, one tenant or every tenant, and only for
what its scopes allow. Once the first token exists, every request needs one, also from this
machine; that stays so when all tokens are revoked.

Scopes: read, write, approve, snapshot, restore, erase, admin. admin includes all others.

Amber keeps only a hash of the secret, so the secret is shown once and never again.

With --remote they are the tokens of the server. That needs a token with the scope admin, which
sees, makes and revokes only tokens that reach no farther, allow no more and last no longer than
itself.`
	return c
}

// reach says in words which agents a token is for.
func reach(t wire.Token) string {
	where := string(t.Tenant) + "/" + string(t.Agent)
	switch {
	case t.Tenant == "":
		where = "every tenant"
	case t.Agent == "":
		where = "every agent of " + string(t.Tenant)
	}
	if t.Bound.None() {
		return where
	}
	return where + ", " + t.Bound.String()
}

func scopeNames(scopes []wire.TokenScope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ",")
}

// tokenState is how a token stands: good, expired or revoked.
func (a *app) tokenState(t wire.Token) string {
	switch {
	case !t.RevokedAt.IsZero():
		return "revoked"
	case !t.ExpiresAt.IsZero() && !amber.At(a.Out.Now()).Before(t.ExpiresAt):
		return "expired"
	}
	return "good"
}
