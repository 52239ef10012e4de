package targettest

import (
	"context"

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
	// Run asks the target whether the promise holds: nil says yes, an error
	// says how the promise is broken.
	Run func(ctx context.Context, open Open) error
}

// Checks returns every check.
func Checks() []Check {
	var all []Check
	for _, c := range objectChecks() {
		all = append(all, c.export())
	}
	return all
}

// Run runs every check on the place, one after the other, and returns the names
// of those that held. The error joins the failures, each prefixed by the name
// of its check.
func Run(ctx context.Context, open Open) (passed []string, err error) {
	passed, _, err = promise.Run(ctx, Checks(), func(c Check) string { return c.Name },
		func(c Check) error { return c.Run(ctx, open) })
	return passed, err
}

// check is a promise as the files of this package write it down.
type check struct {
	name string
	run  func(w *world)
}

func (c check) export() Check {
	return Check{Name: c.name, Run: func(ctx context.Context, open Open) error {
		w := &world{ctx: ctx, open: open, base: c.name + "/"}
		if err := caught(w.reopen); err != nil {
			return err
		}
		return caught(func() { c.run(w) })
	}}
}
