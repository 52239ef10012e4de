package clip_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/base/clip"
)

func TestEachWayToCut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		way  func(string, int) string
		name string
		text string
		n    int
		want string
	}{
		{clip.Bytes, "Bytes", "abc", 3, "abc"},
		{clip.Bytes, "Bytes", "abcd", 3, "abc"},
		{clip.Bytes, "Bytes", "aä", 2, "a"},
		{clip.Bytes, "Bytes", "日本", 5, "日"},
		{clip.Bytes, "Bytes", "日本", 2, ""},
		{clip.Bytes, "Bytes", "abc", 0, ""},
		{clip.Bytes, "Bytes", "abc", -1, ""},
		{clip.Letters, "Letters", "xe\u0301e\u0301", 7, "xe\u0301e\u0301"},
		{clip.Letters, "Letters", "xe\u0301e\u0301", 6, "xe\u0301"},
		{clip.Letters, "Letters", "xe\u0301e\u0301", 3, "x"},
		{clip.Letters, "Letters", "xe\u0301e\u0301", -1, ""},
		{clip.AtWord, "AtWord", "one two", 7, "one two"},
		{clip.AtWord, "AtWord", "one two", 6, "one "},
		{clip.AtWord, "AtWord", `key="secret"`, 9, `key="`},
		{clip.AtWord, "AtWord", "onetwo", 5, "onetw"},
		{clip.AtWord, "AtWord", "a " + strings.Repeat("b", 300), 290, "a " + strings.Repeat("b", 288)},
		{clip.Marked, "Marked", "abc", 3, "abc"},
		{clip.Marked, "Marked", "aäb", 2, "a…"},
		{clip.Marked, "Marked", "a\xff", 2, "a\uFFFD"},
		{clip.Marked, "Marked", "\xffabc", 2, "\uFFFDa…"},
		{clip.Runes, "Runes", "日本語", 3, "日本語"},
		{clip.Runes, "Runes", "日本語", 2, "日…"},
		{clip.Runes, "Runes", "日本語", 1, "…"},
		{clip.Runes, "Runes", "日", 0, "…"},
		{clip.Runes, "Runes", "", 0, ""},
	} {
		if got := c.way(c.text, c.n); got != c.want {
			t.Errorf("%s(%q, %d) = %q, want %q", c.name, c.text, c.n, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	if got, want := clip.Line(" a\t b\n\nc "), "a b c"; got != want {
		t.Errorf("Line = %q, want %q", got, want)
	}
	if got, want := clip.Printed(" a\x1b[1mb\x00\u202ec\xff\n"), "a [1mb c\uFFFD"; got != want {
		t.Errorf("Printed = %q, want %q", got, want)
	}
}

// FuzzCut proves what every way promises of any text: within its bound, and valid where the text is.
func FuzzCut(f *testing.F) {
	f.Add("xe\u0301 日本 \"q\"", 4)
	f.Add("\xff\x80\x80\x80\x80", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = max(n%64, -1)
		for name, way := range map[string]func(string, int) string{"Bytes": clip.Bytes, "Letters": clip.Letters, "AtWord": clip.AtWord} {
			got := way(s, n)
			if len(got) > max(n, 0) || !strings.HasPrefix(s, got) {
				t.Errorf("%s(%q, %d) = %q, which is no beginning of at most so many bytes", name, s, n, got)
			}
			if utf8.ValidString(s) && !utf8.ValidString(got) {
				t.Errorf("%s(%q, %d) = %q, half a character", name, s, n, got)
			}
		}
		if got := clip.Marked(s, n); !utf8.ValidString(got) {
			t.Errorf("Marked(%q, %d) = %q, which is not UTF-8", s, n, got)
		}
		if got := clip.Runes(s, n); utf8.RuneCountInString(got) > max(n, 1) {
			t.Errorf("Runes(%q, %d) = %q, which is longer", s, n, got)
		}
	})
}
