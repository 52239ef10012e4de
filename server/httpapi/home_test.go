package httpapi_test

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/ledger"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// door knows tokens and answers as the program does: by the database of a home.
type door struct {
	*ledger.DB
	t testing.TB
}

func newDoor(t testing.TB, c amber.Clock) door {
	t.Helper()
	db, err := ledger.Open(context.Background(), filepath.Join(t.TempDir(), "home.db"), ledger.Options{Clock: c, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return door{db, t}
}

func (d door) Grant(ctx context.Context, secret string) (wire.Grant, error) {
	return d.Authenticate(ctx, secret)
}

func (d door) LeaveAnswer(k server.AnswerKey) { d.DB.LeaveAnswer(ledger.AnswerKey(k)) }

func (d door) BeginAnswer(ctx context.Context, k server.AnswerKey, digest string, repeatable bool) (server.Answer, error) {
	a, err := d.DB.BeginAnswer(ctx, ledger.AnswerKey(k), digest, repeatable)
	return server.Answer(a), err
}

func (d door) FinishAnswer(ctx context.Context, k server.AnswerKey, status int, body []byte) error {
	return d.DB.FinishAnswer(ctx, ledger.AnswerKey(k), status, body)
}

func (d door) AbandonAnswer(ctx context.Context, k server.AnswerKey) error {
	return d.DB.AbandonAnswer(ctx, ledger.AnswerKey(k))
}

// token makes a token; ttl 0 is for ever.
func (d door) token(now time.Time, tenant amber.TenantID, agent amber.AgentID, ttl time.Duration, scopes ...wire.TokenScope) (string, wire.TokenID) {
	d.t.Helper()
	q := wire.TokenRequest{Name: "test", Tenant: tenant, Agent: agent, Scopes: scopes}
	if ttl > 0 {
		q.ExpiresAt = amber.At(now.Add(ttl))
	}
	made, err := d.CreateToken(context.Background(), q)
	if err != nil {
		d.t.Fatal(err)
	}
	return made.Secret, made.ID
}
