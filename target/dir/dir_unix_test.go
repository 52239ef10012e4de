//go:build unix

package dir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/target/dir"
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
		os.Mkdir(filepath.Join(root, "pointers"), 0o700),
		os.Symlink(outside, filepath.Join(root, "pointers", "folder")),
		os.Symlink(secret, filepath.Join(root, "pointers", "file")),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"folder/a", "folder/b/c", "file", "dangling", "fifo"} {
		_, err := d.Put(t.Context(), name, 6, strings.NewReader("hacked"))
		wantKind(t, "put "+name, err, amber.KindDamaged)
		_, err = d.Get(t.Context(), name, 0, -1)
		wantKind(t, "get "+name, err, amber.KindDamaged)
		wantKind(t, "delete "+name, d.Delete(t.Context(), name), amber.KindDamaged)
	}
	for _, name := range []string{"folder/a", "file"} {
		_, _, err := d.LoadPointer(t.Context(), name)
		wantKind(t, "load "+name, err, amber.KindDamaged)
		_, err = d.SwapPointer(t.Context(), name, "", []byte("hacked"))
		wantKind(t, "swap "+name, err, amber.KindDamaged)
	}
	if names := list(t, d, ""); names != nil {
		t.Errorf("listed: %q", names)
	}
	entries, err := os.ReadDir(outside)
	if got, rerr := os.ReadFile(secret); string(got) != "secret" || len(entries) != 1 || err != nil || rerr != nil {
		t.Errorf("outside: %q, %v, %v", got, entries, err)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "new")
	d, err := dir.Open(root, dir.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	put(t, d, "packs/3f/a", object)
	swap(t, d, "p", "", nil)
	want := map[string]os.FileMode{
		".": 0o700, "packs": 0o700, "packs/3f": 0o700, "packs/3f/a": 0o600,
		"pointers": 0o700, "pointers/p": 0o600, "pointers/.lock": 0o600,
	}
	got := map[string]os.FileMode{}
	for name := range want {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = info.Mode().Perm()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
}

func TestFolderMayBeReachedThroughALink(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	put(t, open(t, link, nil), "a", object)
	if got := get(t, open(t, root, nil), "a"); len(got) != len(object) {
		t.Errorf("there are %d bytes", len(got))
	}
	if err := os.Remove(root + "/a"); err != nil {
		t.Fatal(err)
	}
	dangling := filepath.Join(t.TempDir(), "dangling")
	if err := os.Symlink(filepath.Join(root, "none"), dangling); err != nil {
		t.Fatal(err)
	}
	_, err := dir.Open(dangling, dir.Options{Create: true})
	wantKind(t, "open", err, amber.KindNotFound)
}
