package redact_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestOrdinaryTextStays redacts five megabytes of the sources of Go, which hold programs, prose,
// tables of numbers, keys for tests and hashes. At most one line in a thousand may change.
func TestOrdinaryTextStays(t *testing.T) {
	t.Parallel()
	size := 5 << 20
	if testing.Short() {
		size = 1 << 20
	}
	r := redact.New()
	bytes, lines, changed := 0, 0, map[string]int{}
	root := filepath.Join(strings.TrimSpace(string(must.Get(exec.Command("go", "env", "GOROOT").Output())(t))), "src") // the sources of the Go that runs the test
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case bytes >= size:
			return fs.SkipAll
		case d.IsDir() || filepath.Ext(path) != ".go" && filepath.Ext(path) != ".md":
			return nil
		}
		text := string(must.Get(os.ReadFile(path))(t))
		bytes += len(text)
		lines += strings.Count(text, "\n")
		for _, f := range r.Find(text) {
			changed[f.Rule] += 1 + strings.Count(text[f.Start:f.End], "\n")
		}
		return nil
	})
	must.Do(t, err)
	if bytes < size {
		t.Skipf("%s has %d bytes of text", root, bytes)
	}
	if n := sum(changed); 1000*n > lines {
		t.Errorf("of %d lines %d change: %v", lines, n, changed)
	}
}
