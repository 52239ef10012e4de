package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// once answers a request. A request that carries a key and was answered before gets the same answer again, and
// nothing is done. Body distinguishes the request from others with its key; do does the operation, for a second
// time where again is set.
func (q *request) once(body []byte, do func(ctx context.Context, again bool) (response, error)) {
	resp, err := q.answerOnce(q.r.Context(), body, do)
	if err != nil {
		q.api.fail(q.w, q.r, err)
		return
	}
	q.api.send(q.w, q.r, resp)
}

func (q *request) answerOnce(ctx context.Context, body []byte, do func(ctx context.Context, again bool) (response, error)) (response, error) {
	key := q.r.Header.Get(op.KeyHeader)
	if key == "" || q.Is(op.OwnKey) || !q.Is(op.Changes) {
		return do(ctx, false)
	}
	if err := amber.CheckID("idempotency key", key); err != nil {
		return response{}, err
	}
	answers := q.api.o.Answers
	if answers == nil {
		return response{}, amber.Errorf(amber.KindUnsupported, q.ID, "", "this server does not support Idempotency-Key for this operation")
	}
	k := q.answerKey(key)
	before, err := answers.BeginAnswer(ctx, k, q.digest(body), q.MayRepeat(q.in))
	if err != nil {
		return response{}, err
	}
	if before.Done && before.Blank && q.MayRepeat(q.in) && q.Is(op.Lasting) {
		return do(ctx, true) // what was answered is not kept; doing it again gives it
	}
	if before.Done {
		q.w.Header().Set("Idempotent-Replayed", "true")
		return replay(q.ID, before)
	}
	defer answers.LeaveAnswer(k)
	resp, err := do(ctx, false)
	late := context.WithoutCancel(ctx) // the change is made, even if the caller has gone
	log := q.api.o.Log
	if err != nil {
		if aerr := q.unanswered(late, k, err); aerr != nil {
			log.WarnContext(ctx, "abandon answer", "error", aerr, "request_id", requestID(q.w))
		}
		return response{}, err
	}
	if err := q.keep(late, k, resp); err != nil {
		log.WarnContext(ctx, "keep answer", "error", err, "request_id", requestID(q.w))
	}
	return resp, nil
}

// answerKey is what an answer is kept under. Keys of the home are those of callers
// with one reach, and those of a bound caller are those of callers with the same bound.
func (q *request) answerKey(key string) wire.AnswerKey {
	g := q.who.Grant
	k := wire.AnswerKey{Tenant: q.r.PathValue("tenant"), Agent: q.r.PathValue("agent"), Operation: q.ID, Key: g.Bound.Key(key)}
	if q.Is(op.OfHome) {
		k.Tenant, k.Agent = string(g.Tenant), string(g.Agent)
	}
	return k
}

// keep keeps an answer for a key.
func (q *request) keep(ctx context.Context, k wire.AnswerKey, resp response) error {
	if resp.kept != nil {
		resp.Body = resp.kept
	}
	b, err := marshal(resp)
	if err != nil {
		return err
	}
	return q.api.o.Answers.FinishAnswer(ctx, k, resp.Status, b)
}

// unrecorded is the error of what was done and could not be written down.
type unrecorded struct{ error }

func (u unrecorded) Unwrap() error { return u.error }

// unanswered ends a request that failed. The caller may try it again with the same key, unless the request was
// done, or may have been, and may not be done twice: then the same key gets an error that says so.
func (q *request) unanswered(ctx context.Context, k wire.AnswerKey, err error) error {
	var done unrecorded
	var why *amber.Error
	switch {
	case q.MayRepeat(q.in):
	case errors.As(err, &done):
		why = amber.Errorf(amber.KindConflict, k.Operation, "", "the request was carried out before, but not written to the audit log")
	case errors.Is(err, amber.ErrUnknownOutcome):
		why = amber.Errorf(amber.KindConflict, k.Operation, "", "the request was begun before, and the database was lost; whether it was done is not known").
			WithHint("check whether the change was made; if not, send the request again with another Idempotency-Key")
	}
	if why == nil {
		return q.api.o.Answers.AbandonAnswer(ctx, k)
	}
	f := wire.FailureOf(why)
	resp, err := newResponse(f.Error.Kind.HTTPStatus(), "", f)
	if err != nil {
		return err
	}
	b, err := marshal(resp)
	if err != nil {
		return err
	}
	return q.api.o.Answers.FinishAnswer(ctx, k, resp.Status, b)
}

func replay(id string, before wire.Answer) (response, error) {
	if before.Blank {
		return response{}, amber.Errorf(amber.KindConflict, id, "", "the request was carried out before; its answer is not kept any more")
	}
	var resp response
	if err := json.Unmarshal(before.Body, &resp); err != nil {
		return response{}, &amber.Error{Op: id, Kind: amber.KindDamaged, Err: err}
	}
	if resp.Body != nil {
		resp.Body = append(resp.Body, '\n') // it is not kept inside of a document
	}
	return resp, nil
}

// digest distinguishes requests with the same key.
func (q *request) digest(body []byte) string {
	h := sha256.New()
	for _, s := range []string{q.r.Method, q.r.URL.EscapedPath(), q.r.URL.RawQuery, q.r.Header.Get("If-Match")} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	h.Write(body)
	if q.Is(op.OfHome) { // a key is of one token: another that reaches as far is told nothing by it
		h.Write([]byte{0})
		h.Write([]byte(q.who.Actor()))
	}
	if !q.who.MayRead() {
		h.Write([]byte{0}) // a caller without the scope read never gets the answer of one that has it
	}
	return hex.EncodeToString(h.Sum(nil))
}
