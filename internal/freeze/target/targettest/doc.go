// Package targettest holds the promises of [target.Target] as one suite that
// every target runs.
//
// The suite returns errors instead of failing a test, so that it can also run
// outside of tests, on a target that a user has configured. Nothing sleeps
// and nothing is timed.
package targettest
