package image_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

func noon() time.Time { return time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC) }

// frozen returns the path of the memory.db of a new agent with these memories,
// written a few at a time, so that the indexes have segments to merge.
func frozen(t *testing.T, memories []amber.WriteRequest) string {
	t.Helper()
	h, _, err := home.Open(filepath.Join(t.TempDir(), "home"), home.Options{Clock: noon, Random: rand.Reader})
	must.Do(t, err)
	a := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	s := must.Get(sqlite.Open(t.Context(), a, sqlite.Options{Clock: noon, Random: rand.Reader}))(t)
	defer func() { must.Do(t, s.Close()) }()
	for len(memories) > 0 {
		n := min(8, len(memories))
		must.Get(s.WriteBatch(t.Context(), memories[:n]))(t)
		memories = memories[n:]
	}
	return thaw(t, a)
}

// thaw writes the memory.db of a store as a file of its own.
func thaw(t *testing.T, a *home.Agent) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "memory.db")
	must.Do(t, a.Exclusive(t.Context(), func(c home.Current) error {
		both := must.Get(image.FreezeBoth(t.Context(), a.GenDir(c), time.Second))(t)
		for _, f := range both {
			if f.Info().Name == filepath.Base(path) {
				var all []byte
				must.Do(t, f.ReadPages(t.Context(), func(pages []byte) error {
					all = append(all, pages...)
					return nil
				}))
				must.Do(t, os.WriteFile(path, all, 0o600))
			}
			must.Do(t, f.Close())
		}
		return nil
	}))
	return path
}
