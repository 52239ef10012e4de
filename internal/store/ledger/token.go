package ledger

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"errors"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/wire"
)

const (
	tokenColumns = `id, name, tenant, agent, scopes, created_at, expires_at, revoked_at, last_used_at`

	insertToken = `INSERT INTO tokens (id, name, tenant, agent, scopes, hash, created_at, expires_at, revoked_at, last_used_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0) ON CONFLICT (id) DO NOTHING`
	selectTokens   = `SELECT ` + tokenColumns + ` FROM tokens WHERE ?1 = '' OR tenant = ?1 ORDER BY ordinal`
	selectToken    = `SELECT ` + tokenColumns + ` FROM tokens WHERE id = ?`
	selectSecret   = `SELECT ` + tokenColumns + `, hash FROM tokens WHERE id = ?`
	revokeToken    = `UPDATE tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at = 0`
	selectAnyToken = `SELECT EXISTS (SELECT 1 FROM tokens)`
)

// CreateToken makes a token and returns it with its secret, which is shown this
// once. Errors: invalid.
func (d *DB) CreateToken(ctx context.Context, r wire.TokenRequest) (wire.NewToken, error) {
	const op = "create token"
	r, err := r.Normalize()
	if err == nil {
		err = intake.CheckNames("name", r.Name, "tenant id", string(r.Tenant), "agent id", string(r.Agent))
	}
	if err != nil {
		return wire.NewToken{}, err
	}
	s, err := newSecret(d.random)
	if err != nil {
		return wire.NewToken{}, &amber.Error{Op: op, Kind: amber.KindInternal, Err: err}
	}
	out := wire.NewToken{Secret: s.reveal()}
	err = d.update(ctx, op, "", lockTokens, func(t *tx) error {
		if !r.ExpiresAt.IsZero() && !t.now.Before(r.ExpiresAt) {
			return amber.Errorf(amber.KindInvalid, op, "", "the token would expire in the past")
		}
		out.Token = wire.Token{
			ID: s.id, Name: r.Name, Tenant: r.Tenant, Agent: r.Agent, Scopes: r.Scopes,
			CreatedAt: t.now, ExpiresAt: r.ExpiresAt, Bound: r.Bound,
		}
		hash := s.hash()
		n, err := t.exec(insertToken, out.ID, out.Name, out.Tenant, out.Agent, writeScopes(out.Scopes, out.Bound), hash[:],
			out.CreatedAt.UnixMilli(), out.ExpiresAt.UnixMilli())
		if err == nil && n == 0 {
			err = amber.Errorf(amber.KindInternal, op, "", "a token has the same id; the random source is broken")
		}
		return err
	})
	if err != nil {
		return wire.NewToken{}, err
	}
	return out, nil
}

// ListTokens returns the tokens of a tenant, or of everybody for "", oldest
// first, also revoked and expired ones. The list is never nil.
func (d *DB) ListTokens(ctx context.Context, tenant amber.TenantID) ([]wire.Token, error) {
	tokens := []wire.Token{}
	err := d.view(ctx, "list tokens", "", func(t *tx) error {
		return t.each(selectTokens, []any{tenant}, func(s scanner) error {
			token, err := scanToken(s)
			tokens = append(tokens, token)
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return tokens, nil
}

// RevokeToken ends a token. Revoking it twice does nothing. Errors: not_found.
func (d *DB) RevokeToken(ctx context.Context, id wire.TokenID) (token wire.Token, err error) {
	const op = "revoke token"
	if len(id) != idChars || !isBase32(string(id)) {
		return wire.Token{}, noToken(op, "")
	}
	err = d.update(ctx, op, string(id), lockTokens, func(t *tx) error {
		if _, err := t.exec(revokeToken, id, t.now.UnixMilli()); err != nil {
			return err
		}
		token, err = scanToken(t.row(selectToken, id))
		if errors.Is(err, sql.ErrNoRows) {
			return noToken(op, string(id))
		}
		return err
	})
	if err != nil {
		return wire.Token{}, err
	}
	return token, nil
}

func noToken(op, id string) error {
	return amber.Errorf(amber.KindNotFound, op, id, "the token does not exist").WithHint("amber token list")
}

// HasTokens reports whether a token was ever made, revoked and expired ones
// too.
func (d *DB) HasTokens(ctx context.Context) (has bool, err error) {
	err = d.view(ctx, "look for tokens", "", func(t *tx) error { return t.row(selectAnyToken).Scan(&has) })
	return has, err
}

const touchToken = `UPDATE tokens SET last_used_at = last_used_at WHERE id = (SELECT min(id) FROM tokens)`

// Writable returns nil where a change can be stored now: it stores one that changes nothing.
func (d *DB) Writable(ctx context.Context) error {
	return d.update(ctx, "look whether changes can be stored", "", lockTokens, func(t *tx) error {
		_, err := t.exec(touchToken)
		return err
	})
}

// Authenticate returns what a secret grants. Errors: refused, with the same
// words whether it is unknown, wrong, expired or revoked; those of the database
// are of other kinds.
func (d *DB) Authenticate(ctx context.Context, text string) (wire.Grant, error) {
	leave, err := d.enter()
	if err != nil {
		return wire.Grant{}, err
	}
	defer leave()
	s, ok := parseSecret(text)
	if !ok {
		return wire.Grant{}, refused()
	}
	token, hash, err := d.findSecret(ctx, s.id)
	if err != nil {
		return wire.Grant{}, err
	}
	given := s.hash()
	same := subtle.ConstantTimeCompare(given[:], hash) == 1
	now := amber.At(d.clock())
	expired := !token.ExpiresAt.IsZero() && !now.Before(token.ExpiresAt)
	if !same || token.ID == "" || expired || !token.RevokedAt.IsZero() {
		return wire.Grant{}, refused()
	}
	d.uses.note(d, token, now)
	return token.Grant(), nil
}

// findSecret returns a token and what is stored of its secret. For an id that
// is not there that is the hash of nothing, so that the same work follows.
func (d *DB) findSecret(ctx context.Context, id wire.TokenID) (token wire.Token, hash []byte, err error) {
	err = d.engine.view(ctx, "authenticate", "", func(t *tx) error {
		token, err = scanToken(t.row(selectSecret, id), &hash)
		return err
	})
	var e *amber.Error
	if errors.As(err, &e) && errors.Is(e.Err, sql.ErrNoRows) {
		nothing := sha256.Sum256(nil)
		return wire.Token{}, nothing[:], nil
	}
	if amber.KindOf(err) == amber.KindRefused { // the files are refused to this process, not its caller
		err = &amber.Error{Op: e.Op, Kind: amber.KindInternal, Err: err, Hint: e.Hint}
	}
	return token, hash, err
}

func refused() error {
	return amber.Errorf(amber.KindRefused, "authenticate", "", "the token is not valid")
}

// scanToken reads the columns of a token and what follows them.
func scanToken(s scanner, more ...any) (t wire.Token, err error) {
	var scopes string
	var created, expires, revoked, used int64
	err = s.Scan(append([]any{&t.ID, &t.Name, &t.Tenant, &t.Agent, &scopes, &created, &expires, &revoked, &used}, more...)...)
	if err != nil {
		return wire.Token{}, err
	}
	t.CreatedAt, t.ExpiresAt = amber.UnixMilli(created), amber.UnixMilli(expires)
	t.RevokedAt, t.LastUsedAt = amber.UnixMilli(revoked), amber.UnixMilli(used)
	t.Scopes, t.Bound, err = readScopes(scopes)
	return t, err
}

// RevokeAgain revokes those tokens of a list that are good, and returns them.
func (d *DB) RevokeAgain(ctx context.Context, revoked []string) (again []wire.Token, err error) {
	all, err := d.ListTokens(ctx, "")
	for _, t := range all {
		if err == nil && t.RevokedAt.IsZero() && slices.Contains(revoked, string(t.ID)) {
			_, err = d.RevokeToken(ctx, t.ID)
			again = append(again, t)
		}
	}
	return again, err
}
