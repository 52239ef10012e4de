package redact_test

import (
	"math/rand/v2"
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact"
)

// FuzzRedact checks that nothing panics, that redacting twice is redacting
// once, and that JSON stays JSON.
func FuzzRedact(f *testing.F) {
	for _, s := range samples(f, 1) {
		f.Add(s.Text())
	}
	m := &mixer{rand.New(rand.NewPCG(1, 2)), samples(f, 1)}
	for range 200 {
		f.Add(m.text(8))
	}
	for _, g := range glue {
		f.Add(`{"token":"` + g + `"}`)
	}
	r := redact.New()
	f.Fuzz(func(t *testing.T, text string) { checkPromises(t, r, text) })
}
