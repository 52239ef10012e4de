// Package inmem keeps every contract of a store in the memory of the process.
//
// It is for two readers. A program that uses Amber as a library tests against
// it without files or git. And the tests of the durable backends run the same
// operations on it and on them: it is the model they are compared with, so it
// prefers the plainest code that is right to any that is fast.
//
// Nothing survives the process. Notes are a map with a log of made-up commits.
package inmem
