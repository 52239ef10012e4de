package crashfs_test

import (
	"errors"
	"os"
	"testing"

	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/fsx/crashfs"
	"github.com/amber-memory/amber/internal/must"
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
	if c.Calls() != 9 {
		t.Fatalf("got %d calls, want 9", c.Calls())
	}
	for n := 1; n <= 9; n++ {
		c := crashfs.New()
		c.StopAt(n)
		if err := everything(c); !errors.Is(err, crashfs.ErrCrashed) {
			t.Errorf("call %d: got %v, want ErrCrashed", n, err)
		}
		if c.Calls() != n {
			t.Errorf("stop at %d: %d calls were made", n, c.Calls())
		}
		if _, err := c.ReadDir("/"); !errors.Is(err, crashfs.ErrCrashed) {
			t.Errorf("a dead process read a directory: %v", err)
		}
	}
	c = crashfs.New()
	c.StopAt(10)
	if err := everything(c); err != nil {
		t.Errorf("stop after the last call: %v", err)
	}
}

func TestStoppedCallHasNoEffect(t *testing.T) {
	t.Parallel()
	d := newDisk(t)
	d.durable("f", "one")
	f := d.open("f", os.O_RDWR)
	d.StopAt(d.Calls() + 1)
	if _, err := f.Write([]byte("two")); !errors.Is(err, crashfs.ErrCrashed) {
		t.Errorf("write: got %v, want ErrCrashed", err)
	}
	if err := d.Remove("f"); !errors.Is(err, crashfs.ErrCrashed) {
		t.Errorf("remove: got %v, want ErrCrashed", err)
	}
	if _, err := f.Read(make([]byte, 1)); !errors.Is(err, crashfs.ErrCrashed) {
		t.Errorf("read: got %v, want ErrCrashed", err)
	}
	if err := f.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	d.StopAt(0)
	if got, err := fsx.ReadFile(d, "f", 10); string(got) != "one" || err != nil {
		t.Errorf("the next process reads %q, %v", got, err)
	}
}
