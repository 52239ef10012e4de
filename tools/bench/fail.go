package main

import "fmt"

// A benchmark mends nothing: the first error ends the run. check, get and fail end it
// with a panic instead of a return, so that everything that was started or made is
// still ended and removed by a defer on the way to attempt. They are for the goroutine
// of the caller of attempt only.

// failure is what they panic with.
type failure struct{ err error }

// check ends the attempt when err is an error.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// get returns the value of a call, and ends the attempt when the call failed.
func get[T any](v T, err error) T {
	check(err)
	return v
}

// fail ends the attempt with an error of its own.
func fail(format string, args ...any) { check(fmt.Errorf(format, args...)) }

// attempt runs f and returns the error that ended it.
func attempt(f func()) (err error) {
	defer func() {
		switch end := recover().(type) {
		case nil:
		case failure:
			err = end.err
		default:
			panic(end)
		}
	}()
	f()
	return nil
}

// within runs f; an error that ends it names what failed.
func within(what string, f func()) {
	if err := attempt(f); err != nil {
		fail("%s: %w", what, err)
	}
}
