package httpapi_test

import (
	"context"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/check"
	"github.com/amber-memory/amber/ledger"
	"github.com/amber-memory/amber/server/servertest"
	"github.com/amber-memory/amber/wire"
)

// door knows tokens and answers as the program does: by the database of a home.
type door struct {
	*ledger.DB
	t testing.TB
}

func newDoor(t testing.TB, c amber.Clock) door { return door{servertest.Ledger(t, c), t} }

func (d door) Grant(ctx context.Context, secret string) (wire.Grant, error) {
	return d.Authenticate(ctx, secret)
}

// token makes a token; ttl 0 is for ever.
func (d door) token(now time.Time, tenant amber.TenantID, agent amber.AgentID, ttl time.Duration, scopes ...wire.TokenScope) (string, wire.TokenID) {
	d.t.Helper()
	q := wire.TokenRequest{Name: "test", Tenant: tenant, Agent: agent, Scopes: scopes}
	if ttl > 0 {
		q.ExpiresAt = amber.At(now.Add(ttl))
	}
	made, err := d.CreateToken(context.Background(), q)
	check.OK(d.t, err)
	return made.Secret, made.ID
}
