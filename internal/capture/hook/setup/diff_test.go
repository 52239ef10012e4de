package setup

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/base/linediff"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	lines := func(s string) []byte { return []byte(strings.ReplaceAll(s, " ", "\n")) }
	for _, tc := range []struct {
		name          string
		before, after []byte
		want          string
	}{
		{"same", lines("a b "), lines("a b "), ""},
		{"new file", nil, lines("a b "), "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"removed file", lines("a "), nil, "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"},
		{"in the middle", lines("1 2 3 4 5 6 7 8 9 "), lines("1 2 3 4 x 6 7 8 9 "), "--- f\n+++ f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"},
		{"at the end without line break", lines("a b"), lines("a b c"), "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+b\n+c\n\\ No newline at end of file\n"},
		{
			"two places", lines("1 2 3 4 5 6 7 8 9 10 11 12 "), lines("1 x 2 3 4 5 6 7 8 9 10 12 "),
			"--- f\n+++ f\n@@ -1,4 +1,5 @@\n 1\n+x\n 2\n 3\n 4\n@@ -8,5 +9,4 @@\n 8\n 9\n 10\n-11\n 12\n",
		},
	} {
		must.Equal(t, tc.name, diff("f", tc.before, tc.after), tc.want)
	}
}

// FuzzDiff puts both texts together again from their comparison.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nd")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		all := linediff.Parts(cutLines([]byte(a)), cutLines([]byte(b)))
		var before, after strings.Builder
		for _, c := range all {
			if c.Op != linediff.Added {
				before.WriteString(c.Text)
			}
			if c.Op != linediff.Removed {
				after.WriteString(c.Text)
			}
		}
		if before.String() != a || after.String() != b {
			t.Fatalf("%q and %q come back as %q and %q", a, b, before.String(), after.String())
		}
		for _, h := range hunks(all) {
			if h.before < 0 || h.after < 0 || len(h.changes) == 0 {
				t.Fatalf("a hunk at %d and %d", h.before, h.after)
			}
		}
	})
}
