package storetest

import (
	"context"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/promise"
)

// Env is what the suite injects so that time and chance are its own. Clock
// and Random are safe for concurrent use.
type Env struct {
	Clock  amber.Clock
	Random io.Reader
	Queue  amber.QueueOptions
}

// Backend opens stores of one kind.
type Backend struct {
	Name string
	// Durable says that a place that is opened again after a close holds
	// what it held. Checks of that are not run for other backends.
	Durable bool
	// Shared says that one place may be open several times at once, as by
	// several processes. Checks of that are not run for other backends.
	Shared bool
	// LogsAll says that changes of notes and documents are in the change log of
	// the memory. Checks of that are not run for other backends.
	LogsAll bool
	// Fresh prepares an empty place.
	Fresh func() (Place, error)
}

// Place is where one store lives.
type Place interface {
	// Open opens the store. The suite closes it before it opens it again,
	// unless the backend is shared.
	Open(ctx context.Context, env Env) (amber.Store, io.Closer, error)
	// Remove removes the place. The store is closed by then.
	Remove() error
}

// Fleeting returns a backend whose stores are in no place: each is gone when it
// is closed.
func Fleeting(name string, open func(env Env) (amber.Store, error)) Backend {
	return Backend{Name: name, Fresh: func() (Place, error) { return nowhere(open), nil }}
}

type nowhere func(env Env) (amber.Store, error)

func (n nowhere) Open(_ context.Context, env Env) (amber.Store, io.Closer, error) {
	s, err := n(env)
	return s, io.NopCloser(nil), err
}

func (nowhere) Remove() error { return nil }

// Check is one promise.
type Check struct {
	Name string // "memory/dedupe-in-one-transaction"
	// Run asks a fresh place of b whether the promise holds: nil says yes. An
	// error with [ErrNotRun] in its chain says that the store lacks a part
	// and was not asked; any other says how the promise is broken.
	Run func(ctx context.Context, b Backend) error
}

// ErrNotRun is returned by a check that needs a part the store does not have.
// It says nothing against the store; the error that wraps it names the part.
var ErrNotRun = promise.ErrNotRun

// Report says which checks held and which were not run, by name. A check that
// is in neither list failed and is in the error beside the report.
type Report struct {
	Passed []string
	NotRun []string
}

// Run runs every check on b, each in a fresh place. The error joins the
// failures, each prefixed by the name of its check.
func Run(ctx context.Context, b Backend) (Report, error) {
	passed, notRun, err := promise.Run(ctx, Checks(), func(c Check) string { return c.Name },
		func(c Check) error { return c.Run(ctx, b) })
	return Report{Passed: passed, NotRun: notRun}, err
}

// check is a promise as the files of this package write it down.
type check struct {
	name  string
	needs []part
	run   func(w *world)
	queue amber.QueueOptions // zero: the defaults
}

func (c check) export() Check {
	return Check{Name: c.name, Run: func(ctx context.Context, b Backend) error {
		return inWorld(ctx, b, c.queue, c.needs, c.run)
	}}
}
