package targettest

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/promise"
)

// Open opens the place that is asked; each call opens the same one. The place
// is empty at first. Each check has its own part of the names there, and
// leaves behind what it stored.
type Open func() (target.Target, error)

// Check is one promise.
type Check struct {
	Name string // "put/twice"
	// Run asks the target whether the promise holds: nil says yes. An error
	// with [ErrNotRun] in its chain says that the target has no pointers and
	// was not asked; any other says how the promise is broken.
	Run func(ctx context.Context, open Open) error
}

// ErrNotRun is returned by a check that needs something the target does not
// have. It says nothing against the target.
var ErrNotRun = promise.ErrNotRun

// Report says which checks held and which were not run, by name. A check that
// is in neither list failed and is in the error beside the report.
type Report struct {
	Passed []string
	NotRun []string
}

// Checks returns every check.
func Checks() []Check {
	var all []Check
	for _, c := range objectChecks() {
		all = append(all, c.export(false))
	}
	for _, c := range pointerChecks() {
		all = append(all, c.export(true))
	}
	return all
}

// Run runs every check on the place, one after the other. The error joins the
// failures, each prefixed by the name of its check.
func Run(ctx context.Context, open Open) (Report, error) {
	passed, notRun, err := promise.Run(ctx, Checks(), func(c Check) string { return c.Name },
		func(c Check) error { return c.Run(ctx, open) })
	return Report{Passed: passed, NotRun: notRun}, err
}

// check is a promise as the files of this package write it down.
type check struct {
	name string
	run  func(w *world)
}

func (c check) export(pointers bool) Check {
	return Check{Name: c.name, Run: func(ctx context.Context, open Open) error {
		w := &world{ctx: ctx, open: open, base: c.name + "/"}
		if err := caught(w.reopen); err != nil {
			return err
		}
		if pointers && w.pointers == nil {
			return fmt.Errorf("%w: the target has no pointers", ErrNotRun)
		}
		return caught(func() { c.run(w) })
	}}
}
