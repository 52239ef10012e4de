package analyze_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amber-memory/amber/internal/recall/analyze"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestSnippet(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("lorem ipsum dolor ", 30)
	hello, goodbye := strings.Repeat("你好世界", 40), strings.Repeat("再见朋友", 40)
	tests := []struct {
		name, content, question string
		limit                   int
		want                    string
	}{
		{"fits", "a  short\n\ttext", "short", 40, "a short text"},
		{"nothing matches", "one two three four five six seven", "nine", 20, "one two three…"},
		{"no question", "one two three four five six seven", "", 20, "one two three…"},
		{"at the beginning", "needle in front of a long haystack of words", "needle", 20, "needle in front…"},
		{"at the end", filler + "and the needle", "needle", 30, "…ipsum dolor and the needle"},
		{"in the middle", filler + "the needle here " + filler, "needle", 40, "…dolor the needle here lorem ipsum…"},
		{"by stem", filler + "we were caching things " + filler, "cached", 40, "…we were caching things lorem ipsum…"},
		{"by part of a word", filler + "the postgresqldump tool " + filler, "postgresql", 40, "…dolor the postgresqldump tool…"},
		{"where most words are", "red " + filler + "red blue " + filler + "blue", "red or blue", 30, "…dolor red blue lorem…"},
		{"ideographs", hello + "数据库很慢" + goodbye, "数据库", 40, "…你好世界数据库很慢再见…"},
		{"a word among ideographs", hello + "Redis缓存" + goodbye, "redis", 40, "…你好世界Redis缓存再见朋…"},
		{"a word wider than the window", filler + strings.Repeat("x", 50) + " " + filler, strings.Repeat("x", 50), 40, "…" + strings.Repeat("x", 34) + "…"},
		{"no room for marks", "abcdefghijklmnop", "p", 5, "abcde"},
		{"no room at all", "abc", "b", 0, ""},
		{"whole characters", "äöüäöü", "x", 5, "äö"},
		{"invalid bytes", "a\xff\xffb", "x", 40, "a\uFFFDb"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := analyze.Snippet(tc.content, analyze.Parse(tc.question), tc.limit)
			checkSnippet(t, got, tc.limit)
			must.Equal(t, "Snippet", got, tc.want)
		})
	}
}

// checkSnippet fails where got breaks what Snippet promises of any text.
func checkSnippet(t *testing.T, got string, limit int) {
	t.Helper()
	if len(got) > max(limit, 0) {
		t.Errorf("snippet %q has %d bytes, at most %d", got, len(got), limit)
	}
	if !utf8.ValidString(got) {
		t.Errorf("snippet %q is not valid UTF-8", got)
	}
	if strings.ContainsAny(got, "\t\r\n") || strings.Contains(got, "  ") {
		t.Errorf("snippet %q holds white space that is not collapsed", got)
	}
}
