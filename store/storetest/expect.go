package storetest

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
)

// failure is what a broken expectation panics with. It ends the check it is
// in, and only that: caught turns it into an error at the check's edge.
// Panics of a backend pass.
type failure struct{ err error }

// caught runs f and returns the failure that ended it, or nil.
func caught(f func()) (err error) {
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

// fail ends the check with a message that begins with the line of this
// package that is to blame.
func fail(err error) {
	for skip := 1; ; skip++ {
		_, file, line, ok := runtime.Caller(skip)
		if name := filepath.Base(file); !ok || name != "expect.go" && name != "world.go" {
			panic(failure{fmt.Errorf("%s:%d: %w", name, line, err)})
		}
	}
}

// must returns v; an error ends the check.
func must[T any](v T, err error) T {
	must0(err)
	return v
}

// must0 is must for calls that return nothing but an error.
func must0(err error) {
	if err != nil {
		fail(fmt.Errorf("unexpected error: %w", err))
	}
}

// hold ends the check unless ok.
func hold(ok bool, format string, args ...any) {
	if !ok {
		fail(fmt.Errorf(format, args...))
	}
}

// refused ends the check unless err is of kind want.
func refused(err error, want amber.Kind, what string, args ...any) {
	switch got := amber.KindOf(err); {
	case err == nil:
		fail(fmt.Errorf("%s: got no error, want %s", fmt.Sprintf(what, args...), want))
	case got != want:
		fail(fmt.Errorf("%s: got %s (%w), want %s", fmt.Sprintf(what, args...), got, err, want))
	}
}

// equal ends the check unless got and want are equal as JSON, where absent,
// null and empty are the same.
func equal(got, want any, what string, args ...any) {
	if d := diff(tree(got), tree(want)); d != "" {
		fail(fmt.Errorf("%s:\n%s", fmt.Sprintf(what, args...), d))
	}
}

// together runs f n times at once, waits for all of them, and passes on every
// failure.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	errs := make([]error, n)
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			errs[i] = caught(func() { f(i) })
		})
	}
	close(begin)
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		panic(failure{err})
	}
}

// ptr returns a pointer to v, for the fields of edits.
func ptr[T any](v T) *T { return &v }

// clipped shortens long input for a message.
func clipped(s string) string {
	if len(s) > 60 {
		return strings.ToValidUTF8(s[:60], "") + "…"
	}
	return s
}
