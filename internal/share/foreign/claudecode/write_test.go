package claudecode_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/claudecode"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func memory(n int, title, content string) amber.Memory {
	return amber.Memory{
		ID: amber.MemoryID(fmt.Sprintf("01890a5d-ac96-774b-bcce-b302%08x", n)), Kind: amber.ProjectFact, Title: title, Content: content,
		UpdatedAt: at("2026-01-02T03:04:05.678Z"),
	}
}

// written exports memories into a folder.
func written(t *testing.T, dir string, list ...amber.Memory) {
	t.Helper()
	must.Do(t, claudecode.Format.Write(t.Context(), &foreigntest.Contents{MemoryList: list}, foreign.WriteOptions{}, foreigntest.Folder(dir)))
}

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		names = append(names, e.Name())
	}
	return names
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t))
}

func TestWrittenFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := memory(1, `Deploy "window" #1`, "Mondays only.\nSee [[x]].")
	m.Summary, m.SessionID = "When: we may\ndeploy # really", "s-1"
	written(t, dir, m)
	got := content(t, dir, "deploy-window-1.md")
	head, _, _ := strings.Cut(got, "  amber_digest")
	must.Equal(t, "head", head, `---
name: "Deploy \"window\" #1"
description: "When: we may deploy # really"
metadata:
  node_type: memory
  type: "project"
  originSessionId: "s-1"
  modified: "2026-01-02T03:04:05.678Z"
  amber_id: "01890a5d-ac96-774b-bcce-b30200000001"
`)
	must.Says(t, "", got, "---\n\nMondays only.\nSee [[x]].\n")
	must.Equal(t, "index", content(t, dir, "MEMORY.md"), "# Memory\n\n- [Deploy \"window\" #1](deploy-window-1.md) — When: we may deploy # really\n")
}

func TestWhatIsWrittenIsRecognised(t *testing.T) {
	t.Parallel()
	contents := []string{
		"plain", "\n\nblank lines around\n\n", "---\nname: x\n---\nfront matter of its own", "a\r\nb\r\n", "# Heading\n\n```\n---\n```", "ünï — 漢字 \t",
		" spaces ", "a\n---\nb", strings.Repeat("x", 1000000),
	}
	var list []amber.Memory
	for i, c := range contents {
		list = append(list, memory(i, "", c))
	}
	list = append(list, memory(100, "Line\u2028separator: \\ \"quoted\" # [link](x) 'single' {a: b}", "odd title"))
	for _, k := range amber.MemoryKinds() {
		m := memory(len(list)+200, "Kind "+string(k), "of kind "+string(k))
		m.Kind = k
		list = append(list, m)
	}
	dir := filepath.Join(t.TempDir(), "-src-shop", "memory")
	written(t, dir, list...)
	r := foreigntest.Read(t, claudecode.Format, dir)
	got := map[string]string{}
	for _, m := range r.Memories {
		got[m.AmberID] = m.Content
		if m.ProjectID != "shop" || m.Foreign == nil {
			t.Errorf("memory at %s has project %q and foreign %v", m.Place, m.ProjectID, m.Foreign)
		}
	}
	want := map[string]string{}
	for _, m := range list {
		want[string(m.ID)] = m.Content
	}
	must.Equal(t, "contents by id", got, want)
	must.Equal(t, "skips", r.Skips, nil)
	for _, m := range r.Memories {
		if m.AmberID == string(memory(100, "", "").ID) {
			must.Equal(t, "title", m.Title, "Line separator: \\ \"quoted\" # [link](x) 'single' {a: b}")
		}
	}
}

func TestWritingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	dir, again := t.TempDir(), t.TempDir()
	list := []amber.Memory{memory(1, "One", "1"), memory(2, "One", "2"), memory(3, "", "three\nlines"), memory(4, "漢字", "4"), memory(5, "Memory", "5"), memory(6, "con", "6")}
	written(t, dir, list...)
	must.Equal(t, "files", files(t, dir), []string{"4.md", "MEMORY.md", "con-00000006.md", "memory-00000005.md", "one-00000002.md", "one.md", "three.md"})
	written(t, again, list...)
	first := map[string]string{}
	for _, name := range files(t, dir) {
		first[name] = content(t, dir, name)
		must.Equal(t, name, content(t, again, name), first[name])
	}
	must.Do(t, claudecode.Format.Write(t.Context(), &foreigntest.Contents{MemoryList: list}, foreign.WriteOptions{}, frozen{foreigntest.Folder(dir)}))
	for _, name := range files(t, dir) {
		must.Equal(t, name, content(t, dir, name), first[name])
	}
}

// frozen is an output that nothing may be written to.
type frozen struct{ foreigntest.Folder }

func (frozen) Create(name string) (io.WriteCloser, error) {
	return nil, fmt.Errorf("%s is written", name)
}

func TestAMemoryKeepsItsFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	written(t, dir, memory(1, "Old title", "old"))
	written(t, dir, memory(1, "New title", "new"))
	must.Equal(t, "files", files(t, dir), []string{"MEMORY.md", "old-title.md"})
	must.Says(t, "", content(t, dir, "old-title.md"), "New title", "\n\nnew\n")
}

func TestWhatOthersWroteStays(t *testing.T) {
	t.Parallel()
	dir := foreigntest.Files(t, map[string]string{
		"one.md": "---\nname: one\n---\nby hand\n", "two.md": "by hand\n", "three.md": "the same\n", "four.md": "", "MEMORY.md": "# Mine\n- [two](two.md) — by hand",
	})
	written(t, dir, memory(1, "One", "1"), memory(2, "Two", "2"), memory(3, "Three", "the same"), memory(4, "Four", "4"))
	must.Equal(t, "files", files(t, dir), []string{
		"MEMORY.md", "four-00000004.md", "four.md", "one-00000001.md", "one.md", "three.md", "two-00000002.md", "two.md",
	})
	must.Equal(t, "one", content(t, dir, "one.md"), "---\nname: one\n---\nby hand\n")
	must.Equal(t, "two", content(t, dir, "two.md"), "by hand\n")
	must.Equal(t, "index", content(t, dir, "MEMORY.md"), `# Mine
- [two](two.md) — by hand
- [One](one-00000001.md) — 1
- [Two](two-00000002.md) — 2
- [Four](four-00000004.md) — 4
`)
}

func TestAFileThatWasChangedIsNotWrittenOver(t *testing.T) {
	t.Parallel()
	for what, edit := range map[string]func(string) string{
		"the text":        func(s string) string { return s + "and more\n" },
		"the description": func(s string) string { return strings.Replace(s, "old", "older", 1) },
		"the digest":      func(s string) string { return strings.Replace(s, `amber_digest: "`, `amber_digest: "0`, 1) },
	} {
		dir := t.TempDir()
		written(t, dir, memory(1, "One", "old"))
		changed := edit(content(t, dir, "one.md"))
		foreigntest.Put(t, dir, map[string]string{"one.md": changed})
		written(t, dir, memory(1, "One", "new"))
		must.Equal(t, what, content(t, dir, "one.md"), changed)
		must.Equal(t, what, files(t, dir), []string{"MEMORY.md", "one.md"})
	}
}

func TestTheIndexStaysSmall(t *testing.T) {
	t.Parallel()
	var list []amber.Memory
	for i := range 500 {
		list = append(list, memory(i, fmt.Sprintf("Title [%d]", i), "about "+strings.Repeat("ä", 200)))
	}
	dir := t.TempDir()
	written(t, dir, list...)
	must.Equal(t, "files", len(files(t, dir)), 501)
	index := content(t, dir, "MEMORY.md")
	if n := strings.Count(index, "\n"); n >= 200 || len(index) >= 25_000 {
		t.Errorf("index has %d lines and %d bytes", n, len(index))
	}
	must.Says(t, "the newest", index, "- [Title (499)](title-499.md) — about ")
	must.Hides(t, "the oldest", index, "(0)")
	if last := strings.LastIndex(index, "title-499"); strings.LastIndex(index, "title-498") > last {
		t.Error("the newest memory is not the last line")
	}

	full := strings.Repeat("- a line\n", 199)
	foreigntest.Put(t, dir, map[string]string{"MEMORY.md": full})
	written(t, dir, memory(1000, "One more", "1"))
	must.Equal(t, "a full index", content(t, dir, "MEMORY.md"), full)
}

func TestErrorsOfTheOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(dir, "one.md"), 0o700))
	err := claudecode.Format.Write(t.Context(), &foreigntest.Contents{MemoryList: []amber.Memory{memory(1, "One", "1")}}, foreign.WriteOptions{}, foreigntest.Folder(dir))
	must.Error(t, "a folder where a file should be", err)
	must.Equal(t, "files", slices.Contains(files(t, dir), "MEMORY.md"), false)
}
