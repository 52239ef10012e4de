package archtest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/archtest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestTheIndexNamesWhatExists(t *testing.T) {
	for _, b := range must.Get(archtest.Index("../.."))(t) {
		t.Error(b)
	}
}

func TestIndexFindsWhatIsMissing(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"docs/README.md": "[a](a.md#x), [web](https://example.org/a), [c](../c)\n\n| x | `a/b.go`, `c.go`, `d.go`, `a/*_z.go` | `go test ./a ./e/... -run X`, `go -C a test ./in ./out` |\n",
		"docs/a.md":      "", "docs/left.md": "", "a/b.go": "", "a/c.go": "", "a/y_z.go": "", "a/in/x.go": "",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	}
	must.Equal(t, "broken", must.Get(archtest.Index(root))(t), []string{
		"docs/README.md does not link docs/left.md",
		"docs/README.md links c, which does not exist",
		"docs/README.md names a/out, which does not exist",
		"docs/README.md names d.go, which does not exist",
		"docs/README.md names e, which does not exist",
	})
}
