//go:build race

package bundle_test

// step is how far apart the bytes are that are damaged: the race detector makes all of them slow.
const step = 7
