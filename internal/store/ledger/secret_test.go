package ledger_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// secret tells itself.
const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

func TestNoSecretIsWritten(t *testing.T) { both(t, testNoSecretIsWritten) }

// testNoSecretIsWritten names secrets where requests name things. The audit log, of which nothing can be taken out, says what
// was asked without them; keys of answers and names of tokens are refused.
func testNoSecretIsWritten(t *testing.T, p place) {
	d, ctx := p.open(t), t.Context()
	e := wire.AuditEntry{
		Tenant: "acme", Agent: "bob", Actor: "ci " + secret, Action: "memory.write", Subject: secret, Outcome: "invalid",
		RequestID: strings.Repeat("x", 190) + " " + secret,
	}
	must.Do(t, d.Record(ctx, e))
	page := must.Get(d.ListAudit(ctx, wire.AuditQuery{}))(t)
	got := page.Items[0]
	must.Equal(t, "subject", got.Subject, "[REDACTED:github-token]")
	must.Equal(t, "actor", got.Actor, "ci [REDACTED:github-token]")
	must.Hold(t, !strings.Contains(got.RequestID, secret[4:8]), "the request id is %q", got.RequestID)
	verified(t, d, 1)

	k := keyNamed(secret)
	_, err := d.BeginAnswer(ctx, k, "digest", true)
	must.Kind(t, "a key", err, amber.KindInvalid, "holds a secret")
	_, err = d.CreateToken(ctx, wire.TokenRequest{Name: secret, Scopes: wire.TokenScopes()})
	must.Kind(t, "a name", err, amber.KindInvalid, "holds a secret")
}
