// Package storetest holds the promises of the store contracts as one suite that every backend runs.
//
// There are two ways to a verdict. [Run] makes each promise its own named check. It reports which
// promises hold, which do not, and which could not be checked because the store lacks the part.
// [History] makes one random history of operations on a model and on a subject at the same time and
// reports the first answer in which they differ; equal seeds give equal histories. [RecallQuality]
// counts how many natural questions find what they should.
//
// The suite returns errors instead of failing a test, so that it can also run outside of tests, on
// a backend that its caller configured. Time and chance are the suite's own: it hands every store
// an [Env] and moves the clock itself, also backwards. Nothing sleeps.
package storetest
