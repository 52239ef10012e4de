package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/test/must"
)

// live is how many memories of the store are live.
func (w *world) count() int {
	w.t.Helper()
	return len(must.Get(w.store.Memories.List(w.t.Context(), amber.ListQuery{All: true, Limit: amber.MaxPageSize}))(w.t).Items)
}

func TestRowsLoadAsTheCursorMovesDown(t *testing.T) {
	w := newWorld(t, func(w *world) {
		for i := range 120 {
			w.remember(amber.WriteRequest{Content: fmt.Sprintf("fact number %d", i)})
		}
	})
	w.size(80, 24).press("esc", "2")
	must.Equal(t, "rows at first", len(w.m.Page().Rows), window.PageSize)
	w.says("Memories  50+", "> fact number 119")
	w.press("G")
	must.Equal(t, "rows after G", len(w.m.Page().Rows), 2*window.PageSize)
	w.press("G", "G")
	must.Equal(t, "rows at the end", len(w.m.Page().Rows), 120)
	w.says("Memories  120", "> fact number 0")
	w.press("/", "number 77", "enter")
	w.says("1 of 120", "> fact number 77")
	w.press("esc").says("Memories  120", "> fact number 77")
}

func TestEditInTheEditor(t *testing.T) {
	w := newWorld(t, fill)
	w.desk.typed = func(text string) string { return text + ", and SQLite in tests\n" }
	w.press("esc", "2", "G", "e")
	w.says("stored as revision 3")
	r, _ := w.m.Page().Current()
	must.Equal(t, "content", must.Get(w.store.Memories.Get(t.Context(), amber.MemoryID(r.ID)))(t).Content, "We chose PostgreSQL for JSONB, and SQLite in tests")
	if _, err := os.Stat(filepath.Join(w.desk.dir, "text.md")); !os.IsNotExist(err) {
		t.Errorf("the file of the editor is still there: %v", err)
	}
	w.desk.typed = func(text string) string { return text }
	w.press("e").says("nothing was stored")
}

// Another user edits the memory while it is in the editor: both texts are shown, and the edited one is stored
// over the other only once the user has seen it.
func TestConflictingEditLosesNoText(t *testing.T) {
	w := newWorld(t, fill)
	w.press("esc", "2", "G")
	r, _ := w.m.Page().Current()
	w.desk.typed = func(string) string {
		theirs := "We chose CockroachDB"
		must.Get(w.store.Editor.Edit(t.Context(), amber.EditRequest{ID: amber.MemoryID(r.ID), Content: &theirs}))(t)
		return "We chose MariaDB"
	}
	w.press("e")
	w.says("Not stored", "conflict", "- We chose CockroachDB", "+ We chose MariaDB")
	must.Equal(t, "text in the file", string(must.Get(os.ReadFile(filepath.Join(w.desk.dir, "text.md")))(t)), "We chose MariaDB")
	must.Equal(t, "stored", must.Get(w.store.Memories.Get(t.Context(), amber.MemoryID(r.ID)))(t).Content, "We chose CockroachDB")
	w.desk.typed = func(text string) string { return text + " after all" }
	w.press("e").says("stored as revision 4")
	must.Equal(t, "stored", must.Get(w.store.Memories.Get(t.Context(), amber.MemoryID(r.ID)))(t).Content, "We chose MariaDB after all")
}

func TestForgetAsksAndIsUndone(t *testing.T) {
	w := newWorld(t, fill)
	w.press("esc", "2", "x", "x", "D").says("Forget 2 memories?")
	w.press("D", "y", "x")
	must.Equal(t, "memories before it is confirmed", w.count(), 3)
	w.press("esc").says("nothing was changed")
	w.press("D", "enter").says("forgot 2 memories")
	must.Equal(t, "memories", w.count(), 1)
	w.press("u").says("Bring back 2 memories?")
	w.press("enter").says("brought back 2 memories")
	must.Equal(t, "memories", w.count(), 3)
}

func TestUndoWritesTheEarlierRevision(t *testing.T) {
	w := newWorld(t, fill)
	w.press("esc", "2", "G", "u").says("Write revision 1 again?", "- We chose PostgreSQL for JSONB", "+ We chose MySQL")
	w.press("enter").says("revision 3 says what revision 1 said")
	r, _ := w.m.Page().Current()
	must.Equal(t, "content", must.Get(w.store.Memories.Get(t.Context(), amber.MemoryID(r.ID)))(t).Content, "We chose MySQL")
}

func TestTimelineHistoryAndRelations(t *testing.T) {
	w := newWorld(t, fill).size(120, 30)
	w.press("esc", "2", "G", "t").says("Memories > Timeline", "this one")
	w.press("esc", "h").says("revision 2: content", "revision 1: created")
	w.press("d").says("- We chose MySQL", "+ We chose PostgreSQL")
	w.press("esc", "esc", "r").says("related ->", "Coupons round half to even")
}

// A key that is held down asks the store for the first row and the last, not for all between.
func TestDocumentsAreAskedForOneAtATime(t *testing.T) {
	w := newWorld(t, fill)
	w.press("esc", "4")
	p := w.m.Page()
	p.Asking, p.DocOf = true, ""
	if c := w.m.Follow(p); c != nil {
		t.Error("a second document is asked for while the first is under way")
	}
}

func TestAFailingScreenShowsTheErrorAndStays(t *testing.T) {
	w := newWorld(t, fill)
	w.frozen.fails = amber.Errorf(amber.KindRefused, "list snapshots", "", "the token has no scope snapshot").WithHint("amber token create --scope snapshot")
	w.press("esc", "5").says("error (refused)", "the token has no scope snapshot", "hint: amber token create --scope snapshot", "[5 Snapshots]")
	w.press("2").says("[2 Memories]", "Database")
	w.frozen.fails = nil
	w.press("5", "5").says("second", "first").hides("error")
}

func TestSetAsideRowsAreSaid(t *testing.T) {
	note := asideNote([]amber.SetAside{{Table: "memories", ID: "m1", Reason: "no JSON"}})
	must.Says(t, "note", note, "1 row", "m1", "no JSON")
	must.Equal(t, "note of none", asideNote(nil), "")
}

func TestCopyMenu(t *testing.T) {
	w := newWorld(t, fill)
	w.press("esc", "2", "y").says("i id:", "t text: The user prefers short answers", "c command: amber get")
	w.press("t").says("copied the text")
	found := false
	for _, msg := range w.said {
		found = found || strings.Contains(fmt.Sprintf("%T %v", msg, msg), "The user prefers short answers")
	}
	must.Hold(t, found, "no message sets the clipboard: %v", w.said)
}
