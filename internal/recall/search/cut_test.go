package search

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// Every word of a text is in a passage, in order, no passage is much too long, and neighbours
// share a sentence.
func TestCut(t *testing.T) {
	t.Parallel()
	sentence := func(n, words int) string {
		var b strings.Builder
		for i := range words {
			fmt.Fprintf(&b, "w%dx%d ", n, i)
		}
		return strings.TrimSpace(b.String()) + ". "
	}
	var long strings.Builder
	for i := range 100 {
		long.WriteString(sentence(i, 5+i%20))
	}
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"":           "",
		"short":      "One sentence. And another.",
		"long":       long.String(),
		"no stops":   strings.ReplaceAll(long.String(), ".", ""),
		"lines":      strings.ReplaceAll(long.String(), ". ", "\n"),
		"no spaces":  numbered("第%d回は晴れ。", 2000),
		"one string": numbered("%06x", 20_000),
		"huge":       numbered("This is sentence number %d of very many. ", 10_000),
	} {
		parts := Cut(text)
		if len(parts) == 0 || len(parts) > maxParts {
			t.Fatalf("%s: %d passages", name, len(parts))
		}
		at := 0
		for i, p := range parts {
			found := strings.Index(text[max(0, at-400):], p)
			if found < 0 {
				t.Fatalf("%s: passage %d is not in the text behind the one before", name, i)
			}
			found += max(0, at-400)
			if strings.TrimSpace(text[at:max(at, found)]) != "" {
				t.Fatalf("%s: %q is left out", name, text[at:found])
			}
			at = found + len(p)
			if i < maxParts-1 && words(p) > 2*cutWords {
				t.Errorf("%s: passage %d has %d words", name, i, words(p))
			}
		}
		must.Equal(t, name+": the end", strings.TrimSpace(text[at:]), "")
	}
	parts := Cut(long.String())
	if len(parts) < 5 || !strings.HasPrefix(parts[1], lastSentence(parts[0])) {
		t.Errorf("%d passages; the second begins with %.40q", len(parts), parts[1])
	}
}
