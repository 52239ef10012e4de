package journal_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// The mark changes with every append and every file that goes, and with nothing else.
func TestMarkChangesWithTheJournal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	segment := filepath.Join(dir, "key", "000001.seg")
	seen := map[string]bool{}
	differs := func(what string) {
		mark := journal.Mark(dir)
		must.Hold(t, mark != "" && !seen[mark], "%s: the mark is %q again", what, mark)
		must.Equal(t, "a second look", journal.Mark(dir), mark)
		seen[mark] = true
	}
	differs("empty")
	must.Do(t, os.Mkdir(filepath.Dir(segment), 0o700))
	must.Do(t, os.WriteFile(segment, []byte("a"), 0o600))
	differs("a segment")
	must.Do(t, os.WriteFile(segment, []byte("ab"), 0o600))
	differs("an append")
	must.Do(t, os.WriteFile(filepath.Join(dir, "key", "000002.seg"), []byte("a"), 0o600))
	differs("another segment")
	must.Do(t, os.Remove(segment))
	differs("one is gone")
}
