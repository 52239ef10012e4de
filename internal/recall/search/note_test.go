package search_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestNoteParts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []search.NotePart
	}{
		"no heading":    {"Just text.\n", []search.NotePart{{"n", "Just text."}}},
		"nothing":       {"\n\n", nil},
		"headings":      {"before\n# Deploy\nfirst\n## Roll back ##\nsecond\n# Other\nthird", []search.NotePart{{"n", "before"}, {"Deploy", "first"}, {"Deploy / Roll back", "second"}, {"Other", "third"}}},
		"only headings": {"# A\n## B\n# C\n", []search.NotePart{{"A / B", ""}, {"C", ""}}},
		"code":          {"# A\n```sh\n# no heading\n```\ntext\n````\n```\n# none\n````\n## B\nx", []search.NotePart{{"A", "```sh\n# no heading\n```\ntext\n````\n```\n# none\n````"}, {"A / B", "x"}}},
		"open code":     {"~~~\n# A\nx", []search.NotePart{{"n", "~~~\n# A\nx"}}},
		"no headings":   {"#tag\n####### seven\n    # code", []search.NotePart{{"n", "#tag\n####### seven\n    # code"}}},
		"underlined":    {"Title\n=====\ntext\n\nSub\n---\nmore\n\n- list\n---\nend", []search.NotePart{{"Title", "text"}, {"Title / Sub", "more\n\n- list\n---\nend"}}},
		"settings":      {"---\ntags: x\n---\n# A\ntext", []search.NotePart{{"n", "tags: x"}, {"A", "text"}}},
		"a rule first":  {"---\n# A\ntext", []search.NotePart{{"n", "---"}, {"A", "text"}}},
		"back up":       {"### deep\na\n# top\nb", []search.NotePart{{"deep", "a"}, {"top", "b"}}},
	} {
		must.Equal(t, name, search.NoteParts("dir/n", c.text), c.want)
	}
}

// A long section is cut as every text is; a note of nothing but headings stays small.
func TestNotePartsAreBounded(t *testing.T) {
	t.Parallel()
	long := search.NoteParts("n", "# A\n"+strings.Repeat("One two three four five six seven eight nine ten. ", 100))
	if len(long) < 4 || long[1].Title != "A" {
		t.Errorf("%d parts", len(long))
	}
	for _, text := range []string{strings.Repeat("# a\n", 200_000), strings.Repeat("# "+strings.Repeat("x", 1000)+"\ny\n", 1000), "# a" + strings.Repeat("\n#", 100_000)} {
		parts := search.NoteParts("n", text)
		if len(parts) > 600 {
			t.Errorf("%d parts", len(parts))
		}
		for _, p := range parts {
			if len(p.Title) > 500 {
				t.Errorf("a title of %d bytes", len(p.Title))
			}
		}
	}
}

// A note is of everybody on this home, and says where it stands.
func TestOfNote(t *testing.T) {
	t.Parallel()
	n := amber.Note{Name: "ops/deploy", Content: "# Deploy\nUse the blue cluster.\n## Roll back\nRun it again.", UpdatedAt: amber.UnixMilli(7)}
	texts := search.OfNote(n)
	must.Equal(t, "passages", len(texts), 2)
	must.Equal(t, "passage", texts[1].Passage, search.Passage{Source: search.SourceNote, Owner: "ops/deploy", Part: 1, At: 7})
	must.Equal(t, "meant", texts[1].Meant, "Deploy / Roll back. Run it again.")
	h := search.NoteHits(n)[1]
	must.Equal(t, "hit", []string{h.Title, h.Content, string(h.Scope), string(h.Trust)}, []string{"Deploy / Roll back", "Run it again.", "global", "own"})
}
