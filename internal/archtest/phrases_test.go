package archtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/internal/archtest"
)

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
	got, err := archtest.Phrases(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`docs/a.md:3: "is something else" is not plain English`,
		`x.go:3: "whoever" is not plain English`,
		`x.go:4: "as good as" is not plain English`,
		`x.go:6: "all the same" is not plain English`,
		`x_test.go:3: "nobody can tell" is not plain English`,
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("found (-got +want):\n%s", diff)
	}
}

func TestModuleSpeaksPlainly(t *testing.T) {
	found, err := archtest.Phrases("../..")
	if err != nil {
		t.Fatal(err)
	}
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
	got, err := archtest.House(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"docs/architecture.md does not name the package internal/fsx",
		"docs/architecture.md does not name the package notes",
		"docs/architecture.md names store/gone, which is not a package",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("broken (-got +want):\n%s", diff)
	}
}

func TestModuleIsDrawnAsItIs(t *testing.T) {
	broken, err := archtest.House("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range broken {
		t.Error(b)
	}
}
