//go:build !race

package chunk_test

// step is how far apart the bytes are that are damaged.
const step = 1
