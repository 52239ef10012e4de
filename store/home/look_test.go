package home_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// watched calls look ahead of everything that reads.
type watched struct {
	fsx.FS
	look func()
}

func (w watched) OpenFile(name string, flag int, perm fs.FileMode) (fsx.File, error) {
	w.look()
	return w.FS.OpenFile(name, flag, perm)
}

func (w watched) Lstat(name string) (fs.FileInfo, error) {
	w.look()
	return w.FS.Lstat(name)
}

func (w watched) ReadDir(name string) ([]fs.DirEntry, error) {
	w.look()
	return w.FS.ReadDir(name)
}

// creation is a Create that another process takes as far as the test wants.
type creation struct {
	built   chan struct{} // closed when the files are there
	publish chan struct{} // closed to let it go on to CURRENT
	done    chan error
}

func startCreation(t *testing.T, a *home.Agent) *creation {
	t.Helper()
	c := &creation{built: make(chan struct{}), publish: make(chan struct{}), done: make(chan error, 1)}
	go func() {
		_, _, err := a.Create(t.Context(), func(dir string, cur home.Current) error {
			err := build(fsx.OS())(dir, cur)
			close(c.built)
			<-c.publish
			return err
		})
		c.done <- err
	}()
	<-c.built
	return c
}

func (c *creation) finish(t *testing.T) {
	t.Helper()
	close(c.publish)
	must.NoError(t, <-c.done)
}

// TestCreationIsNeverTakenForDamage reads which generation is live, without a lock, while another process
// makes the agent: the files appear before one look of the reader, CURRENT before the same or a later one.
func TestCreationIsNeverTakenForDamage(t *testing.T) {
	t.Parallel()
	for built := 1; ; built++ {
		for published := built; ; published++ {
			looks := readDuringCreation(t, built, published)
			if looks < built {
				if built == 1 {
					t.Fatal("the reader did not look")
				}
				return
			}
			if looks < published {
				break
			}
		}
	}
}

// readDuringCreation returns how often the reader looked.
func readDuringCreation(t *testing.T, built, published int) (looks int) {
	t.Helper()
	dir := t.TempDir()
	// An empty generation, so that the reader has somewhere to look.
	must.Do(t, os.MkdirAll(filepath.Join(agentDir(dir), "gen", "1"), 0o700))
	other := handle(t, dir, options(nil))
	watching := false
	var begun *creation
	finished := false
	look := func() {
		if !watching {
			return
		}
		looks++
		if looks == built {
			begun = startCreation(t, other)
		}
		if looks == published {
			begun.finish(t)
			finished = true
		}
	}
	a := handle(t, dir, options(watched{fsx.OS(), look}))
	watching = true
	_, err := a.Current()
	watching = false
	if kind := amber.KindOf(err); err != nil && kind != amber.KindNotFound {
		t.Errorf("files before look %d, CURRENT before look %d of %d: got %v, want the agent or not_found", built, published, looks, err)
	}
	if begun != nil && !finished {
		begun.finish(t)
	}
	return looks
}
