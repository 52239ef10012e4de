//go:build unix

package snapshot_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// A snapshot lists links, devices and other entries that are no files. It never follows them and
// never waits for them.
func TestLinksAndDevicesInTheNotesAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.note("a", "one\n")
	dir := filepath.Join(w.gen(), "memdir")
	secret := filepath.Join(t.TempDir(), "secret")
	must.Do(t, os.Mkdir(secret, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(secret, "key"), []byte("swordfish"), 0o600))
	for link, to := range map[string]string{
		"to-file": filepath.Join(secret, "key"), "to-folder": secret, "to-nothing": "nowhere", "to-itself": "to-itself", "to-device": "/dev/zero",
	} {
		must.Do(t, os.Symlink(to, filepath.Join(dir, link)))
	}
	must.Do(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	want := map[string]string{}
	for _, name := range []string{"to-file", "to-folder", "to-nothing", "to-itself", "to-device", "fifo"} {
		want[name] = wire.SkipNotRegular
	}
	if l, err := net.Listen("unix", filepath.Join(dir, "s")); err == nil { // its path may be too long
		defer l.Close()
		want["s"] = wire.SkipNotRegular
	}
	if err := syscall.Mknod(filepath.Join(dir, "device"), syscall.S_IFCHR|0o600, 1<<8|5); err == nil { // only root may
		want["device"] = wire.SkipNotRegular
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "unreadable"), []byte("x"), 0))
	if os.Geteuid() != 0 {
		want["unreadable"] = wire.SkipUnreadable
	}
	meta := w.snapshot()
	got := map[string]string{}
	for _, s := range meta.Skipped {
		must.Equal(t, fmt.Sprintf("part of %+v", s), s.Part, wire.PartNotes)
		got[s.Path] = s.Reason
	}
	must.Equal(t, "skipped", got, want)
	w.mustVerify(meta.ID)
	w.restore(meta.ID)
	for name := range want {
		if _, err := os.Lstat(filepath.Join(w.gen(), "memdir", name)); err == nil {
			t.Errorf("%s came back", name)
		}
	}
	must.Equal(t, "the note", w.all().Notes["a"], "one\n")
}
