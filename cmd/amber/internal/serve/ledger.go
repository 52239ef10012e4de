package serve

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/wire"
)

// homeLedger is the audit log and the tokens of a home, here or of a server.
type homeLedger interface {
	ListAudit(ctx context.Context, q wire.AuditQuery) (amber.Page[wire.AuditEntry], error)
	VerifyAudit(ctx context.Context) (wire.AuditReport, error)
	tokens(ctx context.Context, tenant amber.TenantID) ([]wire.Token, error)
	// issue makes a token and hands out its secret with give. A token that cannot be
	// handed out is revoked.
	issue(ctx context.Context, r wire.TokenRequest, give func(wire.NewToken) error) (wire.Token, error)
	end(ctx context.Context, id wire.TokenID) (wire.Token, error)
	Close() error
}

// lookAtLedger opens the ledger of the server, or that of the home if there is one;
// otherwise it returns nil.
func (a *app) lookAtLedger(ctx context.Context) (homeLedger, error) {
	if a.Remote != nil {
		return servedLedger{a.Remote.Home()}, nil
	}
	d, err := a.LookAtHomeDB(ctx)
	if d == nil {
		return nil, err
	}
	return ownLedger{d}, err
}

// openLedger is lookAtLedger for what writes: a home that is missing is made.
func (a *app) openLedger(ctx context.Context) (homeLedger, error) {
	if a.Remote != nil {
		return a.lookAtLedger(ctx)
	}
	d, err := a.OpenHomeDB(ctx)
	if err != nil {
		return nil, err
	}
	return ownLedger{d}, nil
}

// ownLedger is the ledger of a home of this machine.
type ownLedger struct{ *ledger.DB }

func (l ownLedger) tokens(ctx context.Context, tenant amber.TenantID) ([]wire.Token, error) {
	return l.ListTokens(ctx, tenant)
}

func (l ownLedger) issue(ctx context.Context, r wire.TokenRequest, give func(wire.NewToken) error) (wire.Token, error) {
	return l.IssueToken(ctx, r, cliActor, give)
}

func (l ownLedger) end(ctx context.Context, id wire.TokenID) (wire.Token, error) {
	return l.EndToken(ctx, id, cliActor)
}

// servedLedger is the ledger of a server, as far as the token reaches.
type servedLedger struct{ *client.Client }

func (l servedLedger) tokens(ctx context.Context, tenant amber.TenantID) ([]wire.Token, error) {
	return l.ListTokens(ctx, tenant, "")
}

func (l servedLedger) issue(ctx context.Context, r wire.TokenRequest, give func(wire.NewToken) error) (wire.Token, error) {
	t, err := l.CreateToken(ctx, r)
	if err != nil {
		return t.Token, err
	}
	if err := give(t); err != nil {
		_, revokeErr := l.RevokeToken(context.WithoutCancel(ctx), t.ID)
		return t.Token, errors.Join(err, revokeErr)
	}
	return t.Token, nil
}

func (l servedLedger) end(ctx context.Context, id wire.TokenID) (wire.Token, error) {
	return l.RevokeToken(ctx, id)
}
