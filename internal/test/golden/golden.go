// Package golden compares what a test got with a file that says what it should
// get. It is for tests.
package golden

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/internal/base/fsx"
)

const maxBytes = 1 << 20 // of a golden file

// Check compares got with testdata/<name>.golden, which is written anew first
// when update is set. A checkout may have turned line ends into CR LF.
func Check(t testing.TB, update bool, name, got string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name+".golden"))
	if err == nil && update {
		err = write(path, got)
	}
	if err != nil {
		t.Fatal(err)
	}
	want, err := fsx.ReadFile(fsx.OS(), path, maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func write(path, text string) error {
	if err := fsx.MkdirAll(fsx.OS(), filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return fsx.Replace(fsx.OS(), path, 0o644, []byte(text))
}
