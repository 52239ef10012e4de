package sqlite

import (
	"crypto/rand"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/test/must"
)

// BenchmarkAdopt measures what a switch waits for when a snapshot differs from
// the live agent in a few memories.
func BenchmarkAdopt(b *testing.B) {
	s := bigStore(b)
	c := must.Get(s.agent.Current())(b)
	path := filepath.Join(b.TempDir(), "memory.db")
	for b.Loop() {
		b.StopTimer()
		copyFrozen(b, s, path)
		for range 10 {
			id := must.Get(amber.NewUUID(newHandClock().Now(), rand.Reader))(b)
			must.Get(s.Write(b.Context(), amber.WriteRequest{Content: id}))(b)
		}
		next := c
		next.Generation++
		next.Incarnation = "next"
		b.StartTimer()
		r := image.AdoptRequest{Path: path, Live: s.memory.path(c), Current: next, Clock: newHandClock().Now, Random: rand.Reader}
		report := must.Get(image.Adopt(b.Context(), r))(b)
		if report.Tombstones != 10 {
			b.Fatalf("%+v", report)
		}
	}
}

// copyFrozen writes memory.db as it is now to a file.
func copyFrozen(b *testing.B, s *Store, path string) {
	b.Helper()
	c, err := s.agent.Current()
	if err != nil {
		b.Fatal(err)
	}
	frozen := must.Get(image.FreezeBoth(b.Context(), s.agent.GenDir(c), s.o.BusyTimeout))(b)
	f := must.Get(os.Create(path))(b)
	err = frozen[0].ReadPages(b.Context(), func(pages []byte) error {
		_, err := f.Write(pages)
		return err
	})
	for _, c := range []io.Closer{f, frozen[0], frozen[1]} {
		if cerr := c.Close(); err == nil {
			err = cerr
		}
	}
	must.Do(b, err)
}
