//go:build unix

package dir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestNoLinkIsFollowed(t *testing.T) {
	t.Parallel()
	root, outside := t.TempDir(), t.TempDir()
	d := open(t, root, nil)
	secret := filepath.Join(outside, "a")
	err := errors.Join(
		os.WriteFile(secret, []byte("secret"), 0o600),
		os.Symlink(outside, filepath.Join(root, "folder")),
		os.Symlink(secret, filepath.Join(root, "file")),
		os.Symlink(filepath.Join(outside, "none"), filepath.Join(root, "dangling")),
		syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600),
	)
	must.Do(t, err)
	for _, name := range []string{"folder/a", "folder/b/c", "file", "dangling", "fifo"} {
		must.Fail(d.Put(t.Context(), name, 6, strings.NewReader("hacked")))(t, "put "+name, amber.KindDamaged)
		must.Fail(d.Get(t.Context(), name, 0, -1))(t, "get "+name, amber.KindDamaged)
		must.Kind(t, "delete "+name, d.Delete(t.Context(), name), amber.KindDamaged)
	}
	must.Equal(t, "listed", list(t, d, ""), nil)
	entries, err := os.ReadDir(outside)
	if got, rerr := os.ReadFile(secret); string(got) != "secret" || len(entries) != 1 || err != nil || rerr != nil {
		t.Errorf("outside: %q, %v, %v", got, entries, err)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "new")
	d := must.Get(dir.Open(root, dir.Options{Create: true}))(t)
	put(t, d, "packs/3f/a", object)
	want := map[string]os.FileMode{
		".": 0o700, "packs": 0o700, "packs/3f": 0o700, "packs/3f/a": 0o600,
	}
	got := map[string]os.FileMode{}
	for name := range want {
		info := must.Get(os.Lstat(filepath.Join(root, name)))(t)
		got[name] = info.Mode().Perm()
	}
	must.Equal(t, "modes", got, want)
}

func TestFolderMayBeReachedThroughALink(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(root, link))
	put(t, open(t, link, nil), "a", object)
	must.Equal(t, "size of the object", len(get(t, open(t, root, nil), "a")), len(object))
	must.Do(t, os.Remove(root+"/a"))
	dangling := filepath.Join(t.TempDir(), "dangling")
	must.Do(t, os.Symlink(filepath.Join(root, "none"), dangling))
	must.Fail(dir.Open(dangling, dir.Options{Create: true}))(t, "open", amber.KindNotFound)
}
