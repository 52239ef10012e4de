package redact_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestNegatives leaves alone what only looks like a secret: prose about
// secrets, code that handles them, placeholders, lock files, digests, pictures.
func TestNegatives(t *testing.T) {
	t.Parallel()
	r := redact.New()
	total := 0
	for name, text := range negatives(t) {
		total += len(text)
		got, report := r.String(text)
		if got == text {
			continue
		}
		t.Errorf("%s: %v", name, report.Counts)
		after := strings.Split(got, "\n")
		for i, line := range strings.Split(text, "\n") {
			if i < len(after) && after[i] != line {
				t.Errorf("%s:%d: %q became %q", name, i+1, line, after[i])
			}
		}
	}
	if want := 200 << 10; total < want {
		t.Errorf("the corpus has %d bytes, want %d or more", total, want)
	}
}

// negatives returns the files of testdata/negatives by name.
func negatives(tb testing.TB) map[string]string {
	tb.Helper()
	files := must.Get(filepath.Glob(filepath.Join("testdata", "negatives", "*")))(tb)
	texts := make(map[string]string)
	for _, file := range files {
		b := must.Get(os.ReadFile(file))(tb)
		texts[filepath.Base(file)] = string(b)
	}
	return texts
}
