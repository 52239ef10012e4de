package eval

import (
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestHoldsFindsWholeWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, must string
		want       bool
	}{
		{"use the `make  Bench`\n\ttarget", "make bench target", true},
		{"port 80", "port 80", true},
		{"port 8080", "port 80", false},
		{"xport 80", "port 80", false},
		{"port 8080, then port 80.", "port 80", true},
		{"snake_case", "snake", false},
		{"kebab-case", "kebab", true},
		{"**bold** text", "Bold TEXT", true},
		{"Größe 5", "größe", true},
		{"Größe 5", "röße", false},
		{"aaa", "aa", false},
		{"-race", "-race", true},
		{"a\x1cb", "a b", true},
		{"", "x", false},
		{"anything", "`*`", false},
	} {
		must.Equal(t, c.text+" holds "+c.must, Holds(c.text, c.must), c.want)
	}
}
