package vaultapi

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// exchange gives an access token for an API key.
func (h *Handler) exchange(c *call) (answer, error) {
	b, err := h.readBody(c)
	if err != nil {
		return answer{}, err
	}
	secret, err := b.text("api_key", 1, maxKey)
	if err != nil {
		return answer{}, err
	}
	if _, err := h.grant(c.Context(), secret, "AUTH_INVALID_TOKEN", "Invalid API key"); err != nil {
		return answer{}, err
	}
	token, err := h.seal.close(secret, h.o.Clock())
	if err != nil {
		return answer{}, err
	}
	c.w.Header().Set("Cache-Control", "no-store")
	return newAnswer("", struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
	}{token, "bearer"})
}

// caller finds out who asks. The secret inside of an access token is asked for
// with every request, so that one that was revoked is of no use at once.
func (h *Handler) caller(r *http.Request) (op.Caller, error) {
	secret, ok := h.seal.open(bearer(r), h.o.Clock())
	if !ok {
		if h.o.Failed != nil {
			h.o.Failed()
		}
		return op.Caller{}, unauthorized("AUTH_INVALID_TOKEN", "Invalid token")
	}
	g, err := h.grant(r.Context(), secret, "AUTH_TOKEN_REVOKED", "The API key of this token is not valid any more")
	return op.Caller{Grant: g, RequestID: r.Header.Get(requestIDHeader)}, err
}

// bearer returns the one token of a request, "" when there is none or there are
// several.
func bearer(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// grant returns what a key is for: one agent. Code and message are those of a
// key that is not known.
func (h *Handler) grant(ctx context.Context, secret, code, message string) (wire.Grant, error) {
	g, err := h.o.Grant(ctx, secret)
	switch {
	case amber.KindOf(err) == amber.KindRefused:
		return g, unauthorized(code, message)
	case err != nil:
		return g, err
	case !g.Bound.None():
		return g, newProblem(http.StatusForbidden, "AUTH_AGENT_ONLY", "A vault holds files of the whole agent, and the token is bound to "+g.Bound.String())
	case g.Tenant == "" || g.Agent == "":
		return g, newProblem(http.StatusForbidden, "AUTH_AGENT_ONLY", "Only a token for one agent has a vault: amber token create NAME --tenant T --agent A")
	}
	return g, nil
}

func unauthorized(code, message string) error {
	return newProblem(http.StatusUnauthorized, code, message)
}

// tokenLife is how long an access token is good for.
const tokenLife = 24 * time.Hour

// seal makes access tokens of API keys and reads them. A token is the key and the
// instant it ends, encrypted with a key that this process has made up, or that all servers of a
// database share. With one that was made up nothing is kept, and after a restart clients exchange their keys again.
type seal struct {
	aead   cipher.AEAD
	random io.Reader
}

// newSeal makes a seal of a key of 32 bytes; nil makes one up.
func newSeal(key []byte, random io.Reader) (*seal, error) {
	if key == nil {
		key = make([]byte, 32)
		if _, err := io.ReadFull(random, key); err != nil {
			return nil, &amber.Error{Op: "make key", Kind: amber.KindInternal, Err: err}
		}
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, &amber.Error{Op: "make key", Kind: amber.KindInternal, Err: err}
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, &amber.Error{Op: "make key", Kind: amber.KindInternal, Err: err}
	}
	return &seal{aead, random}, nil
}

// close returns the access token of a secret.
func (s *seal) close(secret string, now time.Time) (string, error) {
	nonce := make([]byte, s.aead.NonceSize())
	if _, err := io.ReadFull(s.random, nonce); err != nil {
		return "", &amber.Error{Op: "make token", Kind: amber.KindInternal, Err: err}
	}
	plain := binary.BigEndian.AppendUint64(nil, uint64(now.Add(tokenLife).UnixMilli()))
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, append(plain, secret...), nil)), nil
}

// open returns the secret of an access token that is one and has not ended.
func (s *seal) open(token string, now time.Time) (secret string, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) < s.aead.NonceSize() {
		return "", false
	}
	plain, err := s.aead.Open(nil, b[:s.aead.NonceSize()], b[s.aead.NonceSize():], nil)
	if err != nil || len(plain) < 8 {
		return "", false
	}
	ends := time.UnixMilli(int64(binary.BigEndian.Uint64(plain)))
	return string(plain[8:]), now.Before(ends)
}
