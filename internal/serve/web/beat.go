package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"time"

	"github.com/amber-memory/amber"
)

// maxChallenge bounds what a server is asked to prove itself by.
const maxChallenge = 128

func beatRoutes(p *Page) {
	p.handle("GET "+Root+"/-/beat", false, (*visit).beat)
	p.handle("GET "+Root+"/-/proof", false, (*visit).proof)
}

// beat answers with a stream of nothing for as long as a tab is open: the server has no other way to see that a
// person reads a page.
func (v *visit) beat() error {
	if !v.p.o.Beat { // strangers would keep connections for nothing
		return amber.Errorf(amber.KindNotFound, "keep tab", "", "this server does not count open tabs")
	}
	rc := http.NewResponseController(v.w)
	v.w.Header().Set("Content-Type", "text/event-stream")
	_ = rc.SetReadDeadline(time.Time{}) // a tab may be open for days
	if _, err := io.WriteString(v.w, ": open\n\n"); err != nil {
		return nil // the visitor is gone
	}
	if err := rc.Flush(); err != nil {
		return &amber.Error{Op: "keep tab", Kind: amber.KindInternal, Err: err}
	}
	select {
	case <-v.r.Context().Done():
	case <-v.p.ending.Done():
	}
	return nil
}

// EndStreams ends the streams by which tabs show that they are open. Call it when the server accepts no new
// visitors.
func (p *Page) EndStreams() { p.end() }

// proof shows that this server has the secret of a home without telling it: see [Options].
func (v *visit) proof() error {
	challenge := v.query("challenge")
	if v.p.o.Secret == "" || challenge == "" || len(challenge) > maxChallenge {
		return amber.Errorf(amber.KindNotFound, "prove", "", "there is nothing to prove: want a challenge of 1 to %d bytes", maxChallenge)
	}
	v.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(v.w, Proof(v.p.o.Secret, challenge)) // the visitor may be gone
	return nil
}

// Proof is what a server with a secret answers to a challenge.
func Proof(secret, challenge string) string {
	m := hmac.New(sha256.New, []byte(secret))
	_, _ = io.WriteString(m, challenge) // it never fails
	return hex.EncodeToString(m.Sum(nil))
}
