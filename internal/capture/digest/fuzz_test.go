package digest_test

import (
	"testing"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/digest"
)

// FuzzMake: whatever is said and done, a digest quotes it, and is bounded.
func FuzzMake(f *testing.F) {
	f.Add("Never do this again. Why does it fail?", "Because `make` isn`t there.\n\nStill open:\n- the docs", "Two rules. No tabs.", "make all && go test ./...")
	f.Add("> quoted\n```sh\n$ make all\n```\n", "**Bold**: text。終わり！", "|a|b|\n1. one\n2) two:\n* [ ] three", "FOO=1 ./x; y")
	f.Fuzz(func(t *testing.T, asked, answer, again, command string) {
		turns := said(asked, answer, again, answer+asked)
		d := make1(turns,
			amber.Activity{Kind: amber.ActivityCommand, Name: command, Status: "failed", Count: 1, Failed: 1},
			amber.Activity{Kind: amber.ActivityFile, Name: asked, Status: "modified"},
			amber.Activity{Kind: amber.ActivityTask, Name: answer, Status: "pending"},
			amber.Activity{Kind: amber.ActivityCommand, Name: again + ";" + command, Status: "completed", Count: 2},
		)
		checkExtractive(t, turns, d)
		for _, it := range d.Items {
			if len(it.Text) > digest.MaxItemBytes || !utf8.ValidString(it.Text) {
				t.Errorf("%s: %q", it.Kind, it.Text)
			}
		}
		if len(d.Items) > digest.MaxItems || !utf8.ValidString(d.Content()+d.Summary()+d.Title()) {
			t.Errorf("%d items:\n%s", len(d.Items), d.Content())
		}
		if _, err := digest.Check(digest.Session{ID: "s", Turns: turns}, d.Items); err != nil && amber.KindOf(err) != amber.KindInvalid {
			t.Error(err)
		}
	})
}
