// Package snapshottest holds the promises of [amber.Snapshotter] and
// [amber.RepositoryChecker] as one suite that every implementation runs.
//
// The suite sees an agent as a [Model], everything a restore has to bring
// back, and keeps a model of its own of what it has written: a snapshotter
// and the agents it serves are held to that. The checks return errors instead
// of failing a test, so that they run outside of tests, too. Nothing sleeps
// and nothing is timed; the clock stands still unless a check moves it.
package snapshottest
