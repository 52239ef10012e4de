//go:build !nomodel

package embed

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// BenchmarkEncode makes the vector of a text of so many tokens, with each kernel this processor
// has and without any.
func BenchmarkEncode(b *testing.B) {
	m := must.Get(Builtin())(b)
	for _, tokens := range []int{16, 32, 128} {
		text := strings.TrimSpace(strings.Repeat("river ", tokens-2)) // and one token at either end
		for _, k := range []struct {
			name       string
			vnni, avx2 bool
		}{{"vnni", true, true}, {"avx2", false, true}, {"plain", false, false}} {
			b.Run(fmt.Sprintf("%d/%s", tokens, k.name), func(b *testing.B) {
				with(b, k.vnni, k.avx2, func() {
					for b.Loop() {
						passage(m, text)
					}
				})
			})
		}
	}
}
