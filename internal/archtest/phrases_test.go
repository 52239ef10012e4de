package archtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/archtest"
	"github.com/amber-memory/amber/internal/test/must"
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
		`x.go:3: "Whoever reads this. It is as good as new.": name the actor`,
		`x.go:3: "whoever" is not plain English`,
		`x.go:4: "as good as" is not plain English`,
		`x.go:6: "all the same" is not plain English`,
		`x_test.go:3: "nobody can tell" is not plain English`,
	}
	must.Equal(t, "found", got, want)
}

func TestPhrasesFindsBannedConstructions(t *testing.T) {
	root := tree(t, map[string]string{
		"x.go": "package x\n\n// A gate that nobody\n// holds is open. What is behind it is free. It is tried once.\nvar a = `what nobody reads`\n\n" +
			"// Of returns the part. It tells\n// what is missing, and comes with a hint.\nfunc Of() {}\n\n" +
			"// nobody is a tenant without rows.\nvar nobody = 1 // who asks is told of it\n",
		"x_test.go": "package x\n\n// Who has the key gets in: of two readers one waits.\nvar b = 1\n",
	})
	got := must.Get(archtest.Phrases(root))(t)
	want := []string{
		`x.go:12: "told of it": say reports, returns, lists or names`,
		`x.go:3: "It is tried once.": name who does it`,
		`x.go:3: "What is behind it is free. It is tried once.": begin with the actor or the thing`,
		`x.go:3: "nobody holds is open. What is behind it is free. It is tried": name the actor`,
		`x.go:7: "comes with a hint.": say is, means, has or contains`,
		`x.go:7: "tells what is missing, and comes with a hint.": say reports, returns, lists or names`,
		`x_test.go:3: "Who has the key gets in: of two readers one waits.": begin with the actor or the thing`,
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
