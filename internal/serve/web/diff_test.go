package web

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/base/linediff"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestWordsThatDifferAreMarked(t *testing.T) {
	t.Parallel()
	rows := diffRows(linediff.Lines("keep\nwe use <b>Redis</b> 7\nend", "keep\nwe use <b>Valkey</b> 7\nend"))
	must.Equal(t, "lines", len(rows), 4)
	must.Equal(t, "before", string(rows[1].Text), "we use &lt;b&gt;<del>Redis</del>&lt;/b&gt; 7")
	must.Equal(t, "after", string(rows[2].Text), "we use &lt;b&gt;<ins>Valkey</ins>&lt;/b&gt; 7")
	for _, r := range diffRows(linediff.Lines("a b c d", "one two three")) {
		if strings.Contains(string(r.Text), "<") {
			t.Errorf("lines with nothing in common are marked: %s", r.Text)
		}
	}
}
