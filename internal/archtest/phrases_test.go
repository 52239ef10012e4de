package archtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/archtest"
	"github.com/amber-memory/amber/internal/must"
)

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return root
}

func TestPhrasesFindsBannedExpressions(t *testing.T) {
	root := tree(t, map[string]string{
		"x.go": "package x\n\n// Whoever reads this.\n// It is as\n// good as new.\nvar a = \"it is\\tall the same\"\n\n" +
			"var whoever = `fine`\n",
		"x_test.go":              "package x\n\nvar b = \"nobody can tell\"\n",
		"docs/a.md":              "# A\n\nIt is something\nelse.\n",
		"docs/decisions/1.md":    "all the same\n",
		"changelog/unreleased/a": "all the same\n",
		"testdata/a.md":          "all the same\n",
	})
	got := must.Get(archtest.Phrases(root))(t)
	want := []string{
		`docs/a.md:3: "is something else" is not plain English`,
		`x.go:3: "whoever" is not plain English`,
		`x.go:4: "as good as" is not plain English`,
		`x.go:6: "all the same" is not plain English`,
		`x_test.go:3: "nobody can tell" is not plain English`,
	}
	must.Equal(t, "found", got, want)
}

func TestModuleSpeaksPlainly(t *testing.T) {
	found := must.Get(archtest.Phrases("../.."))(t)
	for _, f := range found {
		t.Error(f)
	}
}

func TestHouseFindsMissingAndUnknownPackages(t *testing.T) {
	root := tree(t, map[string]string{
		"x.go":                 "package x\n",
		"store/sqlite/x.go":    "package x\n",
		"store/inmem/x.go":     "package x\n",
		"internal/fsx/x.go":    "package x\n",
		"wire/x.go":            "package x\n",
		"notes/x.go":           "package x\n",
		"docs/architecture.md": "# A\n\n## The house\n\n```\namber/    nouns\n  wire/   shapes\nstore/\n  inmem/, sqlite/   backends\n  gone/   was here\ninternal/  all\n```\n\nnotes/ is not in the tree.\n",
	})
	got := must.Get(archtest.House(root))(t)
	want := []string{
		"docs/architecture.md does not name the package internal/fsx",
		"docs/architecture.md does not name the package notes",
		"docs/architecture.md names store/gone, which is not a package",
	}
	must.Equal(t, "broken", got, want)
}

func TestModuleIsDrawnAsItIs(t *testing.T) {
	broken := must.Get(archtest.House("../.."))(t)
	for _, b := range broken {
		t.Error(b)
	}
}
