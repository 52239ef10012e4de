package wire

import (
	"context"
	"errors"
)

// ErrKeyUsed is in the chain of what [Answers] say of a key that was used for
// another request. The kind is conflict.
var ErrKeyUsed = errors.New("the key was used for another request")

// Answers remembers, for a day at least, what was answered to requests that
// carry an Idempotency-Key. Safe for concurrent use.
type Answers interface {
	// BeginAnswer reports whether a request was answered before. Errors: conflict
	// when the key was used for another request, see [ErrKeyUsed], or for one
	// that was begun, has no known end and is not repeatable; busy while the
	// request is being answered.
	BeginAnswer(ctx context.Context, k AnswerKey, digest string, repeatable bool) (Answer, error)
	// FinishAnswer keeps an answer.
	FinishAnswer(ctx context.Context, k AnswerKey, status int, body []byte) error
	// AbandonAnswer forgets a request that failed, so that it may be tried
	// again.
	AbandonAnswer(ctx context.Context, k AnswerKey) error
	// LeaveAnswer says that nothing more is done about a request that was
	// begun. If it was neither finished nor abandoned, its end is not known.
	LeaveAnswer(k AnswerKey)
}

// AnswerKey names a request that may come twice: the key that the caller chose
// for an operation on an agent. Tenant and agent may be empty.
type AnswerKey struct{ Tenant, Agent, Operation, Key string }

// Answer is what was answered to a request before.
type Answer struct {
	Done   bool // false: the request has no answer yet, and the caller is to carry it out
	Status int
	Body   []byte // the caller owns it
	Blank  bool   // the body was too large to be kept, or erased since
}
