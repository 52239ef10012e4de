package claudecode_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign"
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

// counting is a sink that counts turns and keeps none.
type counting struct {
	foreigntest.Recorder
	turns int
	most  uint64 // bytes of the heap
}

func (c *counting) Session(foreign.Session) (bool, error) { return true, nil }

func (c *counting) Turn(foreign.Turn) error {
	if c.turns++; c.turns%5000 == 0 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		c.most = max(c.most, m.HeapAlloc)
	}
	return nil
}

func BenchmarkTranscript(b *testing.B) {
	dir := b.TempDir()
	const size = 200 << 20
	must.Do(b, foreigntest.Transcripts(dir, 1, size))
	b.SetBytes(size)
	for b.Loop() {
		tree := must.Get(foreign.Open(dir))(b)
		c := &counting{}
		must.Do(b, claudecode.Format.Read(b.Context(), tree, foreigntest.Options(), c))
		must.Do(b, tree.Close())
		b.ReportMetric(float64(c.most)/(1<<20), "heap-MB")
		b.ReportMetric(float64(c.turns), "turns")
	}
}
