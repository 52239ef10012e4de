package digest

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestCuesAreRead: each list is read, its phrases are as words of a text are, and a phrase counts by its weight.
func TestCuesAreRead(t *testing.T) {
	t.Parallel()
	files := must.Get(fs.Glob(phrases, "cues/*.txt"))(t)
	must.Equal(t, "files", len(files), 11)
	for _, file := range files {
		c := cuesOf(strings.TrimSuffix(path.Base(file), ".txt"))
		for _, some := range c.first() {
			for _, one := range some {
				must.Equal(t, file, words(strings.Join(one.words, " ")), one.words)
				must.Equal(t, file, c.score(one.words), one.weight)
			}
		}
	}
}

func TestCuesAreChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"1 a b\n\n# c\n":    "",
		"1 a\nmuch a b\n":   `line 2 of x is "much a b\n", want a weight and a phrase`,
		"1\n":               `line 1 of x is "1\n", want a weight and a phrase`,
		"1 a b\n0 a  b\r\n": `line 2 of x has the phrase "a b", which is in the file already`,
	} {
		_, err := readCues(fstest.MapFS{"x": {Data: []byte(text)}}, "x")
		got := ""
		if err != nil {
			got = err.Error()
		}
		must.Equal(t, text, got, want)
	}
}
