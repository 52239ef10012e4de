package shelf_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestSnippet marks what was found, and nothing else.
func TestSnippet(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	long := strings.Repeat("é", 1000)
	for _, tt := range []struct{ name, content, query, want string }{
		{"whole", "needle", "needle", "[[hl]]needle[[/hl]]"},
		{"case", "a NeeDle b", "nEEdle", "a [[hl]]NeeDle[[/hl]] b"},
		{"every one", "ab AB aB", "ab", "[[hl]]ab[[/hl]] [[hl]]AB[[/hl]] [[hl]]aB[[/hl]]"},
		{"side by side", "aaaa", "aa", "[[hl]]aa[[/hl]][[hl]]aa[[/hl]]"},
		{"lengths differ", "İİİ ÄÖ ẞ Kelvin", "äö", "İİİ [[hl]]ÄÖ[[/hl]] ẞ Kelvin"},
		{"kelvin", "12 \u212A", "12 k", "[[hl]]12 \u212A[[/hl]]"},
		{"sigma", "ΟΔΟΣ", "οδος", "[[hl]]ΟΔΟΣ[[/hl]]"},
		{"lines", "one\ntwo\n", "e\nt", "on[[hl]]e\nt[[/hl]]wo\n"},
		{"in the middle", long + "needle" + long, "needle", strings.Repeat("é", 60) + "[[hl]]needle[[/hl]]" + strings.Repeat("é", 240-66)},
		{"needle in the name", "nothing in " + long, "the NAME", "nothing in " + strings.Repeat("é", 240-11)},
		{"no pattern", "a.c axc", ".c", "a[[hl]].c[[/hl]] axc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.put(tt.name, tt.content)
			got, total, err := s.Search(t.Context(), tt.query, 0, 0)
			if err != nil || total != 1 || len(got) != 1 {
				t.Fatalf("got %d of %d, %v", len(got), total, err)
			}
			must.Equal(t, "snippet", got[0].Snippet, tt.want)
			if got[0].Name != tt.name || got[0].Size != int64(len(tt.content)) || !utf8.ValidString(got[0].Snippet) {
				t.Errorf("got %+v", got[0])
			}
			must.Do(t, s.Delete(t.Context(), tt.name))
		})
	}
}

// TestSearchPages returns a part of what is found and says how much there is.
func TestSearchPages(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for i := range 25 {
		s.put(fmt.Sprintf("%02d.md", i), "the word")
	}
	s.put("other.md", "nothing")
	for _, tt := range []struct{ limit, offset, first, n int }{
		{0, 0, 0, 20}, {5, 0, 0, 5}, {5, 3, 3, 5}, {100, 20, 20, 5}, {1000, 0, 0, 25}, {5, 25, 0, 0}, {5, 1 << 30, 0, 0},
	} {
		got, total, err := s.Search(t.Context(), "WORD", tt.limit, tt.offset)
		if err != nil || total != 25 || len(got) != tt.n {
			t.Fatalf("%+v: got %d of %d, %v", tt, len(got), total, err)
		}
		for i, m := range got {
			must.Equal(t, fmt.Sprintf("%+v", tt), m.Name, fmt.Sprintf("%02d.md", tt.first+i))
		}
	}
	for _, query := range []string{"", "w", "é", "absent"} {
		if got, total, err := s.Search(t.Context(), query, 5, 0); err != nil || total != 0 || got == nil || len(got) != 0 {
			t.Errorf("%q: got %v of %d, %v", query, got, total, err)
		}
	}
	for what, err := range map[string]error{
		"limit": third(s.Search(t.Context(), "word", -1, 0)), "offset": third(s.Search(t.Context(), "word", 1, -1)),
		"no UTF-8": third(s.Search(t.Context(), "wo\xff", 1, 0)), "long": third(s.Search(t.Context(), strings.Repeat("é", 201), 1, 0)),
	} {
		must.Kind(t, what, err, amber.KindInvalid)
	}
}

func third[A, B any](_ A, _ B, err error) error { return err }
