package wire

import (
	"cmp"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
)

// Failure is the JSON of an error, on the command line and over HTTP.
type Failure struct {
	Error ErrorBody `json:"error"`
}

// ErrorBody says what went wrong in words that travel.
type ErrorBody struct {
	Kind    amber.Kind `json:"kind"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
	// Reason tells errors of one kind apart where a program has to: one of the
	// reasons below.
	Reason    string `json:"reason,omitempty"`
	RequestID string `json:"request_id,omitempty"`
}

// The reasons.
const (
	reasonQueueEmpty = "queue_empty"
	reasonQueueFull  = "queue_full"
)

// sentinels are the errors that callers compare with, by reason.
var sentinels = map[string]error{reasonQueueEmpty: amber.ErrQueueEmpty, reasonQueueFull: amber.ErrQueueFull}

// FailureOf returns the JSON of err. The message is one line.
func FailureOf(err error) Failure {
	b := ErrorBody{Kind: amber.KindOf(err), Message: strings.Join(strings.Fields(err.Error()), " "), Hint: amber.HintOf(err)}
	for reason, sentinel := range sentinels {
		if errors.Is(err, sentinel) {
			b.Reason = reason
		}
	}
	return Failure{b}
}

// Err returns the error that f is the JSON of. A kind this build does not know
// is kept, and counts as internal.
func (f Failure) Err() error {
	if sentinel, ok := sentinels[f.Error.Reason]; ok {
		return sentinel
	}
	message := cmp.Or(f.Error.Message, string(f.Error.Kind))
	return &amber.Error{Kind: f.Error.Kind, Err: errors.New(message), Hint: f.Error.Hint}
}
