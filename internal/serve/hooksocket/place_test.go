//go:build linux || darwin

package hooksocket_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/internal/serve/localsock"
	"github.com/amber-memory/amber/internal/test/must"
)

func env(kv map[string]string) func(string) string {
	return func(name string) string { return kv[name] }
}

// A socket has the identity of the lock file, wherever the lock file lies and whatever its name is,
// and lies in a folder that no other user can enter.
func TestSocketOfAHolder(t *testing.T) {
	t.Parallel()
	dir := must.Get(os.MkdirTemp("", "near"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	lock, other, moved := filepath.Join(dir, "lock"), filepath.Join(dir, "other"), filepath.Join(dir, "moved")
	tmp := env(map[string]string{"TMPDIR": dir})
	must.Kind(t, "no lock", must.Err(hooksocket.OfHolder(lock, tmp, true)), amber.KindNotFound)
	must.Do(t, os.WriteFile(lock, nil, 0o600))
	must.Do(t, os.WriteFile(other, nil, 0o600))
	must.Kind(t, "no folder", must.Err(hooksocket.OfHolder(lock, tmp, false)), amber.KindNotFound)
	socket := must.Get(hooksocket.OfHolder(lock, tmp, true))(t)
	must.Equal(t, "mode of the folder", must.Get(os.Lstat(filepath.Dir(socket)))(t).Mode().Perm(), 0o700)
	must.Equal(t, "found again", must.Get(hooksocket.OfHolder(lock, tmp, false))(t), socket)
	must.Hold(t, must.Get(hooksocket.OfHolder(other, tmp, false))(t) != socket, "two locks have the socket %s", socket)
	must.Do(t, os.Rename(lock, moved))
	must.Equal(t, "of the file elsewhere", must.Get(hooksocket.OfHolder(moved, tmp, false))(t), socket)
	must.Do(t, os.Symlink(moved, lock))
	must.Kind(t, "a link", must.Err(hooksocket.OfHolder(lock, tmp, false)), amber.KindRefused, "regular file")

	must.Equal(t, "answers", hooksocket.Answers(t.Context(), socket), false)
	l := must.Get(localsock.Listen(socket))(t)
	must.Equal(t, "answers", hooksocket.Answers(t.Context(), socket), true)
	must.Do(t, l.Close())

	must.Do(t, os.Chmod(filepath.Dir(socket), 0o755))
	must.Kind(t, "a folder for everybody", must.Err(hooksocket.OfHolder(moved, tmp, true)), amber.KindRefused, "0755")
	run := filepath.Join(dir, "run")
	must.Do(t, os.Mkdir(run, 0o700))
	socket = must.Get(hooksocket.OfHolder(moved, env(map[string]string{"TMPDIR": dir, "XDG_RUNTIME_DIR": run}), true))(t)
	must.Hold(t, strings.HasPrefix(socket, run+"/amber/"), "the socket is %s", socket)
	must.Do(t, os.RemoveAll(filepath.Dir(socket)))
	must.Do(t, os.Symlink(dir, filepath.Dir(socket)))
	must.Kind(t, "a link as the folder", must.Err(hooksocket.OfHolder(moved, env(map[string]string{"XDG_RUNTIME_DIR": run}), true)), amber.KindRefused, "want a folder")
}

// Another user who takes the name below /tmp first blocks nothing: both ends use the folder below the home.
func TestATakenFolderBlocksNothing(t *testing.T) {
	t.Parallel()
	dir := must.Get(os.MkdirTemp("", "near"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	lock, home := filepath.Join(dir, "lock"), filepath.Join(dir, "home")
	must.Do(t, os.WriteFile(lock, nil, 0o600))
	must.Do(t, os.Mkdir(home, 0o700))
	must.Do(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("amber-%d", os.Geteuid())), nil, 0o600)) // it can be removed by its owner alone
	taken := map[string]string{"TMPDIR": dir}
	must.Kind(t, "no home", must.Err(hooksocket.OfHolder(lock, env(taken), true)), amber.KindRefused, "want a folder")
	taken["HOME"] = home
	must.Kind(t, "not made yet", must.Err(hooksocket.OfHolder(lock, env(taken), false)), amber.KindRefused)
	socket := must.Get(hooksocket.OfHolder(lock, env(taken), true))(t)
	must.Hold(t, strings.HasPrefix(socket, home+"/.amber-run/"), "the socket is %s", socket)
	must.Equal(t, "found again", must.Get(hooksocket.OfHolder(lock, env(taken), false))(t), socket)
	must.Do(t, must.Get(localsock.Listen(socket))(t).Close())
	must.Do(t, os.Chmod(filepath.Dir(socket), 0o755))
	must.Kind(t, "a folder for everybody", must.Err(hooksocket.OfHolder(lock, env(taken), true)), amber.KindRefused)
}
