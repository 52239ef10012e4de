package formats_test

import (
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

// Two files whose names differ in what names of notes lack, in case or in how letters are made up are one note, and the first
// counts.
func TestTwoFilesOnOneNote(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	r := d.take(foreigntest.Files(t, map[string]string{
		"a?b.md": "1", "a-b.md": "2", "a:b.md": "3", " .x/y.md": "4", "e\u0301.md": "5", "\u00e9.md": "6", "C.md": "7", "c.md": "8",
	}), "markdown")
	must.Equal(t, "skipped", r.Skipped, 4)
	var names []string
	for _, n := range must.Get(d.store.Notes.ListNotes(t.Context()))(t) {
		names = append(names, n.Name)
	}
	must.Equal(t, "notes", names, []string{"C", "a-b", "x/y", "\u00e9"})
	must.Equal(t, "text", must.Get(d.store.Notes.ReadNote(t.Context(), "a-b"))(t).Content, "2")
}
