package packs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/packs"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestOtherFilesAreNoPack hands over and puts into a home what is not the pack.
func TestOtherFilesAreNoPack(t *testing.T) {
	t.Parallel()
	home, pack := t.TempDir(), must.Get(packs.Find(packs.Languages))(t)
	file := filepath.Join(home, "models", "languages.model")
	if m, err := packs.Open(home, packs.Languages); m != nil || err != nil {
		t.Errorf("a home without packs opened %v, %v", m, err)
	}
	for _, content := range []string{"", "AMBERMD2", "PK\x03\x04 no archive"} {
		other := filepath.Join(t.TempDir(), "other")
		must.Do(t, os.WriteFile(other, []byte(content), 0o600))
		_, err := packs.Add(home, packs.Languages, other)
		must.Equal(t, content, amber.KindOf(err), amber.KindInvalid)
	}
	if _, err := os.Lstat(file); err == nil {
		t.Error("a file that is not the pack came into the home")
	}
	_, err := packs.Add(home, "other", file)
	must.Equal(t, "another name", amber.KindOf(err), amber.KindNotFound)
	must.Equal(t, "remove", amber.KindOf(packs.Remove(home, packs.Languages)), amber.KindNotFound)

	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
	for name, put := range map[string]func() error{
		"short":           func() error { return os.WriteFile(file, []byte("AMBERMD2"), 0o600) },
		"of its size":     func() error { return os.Truncate(file, pack.Bytes) },
		"a folder":        func() error { return os.Mkdir(file, 0o700) },
		"a dangling link": func() error { return os.Symlink("nowhere", file) },
	} {
		if name == "of its size" {
			must.Do(t, os.WriteFile(file, nil, 0o600))
		}
		must.Do(t, put())
		_, err := packs.Open(home, packs.Languages)
		must.Equal(t, name, amber.KindOf(err), amber.KindDamaged)
		all := must.Get(packs.List(home, true))(t)
		if !all[0].Installed || all[0].Problem == "" {
			t.Errorf("%s: the list says %+v", name, all[0])
		}
		must.Do(t, os.RemoveAll(file))
	}
}
