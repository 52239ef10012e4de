package daemon

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/ledger"
	"github.com/amber-memory/amber/server"
)

// answers lets both HTTP doors keep their answers in the database of the home.
type answers struct{ *ledger.DB }

var _ server.Answers = answers{}

// BeginAnswer implements [server.Answers].
func (a answers) BeginAnswer(ctx context.Context, k server.AnswerKey, digest string, repeatable bool) (server.Answer, error) {
	got, err := a.DB.BeginAnswer(ctx, ledger.AnswerKey(k), digest, repeatable)
	if errors.Is(err, ledger.ErrKeyUsed) {
		err = &amber.Error{Op: "begin answer", Kind: amber.KindConflict, Err: server.ErrKeyUsed}
	}
	return server.Answer(got), err
}

// FinishAnswer implements [server.Answers].
func (a answers) FinishAnswer(ctx context.Context, k server.AnswerKey, status int, body []byte) error {
	return a.DB.FinishAnswer(ctx, ledger.AnswerKey(k), status, body)
}

// AbandonAnswer implements [server.Answers].
func (a answers) AbandonAnswer(ctx context.Context, k server.AnswerKey) error {
	return a.DB.AbandonAnswer(ctx, ledger.AnswerKey(k))
}

// LeaveAnswer implements [server.Answers].
func (a answers) LeaveAnswer(k server.AnswerKey) { a.DB.LeaveAnswer(ledger.AnswerKey(k)) }
