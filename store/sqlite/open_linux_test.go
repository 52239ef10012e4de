package sqlite

import (
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// SQLite's lock on a file belongs to the process: it is lost when the process
// closes the file, also where another handle opened it. Another program that reads the database
// then takes itself for the last one and removes the write-ahead log, and what
// is acknowledged after that goes with it.
func TestLocksAreKept(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "a"})
	must.Get(s.ListTasks(ctx, amber.TaskQuery{}))(t)
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"open", func() {}},
		{"check", func() { s.Check(ctx) }},
		{"second store", func() {
			second := must.Get(Open(ctx, s.agent, Options{Clock: clock.Now, Random: rand.Reader}))(t)
			save(t, second, amber.WriteRequest{Content: "b"})
			must.Do(t, second.Close())
		}},
		{"statistics", func() { must.Get(s.Stats(ctx))(t) }},
	} {
		c.do()
		for _, d := range []*database{s.memory, s.control} {
			if path := d.path(d.live.current); !locked(t, path) {
				t.Errorf("after %s there is no lock on %s", c.name, path)
			}
		}
	}
}

// locked reports whether this process holds a POSIX lock on a file. It asks each open
// file: the list of all locks is read in pieces, and one may be missed between two.
func locked(t *testing.T, path string) bool {
	t.Helper()
	for _, fd := range must.Get(os.ReadDir("/proc/self/fd"))(t) {
		if name, err := os.Readlink("/proc/self/fd/" + fd.Name()); err != nil || name != path {
			continue // others open and close files meanwhile
		}
		info, err := os.ReadFile("/proc/self/fdinfo/" + fd.Name())
		if err == nil && strings.Contains(string(info), "POSIX") {
			return true
		}
	}
	return false
}
