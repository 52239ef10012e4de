package colony_test

import (
	"crypto/rand"
	"os"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestTheFormatIsDocumented looks for every member and every vector in the
// document.
func TestTheFormatIsDocumented(t *testing.T) {
	t.Parallel()
	doc := string(readFile(t, "../../../docs/format/colony.md"))
	d := newDraft(t)
	d.Recipients, d.Random = []age.Recipient{newIdentity(t).Recipient()}, rand.Reader
	p := pack(t, d)
	var words []string
	for _, f := range []string{p.Manifest.Content, p.Parts[0].Content, newPointer().Content} {
		words = append(words, memberNames(t, f)...)
	}
	for _, dir := range []string{"testdata/ok", "testdata/mut"} {
		for _, e := range must.Get(os.ReadDir(dir))(t) {
			if e.IsDir() {
				words = append(words, e.Name())
			}
		}
	}
	if len(words) < 17+4+5+13+41 {
		t.Fatalf("only %d words", len(words))
	}
	for _, word := range words {
		must.Says(t, "the document", doc, "`"+word+"`")
	}
}
