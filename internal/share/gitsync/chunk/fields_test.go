package chunk_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync/chunk"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestDocumentListsTheFields fails when a type of the root package gets a field:
// older readers refuse it, so it needs a new version of the format.
func TestDocumentListsTheFields(t *testing.T) {
	t.Parallel()
	b := must.Get(os.ReadFile("../../../../docs/format/sync.md"))(t)
	doc := strings.ReplaceAll(string(b), "\r\n", "\n")
	for name, typ := range map[string]reflect.Type{
		"session":  reflect.TypeFor[amber.SyncSession](),
		"memory":   reflect.TypeFor[amber.SyncMemory](),
		"prompt":   reflect.TypeFor[amber.Turn](),
		"relation": reflect.TypeFor[amber.Relation](),
	} {
		want := "| `" + name + "` | " + strings.Join(fieldNames(typ), ", ") + " |"
		if !strings.Contains(doc, want) {
			t.Errorf("the document does not show\n%s", want)
		}
	}
	for _, name := range fieldNames(reflect.TypeFor[chunk.Header]()) {
		if row := "\n| " + strings.Replace(name, "?", "", 1) + " | "; !strings.Contains(doc, row) {
			t.Errorf("the document has no row%s", row)
		}
	}
	want := []string{"`session?`", "`memory?`", "`prompt?`", "`relation?`", "`erased?`", "`gone?`"}
	must.Equal(t, "kinds of records", fieldNames(reflect.TypeFor[amber.SyncRecord]()), want)
}

// fieldNames are those in JSON, in their order; optional ones have a question
// mark.
func fieldNames(typ reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(typ) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "": // embedded
		case strings.Contains(options, "omit"):
			names = append(names, "`"+name+"?`")
		default:
			names = append(names, "`"+name+"`")
		}
	}
	return names
}
