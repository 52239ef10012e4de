package daemon

import (
	"context"

	"github.com/amber-memory/amber/ledger"
	"github.com/amber-memory/amber/server/httpapi"
)

// answers lets the HTTP API keep its answers in the database of the home.
type answers struct{ *ledger.DB }

var _ httpapi.Answers = answers{}

// BeginAnswer implements [httpapi.Answers].
func (a answers) BeginAnswer(ctx context.Context, k httpapi.AnswerKey, digest string, repeatable bool) (httpapi.Answer, error) {
	got, err := a.DB.BeginAnswer(ctx, ledger.AnswerKey(k), digest, repeatable)
	return httpapi.Answer(got), err
}

// FinishAnswer implements [httpapi.Answers].
func (a answers) FinishAnswer(ctx context.Context, k httpapi.AnswerKey, status int, body []byte) error {
	return a.DB.FinishAnswer(ctx, ledger.AnswerKey(k), status, body)
}

// AbandonAnswer implements [httpapi.Answers].
func (a answers) AbandonAnswer(ctx context.Context, k httpapi.AnswerKey) error {
	return a.DB.AbandonAnswer(ctx, ledger.AnswerKey(k))
}

// LeaveAnswer implements [httpapi.Answers].
func (a answers) LeaveAnswer(k httpapi.AnswerKey) { a.DB.LeaveAnswer(ledger.AnswerKey(k)) }
