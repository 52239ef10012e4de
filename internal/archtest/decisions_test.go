package archtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/archtest"
	"github.com/amber-memory/amber/internal/test/must"
)

// unusedNumber is of a record that was never written.
const unusedNumber = 45

func TestRecordsSayTheirStatus(t *testing.T) {
	for _, b := range must.Get(archtest.Decisions("../..", unusedNumber))(t) {
		t.Error(b)
	}
}

func TestDecisionsFindsWhatDiffers(t *testing.T) {
	root := t.TempDir()
	folder := filepath.Join(root, "docs", "decisions")
	must.Do(t, os.MkdirAll(folder, 0o700))
	for name, text := range map[string]string{
		"0001-one.md":   "# 1. One\n\nStatus: accepted\n\nText.\n",
		"0002-two.md":   "# 2. Two\n\nStatus: superseded by [3](0003-three.md): text\n\nText.\n",
		"0003-three.md": "# 3. Three\n\nStatus: amended by [1](0001-one.md), [7](0007-gone.md) and 8\n\nText.\n",
		"0004-four.md":  "# 4. Four\n\nText.\n\nStatus: accepted\n",
		"0004-again.md": "# Four\n\nStatus: accepted\n\nText.\n",
		"0007-seven.md": "# 7. Seven\n\nStatus: accepted.\n\nText.\n",
		"notes.md":      "",
	} {
		must.Do(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	must.Equal(t, "broken", must.Get(archtest.Decisions(root, 6))(t), []string{
		"docs/decisions has no record 5",
		"docs/decisions/0003-three.md: the status names \"8\", want a record as [25](0025-title.md)",
		"docs/decisions/0003-three.md: the status names [1](0001-one.md), which is not a later record",
		"docs/decisions/0003-three.md: the status names [7](0007-gone.md), which is not a later record",
		"docs/decisions/0004-again.md and 0004-four.md have one number",
		"docs/decisions/0004-four.md: \"Text.\" is not \"Status: accepted\", nor amended or superseded by records",
		"docs/decisions/0007-seven.md: \"Status: accepted.\" is not \"Status: accepted\", nor amended or superseded by records",
		"docs/decisions/notes.md is not named NNNN-title.md",
	})
}

func TestDependenciesAreDecided(t *testing.T) {
	for _, b := range must.Get(archtest.Dependencies("../.."))(t) {
		t.Error(b)
	}
}

func TestDependenciesFindsWhatIsNotDecided(t *testing.T) {
	root := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(root, "docs", "decisions"), 0o700))
	must.Do(t, os.WriteFile(filepath.Join(root, "docs", "decisions", "0004-dependencies.md"), []byte("golang.org/x/text"), 0o600))
	mod := "module m\n\nrequire (\n\tgolang.org/x/text v0.1.0\n\texample.org/a/v2 v2.0.0\n)\n\nrequire example.org/b v1.0.0 // indirect\n"
	must.Do(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte(mod), 0o600))
	must.Do(t, os.Mkdir(filepath.Join(root, "tools"), 0o700))
	mod = "module m/tools\n\nrequire (\n\tgithub.com/amber-memory/amber v0.0.0\n\texample.org/a/v2 v2.0.0\n\texample.org/c v1.0.0\n)\n"
	must.Do(t, os.WriteFile(filepath.Join(root, "tools", "go.mod"), []byte(mod), 0o600))
	must.Equal(t, "broken", must.Get(archtest.Dependencies(root))(t), []string{
		"docs/decisions/0004-dependencies.md does not name example.org/a",
		"docs/decisions/0004-dependencies.md does not name example.org/c",
	})
}
