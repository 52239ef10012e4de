//go:build linux || darwin

package localsock

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// short is a path that a socket can have, wherever tests run.
func short(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "sock"))(t)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

// echo listens and sends back what it is sent.
func echo(t *testing.T, l net.Listener) {
	t.Helper()
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.Copy(c, c)
			_ = c.Close()
		}
	}()
}

func TestTheUserReachesTheSocket(t *testing.T) {
	t.Parallel()
	path := short(t)
	l := must.Get(Listen(path))(t)
	echo(t, l)
	must.Equal(t, "mode", must.Get(os.Lstat(path))(t).Mode().Perm(), 0o600)
	c := must.Get(Dial(t.Context(), path))(t)
	must.Get(io.WriteString(c, "hello"))(t)
	must.Do(t, c.(*net.UnixConn).CloseWrite())
	must.Equal(t, "answer", string(must.Get(io.ReadAll(c))(t)), "hello")
	must.Do(t, errors.Join(c.Close(), l.Close()))
	_, err := os.Lstat(path)
	must.Hold(t, errors.Is(err, os.ErrNotExist), "the socket is left behind: %v", err)
}

// A process that was killed leaves its socket, perhaps before it was closed to others.
func TestSocketOfAKilledProcess(t *testing.T) {
	t.Parallel()
	for perm, want := range map[os.FileMode]amber.Kind{mode: amber.KindUnreachable, 0o755: amber.KindRefused} {
		path := short(t)
		l := must.Get(net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"}))(t)
		l.SetUnlinkOnClose(false)
		must.Do(t, errors.Join(os.Chmod(path, perm), l.Close()))
		must.Kind(t, "dial", must.Err(Dial(t.Context(), path)), want)
		echo(t, must.Get(Listen(path))(t))
		must.Do(t, must.Get(Dial(t.Context(), path))(t).Close())
	}
}

func TestOthersAreRefused(t *testing.T) {
	t.Parallel()
	path, me := short(t), os.Geteuid()
	must.Kind(t, "no socket", must.Err(Dial(t.Context(), path)), amber.KindNotFound)
	l := must.Get(listen(path, me))(t)
	l.(*listener).user = me + 1 // waits for another user
	echo(t, l)
	c := must.Get(dial(t.Context(), path, me))(t)
	_, err := c.Read(make([]byte, 1))
	must.Hold(t, err != nil, "the listener talks to a user it does not wait for")
	must.Do(t, c.Close())
	must.Kind(t, "a socket of somebody else", must.Err(dial(t.Context(), path, me+1)), amber.KindRefused, "of user")
	must.Kind(t, "in the place of somebody else's", must.Err(listen(path, me+1)), amber.KindRefused, "of user")
	must.Do(t, os.Chmod(path, 0o666))
	must.Kind(t, "a socket for everybody", must.Err(dial(t.Context(), path, me)), amber.KindRefused, "0666")
}

func TestFolderOfSomebodyElse(t *testing.T) {
	t.Parallel()
	dir, me := filepath.Join(filepath.Dir(short(t)), "d"), os.Geteuid()
	must.Kind(t, "no folder", must.Err(struct{}{}, CheckFolder(dir)), amber.KindNotFound)
	must.Do(t, MakeFolder(dir))
	must.Do(t, MakeFolder(dir))
	must.Do(t, checkFolder(dir, me))
	must.Kind(t, "of somebody else", must.Err(struct{}{}, checkFolder(dir, me+1)), amber.KindRefused, "of user")
	must.Kind(t, "below no folder", must.Err(struct{}{}, MakeFolder(filepath.Join(dir, "a", "b"))), amber.KindNotFound)
}

func TestWhatIsNoSocketStays(t *testing.T) {
	t.Parallel()
	path := short(t)
	must.Do(t, os.WriteFile(path, []byte("precious"), 0o600))
	must.Kind(t, "listen", must.Err(Listen(path)), amber.KindRefused, "want a socket")
	must.Kind(t, "dial", must.Err(Dial(t.Context(), path)), amber.KindRefused, "want a socket")
	must.Equal(t, "file", string(must.Get(os.ReadFile(path))(t)), "precious")
	link := path + "l"
	must.Do(t, os.Symlink(path, link))
	must.Kind(t, "a link", must.Err(Listen(link)), amber.KindRefused)
	must.Kind(t, "too long", must.Err(Listen(filepath.Join(path+strings.Repeat("x", 120)))), amber.KindUnsupported, "bytes")
}

func TestDialEndsWithItsContext(t *testing.T) {
	t.Parallel()
	path := short(t)
	echo(t, must.Get(Listen(path))(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Kind(t, "dial", must.Err(Dial(ctx, path)), amber.KindUnreachable)
}
