package shelf_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// switchTo makes a generation live that holds one file of the old one, and removes
// the old one, as a restore does.
func switchTo(t *testing.T, s tester, keep string) {
	t.Helper()
	a, err := openAgent(s.dir, nil)
	must.Do(t, err)
	err = a.Operate(t.Context(), func() error {
		r, err := a.BeginRestore(t.Context(), "a snapshot")
		if err != nil {
			return err
		}
		b, err := os.ReadFile(s.path(keep))
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(s.gen(), s.path(keep))
		if err != nil {
			return err
		}
		to := filepath.Join(r.Dir(), rel)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, b, 0o600); err != nil {
			return err
		}
		if err := r.Switch(t.Context(), func(home.Current) (amber.Stamp, error) { return 0, nil }); err != nil {
			return err
		}
		return a.RemoveGeneration(t.Context(), 1)
	})
	must.Do(t, err)
}

// TestAnotherGeneration becomes live while the vault is looked at, and the old one
// is removed: what is told is what the new one holds.
func TestAnotherGeneration(t *testing.T) {
	t.Parallel()
	for name, look := range map[string]func(t *testing.T, s tester){
		"list": func(t *testing.T, s tester) {
			must.Equal(t, "names", s.names(), []string{"kept"})
		},
		"status": func(t *testing.T, s tester) {
			st := must.Get(s.Status(t.Context()))(t)
			must.Equal(t, "files", st.FileCount, 1)
			must.Equal(t, "used", st.UsedBytes, 3)
		},
		"get": func(t *testing.T, s tester) { s.holds("kept", "one") },
		"get what is gone": func(t *testing.T, s tester) {
			must.Fail(s.Get(t.Context(), "gone"))(t, "get", amber.KindNotFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := madeHome(t)
			writer := open(t, dir)
			writer.put("kept", "one")
			writer.put("gone", "other")
			once := sync.OnceFunc(func() { switchTo(t, writer, "kept") })
			look(t, open(t, dir, func(o *shelf.Options) { o.FS = lstatFS{fsx.OS(), once} }))
			must.Is(t, "the old generation", must.Err(os.Lstat(writer.gen())), os.ErrNotExist)
			// Handles from before go on in the new one.
			writer.put("gone", "here again")
			writer.holds("gone", "here again")
		})
	}
}

// lstatFS calls hook after it has looked at the folder of the vault.
type lstatFS struct {
	fsx.FS
	hook func()
}

func (l lstatFS) Lstat(name string) (os.FileInfo, error) {
	info, err := l.FS.Lstat(name)
	if filepath.Base(name) == "vault" {
		l.hook()
	}
	return info, err
}
