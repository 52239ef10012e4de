package ledger

import (
	"context"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// IssueToken makes a token, writes that into the audit log, and hands the secret
// out with give. A token that cannot be recorded or handed out is revoked. Errors:
// those of [DB.CreateToken], of the audit log and of give.
func (d *DB) IssueToken(ctx context.Context, r wire.TokenRequest, actor string, give func(wire.NewToken) error) (wire.Token, error) {
	t, err := d.CreateToken(ctx, r)
	if err != nil {
		return wire.Token{}, err
	}
	ctx = context.WithoutCancel(ctx) // the token exists, and what follows belongs to it
	if err = d.recordToken(ctx, "token.create", actor, t.Token); err == nil {
		err = give(t)
	}
	if err != nil {
		_, revokeErr := d.EndToken(ctx, t.ID, actor)
		return t.Token, errors.Join(err, revokeErr)
	}
	return t.Token, nil
}

// EndToken revokes a token and writes that into the audit log. Errors: not_found;
// those of the audit log.
func (d *DB) EndToken(ctx context.Context, id wire.TokenID, actor string) (wire.Token, error) {
	t, err := d.RevokeToken(ctx, id)
	if err != nil {
		return t, err
	}
	return t, d.recordToken(context.WithoutCancel(ctx), "token.revoke", actor, t)
}

func (d *DB) recordToken(ctx context.Context, action, actor string, t wire.Token) error {
	return d.Record(ctx, wire.AuditEntry{
		Tenant: t.Tenant, Agent: t.Agent, Actor: actor, Action: action, Subject: string(t.ID), Outcome: "ok",
	})
}

// minTokenID is how much of a token's id must be given at least.
const minTokenID = 4

// PickToken returns the one of some tokens whose id is text or begins with it. No
// error shows the text, which may be a secret. Errors: not_found; invalid when several
// ids begin with it, or it is a secret.
func PickToken(tokens []wire.Token, text string) (wire.Token, error) {
	var fits []wire.Token
	for _, t := range tokens {
		switch {
		case string(t.ID) == text:
			return t, nil
		case len(text) >= minTokenID && strings.HasPrefix(string(t.ID), text):
			fits = append(fits, t)
		}
	}
	switch len(fits) {
	case 0:
		return wire.Token{}, NoToken(text)
	case 1:
		return fits[0], nil
	}
	return wire.Token{}, amber.Errorf(amber.KindInvalid, "find token", "", "the ids of %d tokens begin with this; give more of the id", len(fits))
}

// NoToken is the error for a token that does not exist. It does not show the text,
// which may be a secret.
func NoToken(text string) error {
	e := amber.Errorf(amber.KindNotFound, "find token", "", "no token has this id")
	if strings.HasPrefix(text, secretPrefix) {
		e = amber.Errorf(amber.KindInvalid, "find token", "", "this is a secret, want the id of the token: the part between the underscores")
	}
	e.Hint = "amber token list"
	return e
}
