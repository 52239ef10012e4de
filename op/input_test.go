package op

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// FuzzTags: a header of entity tags that names one tag matches it and no other.
func FuzzTags(f *testing.F) {
	for _, s := range []string{`"1"`, `*`, ``, `""`, `"a", "b"`, `W/"1"`, `"a`, `a"`, ` "x" `} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, header string) {
		tag, err := ifMatch(header)
		if err != nil {
			must.Kind(t, header, err, amber.KindInvalid)
		}
		if err != nil || tag == "" {
			return
		}
		if strings.Contains(tag, `"`) || !strings.Contains(tag, ",") && !Matches(header, tag) || Matches(header, tag+"x") {
			t.Errorf("%q is %q", header, tag)
		}
	})
}
