package events_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/events"
)

func TestFileCursorSurvives(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "published", "memory")
	c := events.FileCursor{Path: path}
	if at, found, err := c.Load(t.Context()); at != "" || found || err != nil {
		t.Errorf("without a file: %q, %v, %v", at, found, err)
	}
	for _, p := range []amber.Position{"i/1", "i/20", "another one/3"} {
		must(0, c.Save(t.Context(), p))(t)
		if at, found, err := (events.FileCursor{Path: path}).Load(t.Context()); at != p || !found || err != nil {
			t.Errorf("got %q, %v, %v, want %q", at, found, err, p)
		}
	}
}

func TestFileCursorRefusesWhatIsNoPosition(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "\n", "i/1", "i/1\nx\n", "i\n", "i/-1\n", "/1\n", "i/x\n", strings.Repeat("i", 600) + "/1\n"} {
		path := filepath.Join(t.TempDir(), "cursor")
		must(0, os.WriteFile(path, []byte(text), 0o600))(t)
		if _, _, err := (events.FileCursor{Path: path}).Load(t.Context()); amber.KindOf(err) != amber.KindDamaged {
			t.Errorf("%q: got %v, want damaged", text, err)
		}
	}
	if _, _, err := (events.FileCursor{Path: t.TempDir()}).Load(t.Context()); amber.KindOf(err) != amber.KindDamaged {
		t.Errorf("a folder: got %v, want damaged", err)
	}
}
