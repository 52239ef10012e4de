package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func newToken(t testing.TB, d *ledger.DB, r wire.TokenRequest) wire.NewToken {
	t.Helper()
	if r.Name == "" {
		r.Name = "ci"
	}
	if r.Scopes == nil {
		r.Scopes = []wire.TokenScope{wire.TokenWrite, wire.TokenRead}
	}
	return must.Get(d.CreateToken(t.Context(), r))(t)
}

func TestATokenGrantsWhatItWasMadeFor(t *testing.T) { both(t, testATokenGrantsWhatItWasMadeFor) }

func testATokenGrantsWhatItWasMadeFor(t *testing.T, p place) {
	d := p.open(t)
	must.Equal(t, "tokens of a new home", must.Get(d.HasTokens(t.Context()))(t), false)
	expires := amber.At(p.clock.Now().Add(time.Hour))
	made := newToken(t, d, wire.TokenRequest{Tenant: "acme", Agent: "bob", ExpiresAt: expires})
	scopes := []wire.TokenScope{wire.TokenRead, wire.TokenWrite}
	want := wire.Token{ID: made.ID, Name: "ci", Tenant: "acme", Agent: "bob", Scopes: scopes, CreatedAt: amber.At(p.clock.Now()), ExpiresAt: expires}
	must.Equal(t, "", made.Token, want, cmp.AllowUnexported(amber.Time{}))
	if !strings.HasPrefix(made.Secret, "amber_"+string(made.ID)+"_") || len(made.Secret) != 67 {
		t.Errorf("the secret has the form %d, %.15s", len(made.Secret), made.Secret)
	}
	grant := must.Get(p.open(t).Authenticate(t.Context(), made.Secret))(t)
	must.Equal(t, "", grant, wire.Grant{Token: made.ID, Name: "ci", Tenant: "acme", Agent: "bob", Scopes: scopes})
	other := newToken(t, d, wire.TokenRequest{Name: "everywhere"})
	must.Hold(t, other.ID != made.ID && other.Secret != made.Secret, "two tokens are the same")
	for tenant, want := range map[amber.TenantID]int{"": 2, "acme": 1, "nobody": 0} {
		if got := must.Get(d.ListTokens(t.Context(), tenant))(t); len(got) != want || got == nil {
			t.Errorf("tenant %q has %d tokens, want %d", tenant, len(got), want)
		}
	}
	must.Equal(t, "tokens", must.Get(d.HasTokens(t.Context()))(t), true)
}

func TestTokensThatMakeNoSenseAreInvalid(t *testing.T) { both(t, testTokensThatMakeNoSenseAreInvalid) }

func testTokensThatMakeNoSenseAreInvalid(t *testing.T, p place) {
	d := p.open(t)
	now := p.clock.Now()
	for name, r := range map[string]wire.TokenRequest{
		"no name":      {Scopes: wire.TokenScopes()},
		"no scope":     {Name: "x"},
		"wrong scope":  {Name: "x", Scopes: []wire.TokenScope{"root"}},
		"wrong tenant": {Name: "x", Scopes: wire.TokenScopes(), Tenant: "../x"},
		"past":         {Name: "x", Scopes: wire.TokenScopes(), ExpiresAt: amber.At(now.Add(-time.Second))},
		"now":          {Name: "x", Scopes: wire.TokenScopes(), ExpiresAt: amber.At(now)},
	} {
		must.Fail(d.CreateToken(t.Context(), r))(t, name, amber.KindInvalid)
	}
	must.Equal(t, "tokens after refused requests", must.Get(d.HasTokens(t.Context()))(t), false)
}

// refusals are secrets that are not valid, by what is wrong with them.
func refusals(t *testing.T, p place, d *ledger.DB) map[string]string {
	t.Helper()
	good := newToken(t, d, wire.TokenRequest{})
	expired := newToken(t, d, wire.TokenRequest{ExpiresAt: amber.At(p.clock.Now().Add(time.Minute))})
	revoked := newToken(t, d, wire.TokenRequest{})
	must.Get(p.open(t).RevokeToken(t.Context(), revoked.ID))(t) // by another process
	p.clock.Advance(time.Minute)
	at := len("amber_") + len(good.ID) + 1
	flipped := []byte(good.Secret)
	flipped[at] ^= 1
	if flipped[at] < 'a' || flipped[at] > 'z' {
		flipped[at] = 'b'
	}
	last := []byte(good.Secret) // the same 32 bytes, written in another way
	last[len(last)-1]++
	return map[string]string{
		"unknown id":     "amber_" + strings.Repeat("a", 8) + good.Secret[at-1:],
		"wrong":          string(flipped),
		"another's":      good.Secret[:at] + revoked.Secret[at:],
		"expired":        expired.Secret,
		"revoked":        revoked.Secret,
		"empty":          "",
		"too short":      good.Secret[:len(good.Secret)-1],
		"too long":       good.Secret + "a",
		"huge":           strings.Repeat("a", 10<<20),
		"upper case":     strings.ToUpper(good.Secret),
		"space":          good.Secret[:len(good.Secret)-1] + " ",
		"without prefix": "xmber_" + good.Secret[6:],
		"last bits":      string(last),
		"NUL":            good.Secret[:at] + "\x00" + good.Secret[at+1:],
		"not UTF-8":      good.Secret[:at] + "\xff" + good.Secret[at+1:],
	}
}

func TestEveryRefusalHasTheSameWords(t *testing.T) { both(t, testEveryRefusalHasTheSameWords) }

func testEveryRefusalHasTheSameWords(t *testing.T, p place) {
	d := p.open(t)
	for name, secret := range refusals(t, p, d) {
		grant, err := d.Authenticate(t.Context(), secret)
		must.Kind(t, name, err, amber.KindRefused)
		if err == nil || err.Error() != "authenticate: the token is not valid" || amber.HintOf(err) != "" || len(grant.Scopes) != 0 {
			t.Errorf("%s: %v, hint %q", name, err, amber.HintOf(err))
		}
	}
}

func TestRevokingTwiceDoesNothing(t *testing.T) { both(t, testRevokingTwiceDoesNothing) }

func testRevokingTwiceDoesNothing(t *testing.T, p place) {
	d := p.open(t)
	made := newToken(t, d, wire.TokenRequest{})
	first := must.Get(d.RevokeToken(t.Context(), made.ID))(t)
	p.clock.Advance(time.Hour)
	second := must.Get(d.RevokeToken(t.Context(), made.ID))(t)
	if first.RevokedAt.IsZero() || second.RevokedAt != first.RevokedAt {
		t.Errorf("revoked at %s, then at %s", first.RevokedAt, second.RevokedAt)
	}
	must.Equal(t, "tokens after the only one was revoked", must.Get(d.HasTokens(t.Context()))(t), true)
	for _, id := range []wire.TokenID{"", "aaaaaaaa", "AAAAAAAA", wire.TokenID(strings.Repeat("a", 1<<20)), "'; --aaa"} {
		must.Fail(d.RevokeToken(t.Context(), id))(t, fmt.Sprintf("%.10q", id), amber.KindNotFound)
	}
}

func TestTheDatabaseNeverHoldsASecret(t *testing.T) { both(t, testTheDatabaseNeverHoldsASecret) }

func testTheDatabaseNeverHoldsASecret(t *testing.T, p place) {
	d := p.open(t)
	var secrets []string
	for range 20 {
		made := newToken(t, d, wire.TokenRequest{})
		must.Get(d.Authenticate(t.Context(), made.Secret))(t)
		record(t, d, string(made.ID))
		secrets = append(secrets, made.Secret)
	}
	before := p.bytes(t) // with a log
	must.Do(t, d.Close())
	_, err := d.Authenticate(t.Context(), secrets[0])
	must.Kind(t, "a closed database", err, amber.KindInvalid)
	everything := append(before, p.bytes(t)...)
	everything = append(everything, err.Error()...)
	for _, s := range secrets {
		random := s[len(s)-52:]
		for part := range 52 - 12 {
			if bytes.Contains(everything, []byte(random[part:part+12])) {
				t.Fatalf("12 characters from %d of the random part are there", part)
			}
		}
	}
}

// Errors of every call that gets a secret tell nothing of it, whatever is wrong.
func TestErrorsNeverHoldASecret(t *testing.T) { both(t, testErrorsNeverHoldASecret) }

func testErrorsNeverHoldASecret(t *testing.T, p place) {
	d := p.open(t)
	made := newToken(t, d, wire.TokenRequest{})
	random := made.Secret[len(made.Secret)-52:]
	const rename = `ALTER TABLE tokens RENAME TO gone`
	p.do(t, rename, rename) // no other test takes the database after it
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ctx := range map[string]context.Context{"no table": t.Context(), "canceled": canceled} {
		_, err := d.Authenticate(ctx, made.Secret)
		must.Hold(t, err != nil && amber.KindOf(err) != amber.KindRefused, "%s: %v", name, err)
		for e := err; e != nil; e = errors.Unwrap(e) {
			if text := fmt.Sprintf("%v %+v %#v", e, e, e); strings.Contains(text, random[:8]) {
				t.Errorf("%s: it is in %s", name, text)
			}
		}
	}
}

func TestUseOfATokenIsKnownToTheMinute(t *testing.T) { both(t, testUseOfATokenIsKnownToTheMinute) }

func testUseOfATokenIsKnownToTheMinute(t *testing.T, p place) {
	made := newToken(t, p.open(t), wire.TokenRequest{})
	for i, want := range []string{"2026-01-02T03:04:00.000Z", "2026-01-02T03:04:00.000Z", "2026-01-02T03:05:00.000Z"} {
		d := p.open(t)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				must.NoError(t, must.Err(d.Authenticate(t.Context(), made.Secret)))
			})
		}
		wg.Wait()
		must.Do(t, d.Close()) // waits until it is written
		got := must.Get(p.open(t).ListTokens(t.Context(), ""))(t)[0].LastUsedAt
		must.Equal(t, fmt.Sprintf("last use after round %d", i), got.String(), want)
		p.clock.Advance(30 * time.Second)
	}
}

// Authentication does not wait for the write lock, whichever process holds it.
func TestAuthenticationWaitsForNobody(t *testing.T) { both(t, testAuthenticationWaitsForNobody) }

func testAuthenticationWaitsForNobody(t *testing.T, p place) {
	d := p.open(t)
	made := newToken(t, d, wire.TokenRequest{})
	unlock := p.lock(t, "tokens")
	for range 3 {
		must.Get(d.Authenticate(t.Context(), made.Secret))(t)
		p.clock.Advance(time.Hour)
	}
	unlock()
	must.Do(t, d.Close())
	if got := must.Get(p.open(t).ListTokens(t.Context(), ""))(t)[0].LastUsedAt; got.IsZero() {
		t.Error("its use is not known")
	}
}

// TestTokenThatCannotBeHandedOutIsRevoked: the caller never got the secret, so no caller may use
// the token.
func TestTokenThatCannotBeHandedOutIsRevoked(t *testing.T) {
	both(t, testTokenThatCannotBeHandedOutIsRevoked)
}

func testTokenThatCannotBeHandedOutIsRevoked(t *testing.T, p place) {
	d := p.open(t)
	full := errors.New("the disk is full")
	token, err := d.IssueToken(t.Context(), wire.TokenRequest{Name: "ci", Scopes: []wire.TokenScope{wire.TokenRead}}, "cli", func(wire.NewToken) error { return full })
	if !errors.Is(err, full) {
		t.Fatalf("got %v, want the error of the file", err)
	}
	if found := must.Get(ledger.PickToken(must.Get(d.ListTokens(t.Context(), ""))(t), string(token.ID)[:4]))(t); found.RevokedAt.IsZero() {
		t.Errorf("got %+v, want a revoked token", found)
	}
	page, err := d.ListAudit(t.Context(), wire.AuditQuery{Limit: 10})
	if err != nil || len(page.Items) != 2 || page.Items[0].Action != "token.revoke" || page.Items[1].Action != "token.create" {
		t.Errorf("the audit log has %+v, %v", page.Items, err)
	}
}
