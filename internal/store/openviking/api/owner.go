package api

import (
	"context"
	"crypto/sha256"
	"net/http"
	"sync/atomic"

	"github.com/amber-memory/amber"
)

// Owner is a user of an account.
type Owner struct{ Account, User string }

// proof remembers the digest of the last key whose owner was seen to be the right one.
type proof struct {
	atomic.Pointer[[sha256.Size]byte]
	owner atomic.Pointer[Owner] // of the first key
}

// first returns the owner of the first key.
func (p *proof) first(o Owner) Owner {
	p.owner.CompareAndSwap(nil, &o)
	return *p.owner.Load()
}

func (p *proof) keep(key string) {
	sum := sha256.Sum256([]byte(key))
	p.Store(&sum)
}

func (p *proof) holds(key string) bool {
	sum := p.Load()
	return sum != nil && *sum == sha256.Sum256([]byte(key))
}

// owned makes sure that a key is that of the owner before anything is sent with it: with a key in
// the wrong place, memories would go to another tenant. Errors: refused.
func (c *Client) owned(ctx context.Context, r request, key string) error {
	if !c.o.SameOwner && c.o.Owner == (Owner{}) || c.proof.holds(key) {
		return nil
	}
	_, err := c.health(ctx, request{op: r.op, method: http.MethodGet, path: healthPath, id: r.id, key: key})
	return err
}

// prove checks what a server says about a key.
func (c *Client) prove(r request, h Health) error {
	want := c.o.Owner
	if c.o.SameOwner && h.Account != "" {
		want = c.proof.first(Owner{h.Account, h.User})
	}
	switch {
	case want == Owner{} && !c.o.SameOwner:
	case h.Account == "":
		return c.fail(r, amber.KindRefused, "the server does not know the key")
	case h.Account != want.Account || h.User != want.User:
		return c.fail(r, amber.KindRefused, "the key is that of user %q in account %q, want user %q in account %q", h.User, h.Account, want.User, want.Account)
	default:
		c.proof.keep(r.key)
	}
	return nil
}
