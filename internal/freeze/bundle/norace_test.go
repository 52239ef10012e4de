//go:build !race

package bundle_test

// minStep is how far apart the bytes are that are damaged, at least.
const minStep = 1
