package sqlite

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// everyFile lists a folder with what each file looks like.
func everyFile(t *testing.T, dir string) map[string]stamp {
	t.Helper()
	out := map[string]stamp{}
	must.Do(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			out[path], err = stampOf(path)
		}
		return err
	}))
	return out
}

// A home that cannot be written can be read, also where a write-ahead log was
// left behind; writes are refused and say why, and nothing is made in it.
func TestAReadOnlyHomeCanBeRead(t *testing.T) {
	t.Parallel()
	for name, killed := range map[string]bool{"closed": false, "with a write-ahead log": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s, clock := freshStore(t, amber.QueueOptions{})
			id := save(t, s, amber.WriteRequest{Content: "fish one"})
			must.Get(s.SaveTask(ctx, amber.Task{ID: "t", Goal: "g"}, 0))(t)
			gen := s.agent.GenDir(must.Get(s.agent.Current())(t))
			if killed { // the files as a killed process leaves them
				left := map[string][]byte{}
				for _, path := range must.Get(filepath.Glob(filepath.Join(gen, "*.db*")))(t) {
					if filepath.Ext(path) != ".db-shm" {
						left[path] = must.Get(os.ReadFile(path))(t)
					}
				}
				must.Do(t, s.Close())
				for path, b := range left {
					must.Do(t, os.WriteFile(path, b, 0o600))
				}
				if len(left) != 4 || len(left[filepath.Join(gen, "memory.db-wal")]) == 0 {
					t.Fatalf("%d files are left", len(left))
				}
			} else {
				must.Do(t, s.Close())
			}
			before := everyFile(t, gen)
			frozen := must.Get(Open(ctx, s.agent, Options{Clock: clock.Now, Random: rand.Reader, ReadOnly: func(string) bool { return true }}))(t)
			must.Equal(t, "content", must.Get(frozen.Get(ctx, id))(t).Content, "fish one")
			must.Equal(t, "hits", len(must.Get(frozen.Recall(ctx, amber.Query{Text: "fish"}))(t).Hits), 1)
			must.Get(frozen.Task(ctx, "t"))(t)
			for _, f := range frozen.Check(ctx) {
				must.Do(t, f.Err)
			}
			_, err := frozen.Write(ctx, amber.WriteRequest{Content: "fish two"})
			must.Kind(t, "write", err, amber.KindRefused)
			must.Hold(t, amber.HintOf(err) != "", "there is no hint")
			must.Do(t, frozen.Close())
			after := everyFile(t, gen)
			must.Equal(t, "files", after, before, cmp.AllowUnexported(stamp{}))
		})
	}
}

// The store notices a process that changes a database meanwhile: an answer from a
// file that changes under it may be wrong.
func TestAReadOnlyHomeThatChanges(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "fish one"})
	must.Do(t, s.Close())
	frozen := must.Get(Open(ctx, s.agent, Options{Clock: clock.Now, Random: rand.Reader, ReadOnly: func(string) bool { return true }}))(t)
	defer frozen.Close()
	must.Get(frozen.Get(ctx, id))(t)
	other := must.Get(Open(ctx, s.agent, Options{Clock: clock.Now, Random: rand.Reader}))(t)
	save(t, other, amber.WriteRequest{Content: "fish two"})
	must.Fail(frozen.Get(ctx, id))(t, "read what changes", amber.KindBusy)
	must.Do(t, other.Close())
	must.Equal(t, "hits afterwards", len(must.Get(frozen.Recall(ctx, amber.Query{Text: "fish"}))(t).Hits), 2)
}
