package codex_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/codex"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestWrittenNotesAreRead(t *testing.T) {
	created := foreigntest.At(t, "2026-01-02T03:04:05Z")
	memory := func(id amber.MemoryID, title, content string) amber.Memory {
		return amber.Memory{ID: id, Title: title, Content: content, CreatedAt: created, UpdatedAt: created}
	}
	c := &foreigntest.Contents{MemoryList: []amber.Memory{
		memory("01890a5d-ac96-774b-bcce-b302099a8057", "Round once!", "At the invoice.\n\n"),
		memory("01890a5d-ac96-774b-bcce-b302099a8058", "round ONCE", "<!-- amber:x -->"),
		memory("01890a5d-ac96-774b-bcce-b302099a8059", "", "Größe zählt"),
		memory("01890a5d-ac96-774b-bcce-b30209900000", "日本", "日本"),
	}}
	dir := t.TempDir()
	write := func() {
		must.Do(t, codex.Format.Write(context.Background(), c, foreign.WriteOptions{}, foreigntest.Folder(dir)))
	}
	write()
	names := must.Get(filepath.Glob(filepath.Join(dir, "extensions/ad_hoc/notes/*")))(t)
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	must.Equal(t, "names", names, []string{
		"2026-01-02T03-04-05-01890a5d-ac96-774b-bcce-b30209900000.md", "2026-01-02T03-04-05-gr-e-z-hlt.md",
		"2026-01-02T03-04-05-round-once-" + foreign.Hex(foreign.Digest("01890a5d-ac96-774b-bcce-b302099a8058"))[:8] + ".md",
		"2026-01-02T03-04-05-round-once.md",
	})
	r := foreigntest.Read(t, codex.Format, dir)
	got, want := map[string]string{}, map[string]string{}
	for _, m := range r.Memories {
		got[m.AmberID] = m.Content
		must.Equal(t, "created", m.CreatedAt, created, foreigntest.Times)
	}
	for _, m := range c.MemoryList {
		want[string(m.ID)] = m.Content
	}
	must.Equal(t, "what is read back", got, want)
	write()
	must.Equal(t, "files after a second export", len(must.Get(os.ReadDir(filepath.Join(dir, "extensions/ad_hoc/notes")))(t)), 4)
}

func TestANoteOfAPersonIsKept(t *testing.T) {
	dir := foreigntest.Files(t, map[string]string{"extensions/ad_hoc/notes/2026-01-02T03-04-05-round-once.md": "Mine."})
	c := &foreigntest.Contents{MemoryList: []amber.Memory{{ID: "a", Title: "round once", Content: "x", CreatedAt: foreigntest.At(t, "2026-01-02T03:04:05Z")}}}
	must.Do(t, codex.Format.Write(context.Background(), c, foreign.WriteOptions{}, foreigntest.Folder(dir)))
	b := must.Get(os.ReadFile(filepath.Join(dir, "extensions/ad_hoc/notes/2026-01-02T03-04-05-round-once.md")))(t)
	must.Equal(t, "the note", string(b), "Mine.")
	must.Equal(t, "files", len(must.Get(os.ReadDir(filepath.Join(dir, "extensions/ad_hoc/notes")))(t)), 2)
}
