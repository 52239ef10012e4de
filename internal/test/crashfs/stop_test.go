package crashfs_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// everything makes one mutating call of each kind, and returns the first error.
func everything(c *crashfs.FS) error {
	if err := c.Mkdir("d", 0o700); err != nil {
		return err
	}
	f, err := c.OpenFile("d/f", os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	steps := []func() error{
		func() error { _, err := f.Write([]byte("x")); return err },
		func() error { return f.Truncate(5) },
		f.Sync,
		func() error { return c.Link("d/f", "d/g") },
		func() error { return c.Rename("d/g", "d/h") },
		func() error { return c.Remove("d/h") },
		func() error { return c.SyncDir("d") },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func TestStopAtEveryCall(t *testing.T) {
	t.Parallel()
	c := crashfs.New()
	must.Do(t, everything(c))
	must.Equal(t, "calls", c.Calls(), 9)
	for n := 1; n <= 9; n++ {
		c := crashfs.New()
		c.StopAt(n)
		must.Is(t, fmt.Sprintf("call %d", n), everything(c), crashfs.ErrCrashed)
		must.Equal(t, fmt.Sprintf("calls with a stop at %d", n), c.Calls(), n)
		must.Is(t, "reading a directory", must.Err(c.ReadDir("/")), crashfs.ErrCrashed)
	}
	c = crashfs.New()
	c.StopAt(10)
	must.NoError(t, everything(c))
}

func TestStoppedCallHasNoEffect(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.durable("f", "one")
	f := d.open("f", os.O_RDWR)
	d.StopAt(d.Calls() + 1)
	must.Is(t, "write", must.Err(f.Write([]byte("two"))), crashfs.ErrCrashed)
	must.Is(t, "remove", d.Remove("f"), crashfs.ErrCrashed)
	must.Is(t, "read", must.Err(f.Read(make([]byte, 1))), crashfs.ErrCrashed)
	must.NoError(t, f.Close())
	d.StopAt(0)
	must.Equal(t, "content for the next process", string(must.Get(fsx.ReadFile(d, "f", 10))(t)), "one")
}
