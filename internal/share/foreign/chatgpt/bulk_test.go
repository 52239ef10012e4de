package chatgpt

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

// bulkFile makes a large export.
func bulkFile(t testing.TB, bytes int64) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "conversations.json")
	f := must.Get(os.Create(name))(t)
	must.Do(t, foreigntest.Conversations(f, bytes))
	must.Do(t, f.Close())
	return name
}

// forgetful keeps nothing and looks how much the heap holds.
type forgetful struct {
	foreigntest.Recorder
	sessions, turns, memories int
	most                      uint64
}

func (f *forgetful) Memory(foreign.Memory) error { f.memories++; return nil }

func (f *forgetful) Session(foreign.Session) (bool, error) {
	f.sessions++
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	f.most = max(f.most, m.HeapAlloc) // with what is no longer used and not yet freed
	return true, nil
}

func (f *forgetful) Turn(foreign.Turn) error { f.turns++; return nil }

func TestALargeExportNeedsLittleMemory(t *testing.T) {
	name := bulkFile(t, 20<<20)
	runtime.GC()
	tree := must.Get(foreign.Open(name))(t)
	defer func() { must.Do(t, tree.Close()) }()
	var f forgetful
	must.Do(t, read(context.Background(), tree, foreigntest.Options(), &f))
	t.Logf("%d sessions, %d turns, %d memories, %d bytes held", f.sessions, f.turns, f.memories, f.most)
	must.Hold(t, f.sessions > 100 && f.turns > 10*f.sessions && f.memories >= 50, "%d sessions, %d turns, %d memories", f.sessions, f.turns, f.memories)
	must.Hold(t, f.most < 60<<20, "%d bytes are held, want less than 60 MiB", f.most)
}
