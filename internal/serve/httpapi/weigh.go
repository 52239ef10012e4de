package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
)

// DefaultMemory is what requests hold at one time where nothing else is said.
const DefaultMemory = 64 << 20

// enterWithin is how long a request waits for its turn.
const enterWithin = 10 * time.Second

// holdsImport is what an import reads at most, once the file has come.
const holdsImport = 2 * op.HoldsPage

// NewBudget returns a budget of so many bytes, or of more where requests of that size need it.
func NewBudget(whole, maxBody int64) *server.Budget {
	return server.NewBudget(whole, server.Weight(max(maxBody, op.HoldsStates)))
}

// errCrowded is in the chain of what a caller is answered whose turn did not come. Its request did nothing.
var errCrowded = errors.New("the server has no room for the request")

// enter waits until the budget has room for a request. Event streams hold nothing that is stored, and are counted elsewhere.
func (q *request) enter() (leave func(), err error) {
	if q.Is(op.Streamed) {
		return func() {}, nil
	}
	held, err := q.weigh(q.bodyBytes() + q.holds())
	if err != nil {
		return nil, err
	}
	if rec, ok := q.w.(*recorder); ok {
		rec.held = held
	}
	return held.Leave, nil
}

// weigh waits until the budget has room for so much text of a request. Errors: busy.
func (q *request) weigh(text int64) (*server.Held, error) {
	tenant, _ := q.place(q.who)
	ctx, cancel := context.WithTimeout(q.r.Context(), min(q.api.o.Timeout, enterWithin))
	defer cancel()
	held, err := q.api.o.Budget.Enter(ctx, tenant, q.who.Actor(), server.Weight(text))
	if err != nil {
		return nil, &amber.Error{Op: "take request", Kind: amber.KindBusy, Err: fmt.Errorf("%w: too many others are being answered, or read slowly", errCrowded), Hint: "send it again in a moment; it did nothing"}
	}
	return held, nil
}

func (q *request) holds() int64 {
	if q.Holds == 0 && q.Is(op.Listed) {
		return op.HoldsPage
	}
	return q.Holds
}

// bodyBytes is how large the body of a request may become. A file is written to the disk as it comes.
func (q *request) bodyBytes() int64 {
	switch n, most := q.r.ContentLength, q.api.o.MaxBody; {
	case q.r.Body == http.NoBody || n == 0 || q.Is(op.Uploaded):
		return 0
	case n < 0 || n > most || q.r.Header.Get("Content-Encoding") != "":
		return most
	default:
		return n
	}
}

// settle gives back what a request held, but for the bytes of its answer.
func settle(w http.ResponseWriter, bytes int) {
	if rec, ok := w.(*recorder); ok && rec.held != nil {
		rec.held.Keep(server.RequestBytes + int64(bytes))
	}
}
