package storetest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	type inner struct {
		A string            `json:"a"`
		M map[string]string `json:"m"`
	}
	for name, tc := range map[string]struct {
		got, want any
		diff      string
	}{
		"equal":              {inner{A: "x"}, inner{A: "x"}, ""},
		"nil and empty":      {[]inner{{M: nil}}, []inner{{M: map[string]string{}}}, ""},
		"nothing and empty":  {nil, []string{}, ""},
		"types do not count": {int64(3), 3, ""},
		"large numbers":      {uint64(1<<63 + 1), uint64(1 << 63), "got 9223372036854775809, want 9223372036854775808"},
		"field":              {inner{A: "x"}, inner{A: "y"}, `a: got "x", want "y"`},
		"element":            {[]string{"x", "y"}, []string{"x", "z"}, `[1]: got "y", want "z"`},
		"missing element":    {[]string{"x"}, []string{"x", "z"}, `[1]: got nothing, want "z"`},
		"missing key": {
			inner{M: map[string]string{"k": "v"}},
			inner{M: map[string]string{"l": "v"}},
			"m.k: got \"v\", want nothing\nm.l: got nothing, want \"v\"",
		},
		"other shape": {[]string{"x"}, "x", `got ["x"], want "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tc.diff, diff(tree(tc.got), tree(tc.want))); d != "" {
				t.Errorf("diff (-want +got):\n%s", d)
			}
		})
	}
}

func TestDiffIsBounded(t *testing.T) {
	t.Parallel()
	got := strings.Split(diff(tree(numbered("a", 100)), tree(numbered("b", 100))), "\n")
	if len(got) != maxDiff+1 || got[maxDiff] != "and 88 more" {
		t.Errorf("got %d lines that end with %q, want %d", len(got), got[len(got)-1], maxDiff+1)
	}
}

func TestNeutralTranslatesIDs(t *testing.T) {
	t.Parallel()
	const theirs, ours = "11111111-1111-7111-8111-111111111111", "22222222-2222-7222-8222-222222222222"
	in := map[string]any{
		"memory " + theirs: map[string]any{"id": theirs, "clock": "x", "device": "y", "title": "see " + theirs},
		"list":             []string{theirs, "33333333-3333-7333-8333-333333333333"},
	}
	want := map[string]any{
		"memory " + ours: map[string]any{"id": ours, "title": "see " + ours},
		"list":           []string{ours, "33333333-3333-7333-8333-333333333333"},
	}
	if d := diff(neutral(tree(in), map[string]string{theirs: ours}), tree(want)); d != "" {
		t.Error(d)
	}
}
