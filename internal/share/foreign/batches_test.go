package foreign_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestBatches(t *testing.T) {
	sizes := map[string]int{"a": 3, "b": 4, "c": 1, "d": 50, "e": 2, "f": 8}
	size := func(id string) int { return sizes[id] }
	must.Equal(t, "batches", foreign.Batches([]string{"a", "b", "c", "d", "e", "f"}, size, 8), [][]string{{"a", "b", "c"}, {"d"}, {"e"}, {"f"}})
	must.Equal(t, "batches of nothing", len(foreign.Batches(nil, size, 8)), 0)
}

func TestDocumentsAreFoundByTheirHead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.json": `{"list":[{"id":1},{"id":2}],"count":2}`, "b.json": `[7,{"id":3}]`, "c.json": `text`, "d.txt": `{"list":[{"id":1}]}`,
		"e.json": `{"list":[{"id":1},` + strings.Repeat(" ", 70<<10) + `],"late":1}`, "x/y/z.json": `[{"id":1}]`, "f.json": "", "g.json": `[]`,
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	tree := must.Get(foreign.Open(dir))(t)
	defer tree.Close()
	names := func(fits func(foreign.Sample) bool) string {
		var out []string
		for _, f := range tree.Documents(fits) {
			out = append(out, f.Name)
		}
		return strings.Join(out, " ")
	}
	all := func(s foreign.Sample) bool { return s.First["list"].Has("id") || s.First[""].Has("id") }
	must.Equal(t, "with an id", names(all), "a.json b.json e.json")
	must.Equal(t, "detected", tree.DetectDocuments(all), foreign.Sure)
	looks := 0
	must.Equal(t, "not detected", tree.DetectDocuments(func(foreign.Sample) bool { looks++; return false }), foreign.No)
	must.Equal(t, "looks of detection at six documents", looks, 5)
	must.Equal(t, "with members", names(func(s foreign.Sample) bool { return s.Members.Text("count") == "2" }), "a.json")
}
