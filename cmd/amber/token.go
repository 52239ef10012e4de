package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/ledger"
)

func (a *app) tokenCommand() *cobra.Command {
	c := family("token", "Tokens that let others in",
		a.tokenCreateCommand(), a.tokenListCommand(), a.tokenRevokeCommand())
	c.Long = `A token lets a program use a served Amber: for one agent, one tenant or everything, and only for
what its scopes allow. Once a first token was made, nobody gets in without one, also from this
machine; that stays so when all of them are revoked.

Scopes: read, write, snapshot, restore, erase, admin. None implies another, but admin implies all.

Only a hash of the secret is kept: it is shown once, and nobody can show it again.`
	return c
}

// recordToken writes down what was done to a token.
func recordToken(ctx context.Context, d *ledger.DB, action string, t amber.Token) error {
	return d.Record(ctx, amber.AuditEntry{
		Tenant: t.Tenant, Agent: t.Agent, Actor: cliActor, Action: action, Subject: string(t.ID), Outcome: "ok",
	})
}

// reach says in words where a token is good.
func reach(t amber.Token) string {
	switch {
	case t.Tenant == "":
		return "every tenant"
	case t.Agent == "":
		return "every agent of " + string(t.Tenant)
	}
	return string(t.Tenant) + "/" + string(t.Agent)
}

func scopeNames(scopes []amber.TokenScope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ",")
}

// tokenState is how a token stands: good, expired or revoked.
func (p printer) tokenState(t amber.Token) string {
	switch {
	case !t.RevokedAt.IsZero():
		return "revoked"
	case !t.ExpiresAt.IsZero() && !amber.At(p.now()).Before(t.ExpiresAt):
		return "expired"
	}
	return "good"
}
