package colonytest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/promise"
)

// Check is one promise.
type Check struct {
	Name string // "put/replaces"
	// Run asks an empty vault whether the promise holds: nil says yes. An error
	// with [ErrNotRun] in its chain says that the vault has no conditions and
	// was not asked; any other says how the promise is broken.
	Run func(ctx context.Context, b colony.Backend) error
}

// ErrNotRun is returned by a check that needs something the vault does not
// have. It says nothing against the vault.
var ErrNotRun = promise.ErrNotRun

// Checks returns every check.
func Checks() []Check {
	var all []Check
	for _, c := range fileChecks() {
		all = append(all, c.export(false))
	}
	for _, c := range listChecks() {
		all = append(all, c.export(false))
	}
	for _, c := range conditionChecks() {
		all = append(all, c.export(true))
	}
	return all
}

// Run runs every check as a subtest. Each has a vault of its own, which open
// returns empty.
func Run(t *testing.T, open func(t *testing.T) colony.Backend) {
	t.Helper()
	for _, c := range Checks() {
		t.Run(c.Name, func(t *testing.T) {
			err := c.Run(t.Context(), open(t))
			if errors.Is(err, ErrNotRun) {
				t.Logf("not asked: %v", err)
				return
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// check is a promise as the files of this package write it down.
type check struct {
	name string
	run  func(w *world)
}

func (c check) export(conditions bool) Check {
	return Check{Name: c.name, Run: func(ctx context.Context, b colony.Backend) error {
		w := &world{ctx: ctx, b: b}
		w.c, _ = b.(colony.ConditionalBackend)
		if conditions && w.c == nil {
			return fmt.Errorf("%w: the vault has no conditions", ErrNotRun)
		}
		return caught(func() { c.run(w) })
	}}
}
