package sqlite

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

var fillGeneration = home.Current{Generation: 1, Incarnation: "0193c5a8-0000-7000-8000-000000000001", Device: "0193c5a8-0000-7000-8000-000000000002"}

// filled makes a memory.db with one memory.
func filled(t *testing.T, m amber.Memory) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	f := must.Get(Fill(t.Context(), path, fillGeneration, Options{Clock: newHandClock().Now, Random: rand.Reader}))(t)
	must.Do(t, f.Update(t.Context(), func() error {
		_, err := f.AddMemory(m)
		return err
	}))
	must.Do(t, f.Close())
	return path
}

func TestFilledDatabaseCanBeAdopted(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	must.Get(l.s.Write(t.Context(), amber.WriteRequest{Content: "was here before"}))(t)
	m := farMemory(memoryID(1), amber.Origin{}, "deployed on fridays").Memory.Memory
	path := filled(t, m)
	from := l.snapshot(t)
	must.Do(t, os.WriteFile(filepath.Join(from, "memory.db"), must.Get(os.ReadFile(path))(t), 0o600))
	l.bringBack(t, from, nil)
	live, dead := l.memories(t)
	if len(live) != 1 || live[m.ID].Content != "deployed on fridays" || len(dead) != 1 {
		t.Errorf("live %+v, dead %+v", live, dead)
	}
	found := must.Get(l.s.Recall(t.Context(), amber.Query{Text: "fridays"}))(t)
	must.Hold(t, len(found.Hits) == 1 && found.Hits[0].ID == m.ID, "recall finds %+v", found.Hits)
}

func TestFillMakesANewFile(t *testing.T) {
	t.Parallel()
	m := farMemory(memoryID(1), amber.Origin{}, "x").Memory.Memory
	path := filled(t, m)
	must.Equal(t, "mode", must.Get(os.Stat(path))(t).Mode().Perm(), 0o600)
	must.Fail(Fill(t.Context(), path, fillGeneration, Options{Clock: time.Now, Random: rand.Reader}))(t, "over a file", amber.KindConflict)
	must.Fail(Fill(t.Context(), path+"2", fillGeneration, Options{}))(t, "without a clock", amber.KindInvalid)
}

// A file from before prompts had a trust is its owner's.
func TestRecordsOfOlderSchemasAreRead(t *testing.T) {
	t.Parallel()
	for v := 1; v < int(sqlfile.MemorySchema.Version()); v++ {
		a := agentWithMemory(t, v)
		old := filepath.Join(t.TempDir(), "memory.db")
		from := filepath.Join(a.GenDir(must.Get(a.Current())(t)), "memory.db")
		must.Do(t, os.WriteFile(old, must.Get(os.ReadFile(from))(t), 0o600))
		r := must.Get(image.OpenRecords(t.Context(), old))(t)
		turns, sessions := 0, 0
		must.Do(t, r.Turns(func(int64, amber.Turn, bool) error { turns++; return nil }))
		must.Do(t, r.Sessions(func(amber.Session, bool) error { sessions++; return nil }))
		must.Do(t, r.Close())
		must.Hold(t, turns != 0 && sessions != 0, "from %d: %d turns, %d sessions", v, turns, sessions)
	}
}
