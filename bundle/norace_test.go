//go:build !race

package bundle_test

// step is how far apart the bytes are that are damaged.
const step = 1
