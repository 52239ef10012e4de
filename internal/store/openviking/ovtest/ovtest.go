package ovtest

import (
	"context"
	"fmt"
	"slices"

	"github.com/amber-memory/amber/internal/test/promise"
)

// Target is a server to ask. It has keys (auth_mode api_key).
type Target struct {
	URL     string
	RootKey string
	// EmbedderDown makes the server's embedder fail, or work again. Checks that
	// need it are not run when it is nil.
	EmbedderDown func(down bool)
	// EmbedderHold has the embedder answer no request until it is called with false. Checks that need it are not run
	// when it is nil.
	EmbedderHold func(hold bool)
}

// Check is one promise.
type Check struct {
	Name string // "write/create-overwrites"
	// Run asks a server whether the promise holds: nil says yes. Each check makes an
	// account of its own, which it leaves behind. An error with [ErrNotRun] in its
	// chain says that the target lacks what the check needs.
	Run func(ctx context.Context, t Target) error
}

// ErrNotRun is returned by a check that needs something the target does not have. It
// says nothing against the server.
var ErrNotRun = promise.ErrNotRun

// Report says which checks held and which were not run, by name. A check that is in
// neither list failed and is in the error beside the report.
type Report struct {
	Passed []string
	NotRun []string
}

// Checks returns every check. Those that make the embedder fail are the last: a real
// server refuses questions for a while afterwards.
func Checks() []Check {
	var all []Check
	for _, c := range slices.Concat(accessChecks(), writeChecks(), batchChecks(), fileChecks(), findChecks(), indexChecks(), outageChecks()) {
		all = append(all, c.export())
	}
	return all
}

// Run runs every check on the server, one after the other. The error joins the
// failures, each prefixed by the name of its check.
func Run(ctx context.Context, t Target) (Report, error) {
	passed, notRun, err := promise.Run(ctx, Checks(), func(c Check) string { return c.Name },
		func(c Check) error { return c.Run(ctx, t) })
	return Report{Passed: passed, NotRun: notRun}, err
}

// check is a promise as the files of this package write it down.
type check struct {
	name string
	run  func(w *world)
}

func (c check) export() Check {
	return Check{Name: c.name, Run: func(ctx context.Context, t Target) error {
		w := &world{ctx: ctx, target: t}
		return caught(func() {
			w.begin()
			c.run(w)
		})
	}}
}

// outage is a check that makes the embedder fail.
func outage(name string, run func(w *world)) check {
	return check{name, func(w *world) { lent(w.target.EmbedderDown, func() { run(w) }) }}
}

// held is a check that has the embedder wait.
func held(name string, run func(w *world)) check {
	return check{name, func(w *world) { lent(w.target.EmbedderHold, func() { run(w) }) }}
}

// lent runs a check that needs to be able to change the embedder, which works again
// afterwards.
func lent(change func(bool), run func()) {
	if change == nil {
		stop(fmt.Errorf("%w: the target's embedder cannot be changed", ErrNotRun))
	}
	defer change(false)
	run()
}
