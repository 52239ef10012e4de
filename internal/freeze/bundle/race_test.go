//go:build race

package bundle_test

// minStep is how far apart the bytes are that are damaged, at least: the race detector makes all of them slow.
const minStep = 7
