package archtest_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/archtest"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
)

var update = flag.Bool("update", false, "write the drawing of the wings and the list of exported names anew")

// TestTheDrawingIsThatOfTheImports compares docs/architecture.md with the imports. Run with -update after a change.
func TestTheDrawingIsThatOfTheImports(t *testing.T) {
	const page = "../../docs/architecture.md"
	drawing := must.Get(archtest.Drawing("../.."))(t)
	text := string(must.Get(os.ReadFile(page))(t))
	before, rest, ok := strings.Cut(text, "## The wings\n\n```\n")
	drawn, after, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatalf("%s has no drawing below the heading The wings", page)
	}
	if *update {
		must.Do(t, os.WriteFile(page, []byte(before+"## The wings\n\n```\n"+drawing+"```"+after), 0o644))
		drawn = drawing
	}
	must.Equal(t, "drawing", drawn, drawing)
}

func TestDrawing(t *testing.T) {
	root := t.TempDir()
	for file, imports := range map[string][]string{
		"x.go":                             nil,
		"wire/x.go":                        {""},
		"cmd/amber/x.go":                   {"/agent", "/internal/store/notes", "/internal/base/fsx"},
		"agent/x.go":                       {"/internal/store/notes", "", "/wire"},
		"internal/store/notes/x.go":        {"/internal/base/fsx"},
		"internal/store/notestest/x.go":    {"/internal/serve/web"},
		"internal/serve/web/x.go":          {"/internal/store/notes"},
		"internal/base/fsx/x.go":           {"/internal/base/names"},
		"internal/base/names/x.go":         nil,
		"internal/base/names/x_test.go":    {"/internal/serve/web"},
		"internal/test/must/must.go":       {"/internal/base/fsx"},
		"internal/archtest/archtest.go":    nil,
		"tools/bench/main.go":              {"/agent"},
		"internal/serve/web/testdata/x.go": {"/cmd/amber"},
	} {
		source := "package x\n"
		for _, i := range imports {
			source += "import _ \"" + archtest.Module + i + "\"\n"
		}
		file = filepath.Join(root, filepath.FromSlash(file))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte(source), 0o600))
	}
	got := must.Get(archtest.Drawing(root))(t)
	must.Equal(t, "drawing", got, "cmd       → agent\nserve     → store\nagent     → store\nstore     → base\nbase\n")
}

// TestExportedNamesAreThoseOfTheList compares what a program may import with the list, so that a change of it is seen. Run
// with -update after a change.
func TestExportedNamesAreThoseOfTheList(t *testing.T) {
	golden.Check(t, *update, "exported", must.Get(archtest.Exported("../.."))(t))
}

func TestExported(t *testing.T) {
	root := t.TempDir()
	for file, source := range map[string]string{
		"x.go":                 "package amber\n\n// A is a thing.\ntype A struct {\n\tB, c int\n\tD\n\t*e\n}\n\ntype D interface {\n\tM()\n\tm()\n}\n\ntype e = A\n\nconst (\n\tF = 1\n\tg = 2\n)\n",
		"wire/x.go":            "package wire\n\nfunc H() {}\n\nfunc i() {}\n\ntype j[T any] struct{}\n\nfunc (j[T]) K() {}\n\ntype L[T any] struct{}\n\nfunc (*L[T]) M() {}\n\nfunc (L[T]) n() {}\n\nvar O, p = 1, 2\n",
		"internal/base/x/x.go": "package x\n\nfunc Q() {}\n",
		"cmd/amber/x.go":       "package main\n\nfunc R() {}\n",
		"tools/bench/x.go":     "package main\n\nfunc S() {}\n",
	} {
		file = filepath.Join(root, filepath.FromSlash(file))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte(source), 0o600))
	}
	got := must.Get(archtest.Exported(root))(t)
	must.Equal(t, "names", got, ". A B D\n. D M\n. F\nwire H\nwire L M\nwire O\n")
}
