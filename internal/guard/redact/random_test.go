package redact

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestRandomAndChosen(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, value    string
		random, chosen bool
	}{
		{"base62", "k3Xp9QzR7vT2mW8bLd4s", true, true},
		{"base36", "k3xp9qzr7vt2mw8bld4s", true, true},
		{"32 hexadecimal", "9f86d081884c7d659a2feaa0c55ad015", true, true},
		{"40 hexadecimal, a commit", "3f786850e387550fdab836ed7e6dc881de23001b", false, true},
		{"24 hexadecimal", "507f1f77bcf86cd799439011", false, true},
		{"UUID", "6f1c1f0e-8c1b-4f7e-9a52-0d8f4e6b1c2d", false, true},
		{"short", "k3Xp9QzR", false, true},
		{"too short", "k3Xp9Qz", false, false},
		{"chosen", "Summer2024!", false, true},
		{"words", "correct-horse-battery-staple", false, false},
		{"identifier", "OAuth2TokenProviderV1", false, true},
		{"one kind", "qwrtzpsdfghjklmnbvcxy", false, false},
		{"number", "12908347561029384756", false, false},
		{"repeated", "abababababababab1111", false, false},
		{"counting", "kX1abcdefghij9QzR7vT", false, false},
		{"variable", "$k3Xp9QzR7vT2mW8bLd4s", false, false},
		{"glob", "k3Xp9QzR7vT2mW8bLd4*", false, false},
		{"placeholder", "your-k3Xp9QzR7vT2mW8", false, false},
		{"path", "/srv/releases/current/4f2a", false, false},
		{"version", "v1.24.0-20230101123456-abcdef123456", false, false},
	} {
		must.Equal(t, fmt.Sprintf("%s: random(%q)", tc.name, tc.value), random(tc.value), tc.random)
		must.Equal(t, fmt.Sprintf("%s: chosen(%q)", tc.name, tc.value), chosen(tc.value), tc.chosen)
	}
}
