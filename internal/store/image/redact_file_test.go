package image_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/guard/redact/secrettest"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// attempt redacts a database and returns the names of the files that are there
// afterwards.
func attempt(t *testing.T, ctx context.Context, fsys fsx.FS, database []byte) (left []string, err error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "memory.db")
	must.Do(t, os.WriteFile(path, database, 0o600))
	_, err = image.RedactFile(ctx, fsys, path, redact.New(), nil)
	entries, listErr := os.ReadDir(dir)
	must.Do(t, listErr)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	return left, err
}

func withSecrets(t *testing.T) []byte {
	t.Helper()
	var memories []amber.WriteRequest
	token := secrettest.Template{Rule: "github-token", Text: "ghp_{a36}"}
	for i, s := range secrettest.Corpus(1)[:3] {
		memories = append(memories, amber.WriteRequest{Content: "before " + s.Text() + " after", Topic: "topic " + token.Secret(uint64(i)).Value})
	}
	database := must.Get(os.ReadFile(frozen(t, memories)))(t)
	return database
}

// Whichever call fails, there is no file under the name afterwards.
func TestRedactWithAFailingDisk(t *testing.T) {
	t.Parallel()
	database := withSecrets(t)
	for n := 1; ; n++ {
		e := errfs.Wrap(fsx.OS(), errfs.Rule{Nth: n, Err: syscall.EIO})
		left, err := attempt(t, t.Context(), e, database)
		if len(e.Injected()) == 0 {
			must.Do(t, err)
			if diff := cmp.Diff([]string{"memory.db"}, left); diff != "" || n < 6 {
				t.Errorf("only %d calls can fail, or other files are left (-want +got):\n%s", n-1, diff)
			}
			return
		}
		must.Kind(t, fmt.Sprint(e.Injected()), err, amber.KindInternal)
		if slices.Contains(left, "memory.db") {
			t.Errorf("%v: there is a file under the name", e.Injected())
		}
	}
}

// cutOff is a context that ends when its error is asked for the last of some times.
type cutOff struct {
	context.Context
	left *atomic.Int64
	end  func()
}

func (c cutOff) Err() error {
	if c.left.Add(-1) == 0 {
		c.end()
	}
	return c.Context.Err()
}

// atWork is a disk on which begin is called when the file is taken away from its name.
type atWork struct {
	fsx.FS
	begin func()
}

func (a atWork) Rename(from, to string) error {
	a.begin()
	return a.FS.Rename(from, to)
}

// Whenever the work is cancelled, no file is left.
func TestRedactCancelled(t *testing.T) {
	t.Parallel()
	database := withSecrets(t)
	cancelled := func(after int64) (looks int64, left []string, err error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var n atomic.Int64 // below zero before the work begins
		begin := sync.OnceFunc(func() { n.Store(after) })
		left, err = attempt(t, cutOff{ctx, &n, cancel}, atWork{fsx.OS(), begin}, database)
		return after - n.Load(), left, err
	}
	looks, _, err := cancelled(1 << 40)
	must.Do(t, err)
	must.Hold(t, looks >= 8, "the context was asked %d times, want 8 or more", looks)
	for part := range int64(8) {
		_, left, err := cancelled(max(1, part*looks/8))
		must.Kind(t, "cancelled", err, amber.KindUnreachable)
		must.Equal(t, "files that are left", left, nil)
	}
}
