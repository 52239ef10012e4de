package githook

import (
	"bytes"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// FuzzBlock puts our lines into any script and takes them out again.
func FuzzBlock(f *testing.F) {
	for _, s := range []string{"#!/bin/sh\n", "#!/bin/sh", "#!/bin/sh\necho\n", "#!/bin/sh\n\n\r\n# x", "", beginMark + "\n", endMark} {
		f.Add([]byte(s))
	}
	block := Install{Binary: "/amber", Folder: ".amber", Upstream: "origin/main"}.block(PostMerge)
	other := Install{Binary: "/other/amber", Folder: "it's", Upstream: "origin/main"}.block(PostMerge)
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, _, ok, err := span(text); ok || err != nil || !isScript(text) || bytes.HasPrefix(text, []byte(shebang+"\n"+madeMark)) {
			t.Skip("it is not what somebody else wrote")
		}
		in := must.Get(with(text, block))(t)
		must.Equal(t, "a second time", must.Get(with(in, block))(t), in)
		in = must.Get(with(in, other))(t)
		out, ok, err := without(in)
		if err != nil || !ok || !bytes.Equal(out, text) {
			t.Errorf("got %q, %v, %v; want %q", out, ok, err, text)
		}
	})
}

func TestQuote(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "''", ".amber": ".amber", "--dir=a/b": "--dir=a/b", "a b": "'a b'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "~/x": "'~/x'", "ü": "'ü'", "a\\b": `'a\b'`,
	} {
		must.Equal(t, in, quote(in), want)
	}
}
