// Package promise is what suites of promises are written with: expectations
// that end the check they are in with an error, so that a suite runs outside
// tests, too.
//
// A suite has its checks in files of its own and short names for what is here in
// a file named expect.go: a failure is blamed on the first line above that is in
// none of the files in [helpers], where a suite prepares what its checks share.
package promise

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/amber-memory/amber"
)

// failure is what a broken expectation panics with. It ends the check it is
// in, and only that: Caught turns it into an error at the check's edge.
type failure struct{ err error }

// Caught runs f and returns the failure that ended it, or nil. Any other
// panic passes.
func Caught(f func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.err
		default:
			panic(p)
		}
	}()
	f()
	return nil
}

// helpers are the files that are never to blame for a failure.
var helpers = []string{"expect.go", "expect_test.go", "world.go", "site_test.go"}

// Fail ends the check with a message that begins with the line that is to
// blame.
func Fail(err error) {
	for skip := 1; ; skip++ {
		_, file, line, ok := runtime.Caller(skip)
		if name := filepath.Base(file); !ok || !slices.Contains(helpers, name) {
			panic(failure{fmt.Errorf("%s:%d: %w", name, line, err)})
		}
	}
}

// Failure returns what to panic with where a function has nothing to return:
// it ends the check with err.
func Failure(err error) any { return failure{err} }

// Must returns v; an error ends the check.
func Must[T any](v T, err error) T {
	Must0(err)
	return v
}

// Must0 is Must for calls that return nothing but an error.
func Must0(err error) {
	if err != nil {
		Fail(fmt.Errorf("unexpected error: %w", err))
	}
}

// Hold ends the check unless ok.
func Hold(ok bool, format string, args ...any) {
	if !ok {
		Fail(fmt.Errorf(format, args...))
	}
}

// Refused ends the check unless err is of kind want.
func Refused(err error, want amber.Kind, what string) {
	switch got := amber.KindOf(err); {
	case err == nil:
		Fail(fmt.Errorf("%s: got no error, want %s", what, want))
	case got != want:
		Fail(fmt.Errorf("%s: got %s (%w), want %s", what, got, err, want))
	}
}

// Together runs f n times at once, waits for all of them, and passes on every
// failure.
func Together(n int, f func(i int)) {
	var wg sync.WaitGroup
	errs := make([]error, n)
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			errs[i] = Caught(func() { f(i) })
		})
	}
	close(begin)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		panic(failure{err})
	}
}

// ErrNotRun is the answer of a check that what it is about does not support.
var ErrNotRun = errors.New("check not run")

// Run runs checks one after the other and returns the names of those that
// held and of those that were not run. The error joins the failures, each
// prefixed by the name of its check.
func Run[T any](ctx context.Context, checks []T, name func(T) string, run func(T) error) (passed, notRun []string, err error) {
	var failures []error
	for _, c := range checks {
		if err := ctx.Err(); err != nil {
			return passed, notRun, errors.Join(append(failures, err)...)
		}
		switch err := run(c); {
		case err == nil:
			passed = append(passed, name(c))
		case errors.Is(err, ErrNotRun):
			notRun = append(notRun, name(c))
		default:
			failures = append(failures, fmt.Errorf("%s: %w", name(c), err))
		}
	}
	return passed, notRun, errors.Join(failures...)
}
