package ledger_test

import (
	"errors"
	"testing"

	"github.com/amber-memory/amber/wire"
)

// TestTokenThatCannotBeHandedOutIsRevoked: nobody has the secret, so nobody may use
// the token.
func TestTokenThatCannotBeHandedOutIsRevoked(t *testing.T) {
	t.Parallel()
	d := newPlace(t).open(t)
	full := errors.New("the disk is full")
	token, err := d.IssueToken(t.Context(), wire.TokenRequest{Name: "ci", Scopes: []wire.TokenScope{wire.TokenRead}}, "cli", func(wire.NewToken) error { return full })
	if !errors.Is(err, full) {
		t.Fatalf("got %v, want the error of the file", err)
	}
	found, err := d.FindToken(t.Context(), string(token.ID)[:4])
	if err != nil || found.RevokedAt.IsZero() {
		t.Errorf("got %+v, %v, want a revoked token", found, err)
	}
	page, err := d.ListAudit(t.Context(), wire.AuditQuery{Limit: 10})
	if err != nil || len(page.Items) != 2 || page.Items[0].Action != "token.revoke" || page.Items[1].Action != "token.create" {
		t.Errorf("the audit log has %+v, %v", page.Items, err)
	}
}
