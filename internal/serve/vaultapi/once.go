package vaultapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/wire"
)

const keyHeader = "Idempotency-Key"

// once answers a request. A change that carries a key and was answered before gets the same answer again, and
// nothing is done. A caller that may not change anything is refused, also where another caller got an answer for
// the key.
func (h *Handler) once(c *call) (answer, error) {
	keys := c.Header.Values(keyHeader)
	if len(keys) == 0 || c.op.action == "" || !c.who.Grant.Has(c.op.scope) {
		return h.act(c)
	}
	if len(keys) > 1 || amber.CheckID("idempotency key", keys[0]) != nil {
		return answer{}, badInput(fmt.Sprintf("Idempotency-Key is not valid: want 1 to %d printable characters", amber.MaxIDBytes))
	}
	if h.o.Answers == nil {
		return answer{}, amber.Errorf(amber.KindUnsupported, c.op.action, "", "this server does not support Idempotency-Key for this operation")
	}
	g := c.who.Grant
	k := wire.AnswerKey{Tenant: string(g.Tenant), Agent: string(g.Agent), Operation: c.op.action, Key: keys[0]}
	before, err := h.o.Answers.BeginAnswer(c.Context(), k, c.digest(), c.repeatable())
	switch {
	case errors.Is(err, wire.ErrKeyUsed):
		return answer{}, newProblem(http.StatusConflict, "idempotency_payload_mismatch", "The Idempotency-Key was used for another request")
	case err != nil:
		return answer{}, err
	case before.Done:
		c.w.Header().Set("Idempotent-Replayed", "true")
		return replay(before)
	}
	defer h.o.Answers.LeaveAnswer(k)
	return h.keep(c, k)
}

// repeatable reports whether doing it again has the same result as doing it once. A
// condition that held the first time does not hold again.
func (c *call) repeatable() bool {
	return c.op.repeatable && len(c.Header.Values("If-Match"))+len(c.Header.Values("If-None-Match")) == 0
}

// keep does what is asked for, and keeps the answer.
func (h *Handler) keep(c *call, k wire.AnswerKey) (answer, error) {
	a, err := h.act(c)
	late := context.WithoutCancel(c.Context()) // the change is made, even if the caller has gone
	lost := errors.Is(err, amber.ErrUnknownOutcome)
	if err != nil && (!c.done && !lost || c.repeatable()) {
		if aerr := h.o.Answers.AbandonAnswer(late, k); aerr != nil {
			h.o.Log.WarnContext(late, "abandon answer", "error", aerr)
		}
		return answer{}, err
	}
	kept := a
	switch { // it may not be done twice
	case err == nil:
	case c.done: // it is not in the audit log
		kept = answer{Status: http.StatusConflict, Body: json.RawMessage(doneBefore)}
	default:
		kept = answer{Status: http.StatusConflict, Body: json.RawMessage(begunBefore)}
	}
	b, kerr := strictjson.Line(kept)
	if kerr == nil {
		kerr = h.o.Answers.FinishAnswer(late, k, kept.Status, b)
	}
	if kerr != nil {
		h.o.Log.WarnContext(late, "keep answer", "error", kerr)
	}
	return a, err
}

// doneBefore is the answer to a caller that repeats a request that was done and is not in the audit log.
const doneBefore = `{"detail":{"code":"CONFLICT","message":"The request was carried out before, but could not be written to the audit log"}}`

// begunBefore is the answer to a caller that repeats a request of which the server does not know whether it was
// done.
const begunBefore = `{"detail":{"code":"CONFLICT","message":"The request was begun before and the database was lost; whether it was done is not known"}}`

// replay is the answer that was given before.
func replay(b wire.Answer) (a answer, err error) {
	if b.Blank {
		return answer{}, newProblem(http.StatusConflict, "CONFLICT", "The request was carried out before; its answer is not kept any more")
	}
	if err := json.Unmarshal(b.Body, &a); err != nil {
		return answer{}, &amber.Error{Op: "repeat answer", Kind: amber.KindDamaged, Err: err}
	}
	return a, nil
}

// digest distinguishes requests with the same key.
func (c *call) digest() string {
	h := sha256.New()
	for _, s := range []string{c.Method, c.URL.EscapedPath(), c.Header.Get("If-Match"), c.Header.Get("If-None-Match")} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	h.Write(c.body.raw)
	if !c.who.MayRead() {
		h.Write([]byte{0}) // a caller without the scope read never gets the answer of one that has it
	}
	return hex.EncodeToString(h.Sum(nil))
}
