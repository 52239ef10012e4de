//go:build race

package chunk_test

// step is how far apart the bytes are that are damaged: the race detector makes all of them slow.
const step = 11
