package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
)

// DefaultMemory is what requests hold at one time where nothing else is said.
const DefaultMemory = 64 << 20

// enterWithin is how long a request waits for its turn.
const enterWithin = 10 * time.Second

// What operations read of what is stored, at most. Pages end at a number of bytes, and with the
// record that reaches it.
const (
	holdsText   = amber.MaxContentBytes
	holdsState  = amber.MaxStateBytes
	holdsPage   = amber.MaxPageBytes + amber.MaxContentBytes
	holdsStates = amber.MaxPageBytes + amber.MaxStateBytes
	holdsImport = 2 * holdsPage // once the file has come
)

// holds are the operations that read large records. The others read small ones.
var holds = map[string]int64{
	"memory.get": holdsText, "memory.edit": holdsText, "memory.recall": holdsPage, "memory.context": holdsPage, "memory.timeline": 2 * holdsPage,
	"snapshot.recall": 2 * holdsPage, "snapshot.memory": holdsPage, "snapshot.memories": 2 * holdsPage, "snapshot.diff": 2 * holdsPage,
	"relation.neighbours": holdsPage, "turn.get": holdsText, "turn.append": holdsText, "note.get": holdsText, "note.at": holdsText, "note.write": holdsText,
	"export.download": 2 * holdsPage,
	"task.get":        holdsState, "task.save": holdsState, "task.replay": holdsState, "task.list": holdsStates,
	"approval.get": holdsState, "approval.decide": holdsState, "approval.list": holdsStates,
	"result.get": holdsState, "result.save": holdsState, "result.list": holdsStates,
	"queue.claim": holdsState, "queue.dead": holdsStates,
	"loop.get": holdsState, "loop.save": holdsState, "state.get": holdsState, "state.save": holdsState,
	"document.get": holdsState, "document.put": holdsState,
}

// NewBudget returns a budget of so many bytes, or of more where requests of that size need it.
func NewBudget(whole, maxBody int64) *server.Budget {
	return server.NewBudget(whole, server.Weight(max(maxBody, holdsStates)))
}

// errCrowded is in the chain of what a caller is answered whose turn did not come. Its request did nothing.
var errCrowded = errors.New("the server has no room for the request")

// enter waits until the budget has room for a request. Event streams hold nothing that is stored, and are counted elsewhere.
func (a *API) enter(w http.ResponseWriter, r *http.Request, o *operation) (leave func(), err error) {
	if o.stream {
		return func() {}, nil
	}
	held, err := a.weigh(r, o, a.bodyBytes(r, o)+o.holds())
	if err != nil {
		return nil, err
	}
	if rec, ok := w.(*recorder); ok {
		rec.held = held
	}
	return held.Leave, nil
}

// weigh waits until the budget has room for so much text of a request. Errors: busy.
func (a *API) weigh(r *http.Request, o *operation, text int64) (*server.Held, error) {
	c := server.CallerOf(r.Context())
	tenant, _ := o.place(r, c)
	ctx, cancel := context.WithTimeout(r.Context(), min(a.o.Timeout, enterWithin))
	defer cancel()
	held, err := a.o.Budget.Enter(ctx, tenant, c.Actor(), server.Weight(text))
	if err != nil {
		return nil, &amber.Error{Op: "take request", Kind: amber.KindBusy, Err: fmt.Errorf("%w: too many others are being answered, or read slowly", errCrowded), Hint: "send it again in a moment; it did nothing"}
	}
	return held, nil
}

func (o *operation) holds() int64 {
	if n, ok := holds[o.id]; ok || !o.list {
		return n
	}
	return holdsPage
}

// bodyBytes is how large the body of a request may become. A file is written to the disk as it comes.
func (a *API) bodyBytes(r *http.Request, o *operation) int64 {
	switch n := r.ContentLength; {
	case r.Body == http.NoBody || n == 0 || o.upload:
		return 0
	case n < 0 || n > a.o.MaxBody || r.Header.Get("Content-Encoding") != "":
		return a.o.MaxBody
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
