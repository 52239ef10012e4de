package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

const keyHeader = "Idempotency-Key"

// asked is what tells a request from others with its key, and whether it may be
// done twice.
type asked struct {
	body       []byte
	repeatable bool
}

// once answers a request; one that carries a key and was answered before gets
// the same answer again, and nothing is done.
func (a *API) once(w http.ResponseWriter, r *http.Request, o *operation, q asked, do func(ctx context.Context) (response, error)) {
	resp, err := a.answerOnce(w, r, o, q, do)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	a.send(w, r, resp)
}

func (a *API) answerOnce(w http.ResponseWriter, r *http.Request, o *operation, q asked, do func(ctx context.Context) (response, error)) (response, error) {
	ctx := r.Context()
	key := r.Header.Get(keyHeader)
	if key == "" || o.ownKey || !o.mutates {
		return do(ctx)
	}
	if err := amber.CheckID("idempotency key", key); err != nil {
		return response{}, err
	}
	if a.o.Answers == nil {
		return response{}, amber.Errorf(amber.KindUnsupported, o.id, "", "this server does not support Idempotency-Key for this operation")
	}
	k := o.answerKey(r, key)
	before, err := a.o.Answers.BeginAnswer(ctx, k, requestDigest(r, o, q.body), q.repeatable)
	if err != nil {
		return response{}, err
	}
	if before.Done && before.Blank && q.repeatable && o.lasting {
		return do(context.WithValue(ctx, againKey{}, true)) // what was answered is not kept; doing it again gives it
	}
	if before.Done {
		w.Header().Set("Idempotent-Replayed", "true")
		return replay(o, before)
	}
	defer a.o.Answers.LeaveAnswer(k)
	resp, err := do(ctx)
	late := context.WithoutCancel(ctx) // the change is made, even if the caller has gone
	if err != nil {
		if aerr := a.unanswered(late, k, q, err); aerr != nil {
			a.o.Log.WarnContext(ctx, "abandon answer", "error", aerr, "request_id", requestID(w))
		}
		return response{}, err
	}
	if err := a.keep(late, o, k, resp); err != nil {
		a.o.Log.WarnContext(ctx, "keep answer", "error", err, "request_id", requestID(w))
	}
	return resp, nil
}

// answerKey is what an answer is kept under. Keys of the home are those of callers
// with one reach, and those of a bound caller are those of callers with the same bound.
func (o *operation) answerKey(r *http.Request, key string) wire.AnswerKey {
	g := server.CallerOf(r.Context()).Grant
	k := wire.AnswerKey{Tenant: r.PathValue("tenant"), Agent: r.PathValue("agent"), Operation: o.id, Key: g.Bound.Key(key)}
	if o.home {
		k.Tenant, k.Agent = string(g.Tenant), string(g.Agent)
	}
	return k
}

// keep keeps an answer for a key.
func (a *API) keep(ctx context.Context, o *operation, k wire.AnswerKey, resp response) error {
	if o.kept != nil {
		var err error
		if resp, err = o.kept(resp); err != nil {
			return err
		}
	}
	b, err := marshal(resp)
	if err != nil {
		return err
	}
	return a.o.Answers.FinishAnswer(ctx, k, resp.Status, b)
}

// againKey is in the context of what is done once more because its answer is not
// kept.
type againKey struct{}

// doneBefore reports whether an operation is done once more.
func doneBefore(ctx context.Context) bool { again, _ := ctx.Value(againKey{}).(bool); return again }

// unrecorded is the error of what was done and could not be written down.
type unrecorded struct{ error }

func (u unrecorded) Unwrap() error { return u.error }

// unanswered ends a request that failed. It may be tried again, unless it was
// done, or may have been, and may not be done twice: then the same key is told so.
func (a *API) unanswered(ctx context.Context, k wire.AnswerKey, q asked, err error) error {
	var done unrecorded
	var why *amber.Error
	switch {
	case q.repeatable:
	case errors.As(err, &done):
		why = amber.Errorf(amber.KindConflict, k.Operation, "", "the request was carried out before, but not written to the audit log")
	case errors.Is(err, amber.ErrUnknownOutcome):
		why = amber.Errorf(amber.KindConflict, k.Operation, "", "the request was begun before, and the database was lost; whether it was done is not known").
			WithHint("check whether the change was made; if not, send the request again with another Idempotency-Key")
	}
	if why == nil {
		return a.o.Answers.AbandonAnswer(ctx, k)
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
	return a.o.Answers.FinishAnswer(ctx, k, resp.Status, b)
}

func replay(o *operation, before wire.Answer) (response, error) {
	if before.Blank {
		return response{}, amber.Errorf(amber.KindConflict, o.id, "", "the request was carried out before; its answer is not kept any more")
	}
	var resp response
	if err := json.Unmarshal(before.Body, &resp); err != nil {
		return response{}, &amber.Error{Op: o.id, Kind: amber.KindDamaged, Err: err}
	}
	if resp.Body != nil {
		resp.Body = append(resp.Body, '\n') // it is not kept inside of a document
	}
	return resp, nil
}

// requestDigest tells requests with the same key apart.
func requestDigest(r *http.Request, o *operation, body []byte) string {
	h := sha256.New()
	for _, s := range []string{r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Header.Get("If-Match")} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	h.Write(body)
	if o.home { // a key is of one token: another that reaches as far is told nothing by it
		h.Write([]byte{0})
		h.Write([]byte(server.CallerOf(r.Context()).Actor()))
	}
	if !server.CallerOf(r.Context()).MayRead() {
		h.Write([]byte{0}) // a caller without the scope read never gets the answer of one that has it
	}
	return hex.EncodeToString(h.Sum(nil))
}
