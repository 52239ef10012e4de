// Package statedir keeps the documents of runtime state of an agent as files:
// gen/<n>/state/<name>.json, each the compact document and nothing else. That is
// the folder that snapshots capture and restores build, so neither needs to know
// this package.
//
// One writer at a time, among all processes, holds the turn "state"; a file is
// replaced in one step and is durable before the write returns. Readers take no
// lock. The revision of a document is the digest of its bytes, so there is no
// second file that could contradict the first.
package statedir
