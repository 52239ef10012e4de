package events_test

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// keep copies a database of the live generation to dir.
func keep(t *testing.T, a *home.Agent, dir string) {
	t.Helper()
	gen := a.GenDir(must.Get(a.Current())(t))
	for _, name := range []string{"memory.db", "control.db"} {
		frozen := must.Get(image.Freeze(t.Context(), filepath.Join(gen, name)))(t)
		f := must.Get(os.Create(filepath.Join(dir, name)))(t)
		err := frozen.ReadPages(t.Context(), func(pages []byte) error { return must.Err(f.Write(pages)) })
		must.Do(t, errors.Join(err, f.Close(), frozen.Close()))
	}
}

// bringBack makes what keep has copied the live generation.
func bringBack(t *testing.T, a *home.Agent, dir string) {
	t.Helper()
	r := must.Get(a.BeginRestore(t.Context(), "kept"))(t)
	err := r.Switch(t.Context(), func(old home.Current) (clock amber.Stamp, err error) {
		for name, adopt := range map[string]func(image.AdoptRequest) (image.AdoptReport, error){
			"memory.db":  func(q image.AdoptRequest) (image.AdoptReport, error) { return image.Adopt(t.Context(), q) },
			"control.db": func(q image.AdoptRequest) (image.AdoptReport, error) { return image.AdoptControl(t.Context(), q) },
		} {
			path := filepath.Join(r.Dir(), name)
			must.Do(t, os.WriteFile(path, must.Get(os.ReadFile(filepath.Join(dir, name)))(t), 0o600))
			report, err := adopt(image.AdoptRequest{
				Path: path, Live: filepath.Join(a.GenDir(old), name), Current: r.Current(), Clock: time.Now, Random: rand.Reader,
			})
			if err != nil {
				return 0, err
			}
			clock = max(clock, report.Clock)
		}
		return clock, nil
	})
	must.Do(t, err)
}

// A restore does not publish what had been published, and loses nothing that
// happened since.
func TestARestoreOfARealAgentIsToldOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, _, err := home.Open(t.TempDir(), home.Options{Clock: time.Now, Random: rand.Reader})
	must.Do(t, err)
	a := must.Get(h.Agent("acme", "ada"))(t)
	s := must.Get(sqlite.Open(ctx, a, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() { _ = s.Close() })
	p, c := &recorder{}, events.FileCursor{Path: filepath.Join(t.TempDir(), "memory")}
	step(t, worker(s, p, c))

	remember := func(text string) string {
		return string(must.Get(s.Write(ctx, amber.WriteRequest{Content: text}))(t).ID)
	}
	first := remember("before the snapshot")
	dir := t.TempDir()
	keep(t, a, dir)
	second := remember("after the snapshot")
	step(t, worker(s, p, c))
	must.Equal(t, "before", tell(t, p.take()), []told{{amber.OpInsert, amber.ChangeMemory, first}, {amber.OpInsert, amber.ChangeMemory, second}})

	bringBack(t, a, dir)
	third := remember("after the restore") // before anybody has published
	step(t, worker(s, p, c))
	must.Equal(t, "after", tell(t, p.take()), []told{{amber.OpDelete, amber.ChangeMemory, second}, {amber.OpInsert, amber.ChangeMemory, third}})
	step(t, worker(s, p, c))
	must.Equal(t, "at last", tell(t, p.take()), []told(nil))
}
