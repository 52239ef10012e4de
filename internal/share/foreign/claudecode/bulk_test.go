package claudecode_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign/claudecode"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestManyTranscripts(t *testing.T) {
	t.Parallel()
	dir, again := t.TempDir(), t.TempDir()
	must.Do(t, foreigntest.Transcripts(dir, 25, 100_000))
	must.Do(t, foreigntest.Transcripts(again, 25, 100_000))
	r := foreigntest.Read(t, claudecode.Format, dir)
	must.Do(t, promises(r))
	must.Equal(t, "sessions and skips", []int{len(r.Sessions), len(r.Skips)}, []int{25, 0})
	for _, s := range r.Sessions {
		if s.Turns < 4 || s.Project == "" || s.Name[:6] != "About " {
			t.Errorf("session %s has %d turns, project %q, name %q", s.ID, s.Turns, s.Project, s.Name)
		}
		a, b := must.Get(os.ReadFile(filepath.Join(dir, s.Place.File)))(t), must.Get(os.ReadFile(filepath.Join(again, s.Place.File)))(t)
		must.Equal(t, s.Place.File, string(a) == string(b), true)
	}
}
