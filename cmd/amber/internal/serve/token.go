package serve

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

func (a *app) tokenCommand() *cobra.Command {
	return cli.Family("token",
		a.tokenCreateCommand(), a.tokenListCommand(), a.tokenRevokeCommand())
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
