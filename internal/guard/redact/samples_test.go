package redact_test

import (
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact/secrettest"
)

// sample is a text with one secret in it.
type sample = secrettest.Secret

// samples makes n samples of every template. The same template always gives
// the same ones.
func samples(tb testing.TB, n int) []sample {
	tb.Helper()
	var all []sample
	for _, t := range secrettest.Templates() {
		for i := range n {
			all = append(all, t.Secret(uint64(i)))
		}
	}
	return all
}
