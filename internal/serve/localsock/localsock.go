// Package localsock is a socket in a folder of the user, for processes of the same user.
// Both ends check who is at the other end by what the kernel says.
package localsock

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"

	"github.com/amber-memory/amber"
)

const (
	mode       = 0o600
	folderMode = 0o700
	folderOp   = "use folder of sockets"
	// maxPath is the longest path that every system can bind a socket to.
	maxPath = 103
)

// Listen makes a socket that only processes of this user can reach. It replaces a socket of this
// user that lies at path: the caller makes sure, by a lock, that no other process listens there.
// The socket is removed when the listener is closed. Errors: unsupported where the kernel does not
// name the user of a caller, or the path is too long; refused for anything else at path.
func Listen(path string) (net.Listener, error) { return listen(path, os.Geteuid()) }

func listen(path string, user int) (net.Listener, error) {
	const op = "listen"
	if !supported {
		return nil, amber.Errorf(amber.KindUnsupported, op, path, "want a system that tells who calls, this one does not")
	}
	if len(path) > maxPath {
		return nil, amber.Errorf(amber.KindUnsupported, op, path, "the path of a socket has at most %d bytes, this one has %d", maxPath, len(path))
	}
	_, err := check(op, path, user)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, &amber.Error{Op: op, Kind: amber.KindInternal, ID: path, Err: err}
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(&amber.Error{Op: op, Kind: amber.KindInternal, ID: path, Err: err}, l.Close())
	}
	return &listener{l, user}, nil
}

// listener lets in one user only.
type listener struct {
	*net.UnixListener
	user int
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.AcceptUnix()
		if err != nil {
			return nil, err
		}
		if user, err := peer(c); err == nil && user == l.user {
			return c, nil
		}
		_ = c.Close()
	}
}

// Dial connects to a socket of this user that a process of this user listens on. Errors:
// unsupported where the kernel does not name the user of the process that answers; not_found;
// refused for a file or a process of another user; unreachable when no process listens, as at a
// socket that a killed process has left.
func Dial(ctx context.Context, path string) (net.Conn, error) { return dial(ctx, path, os.Geteuid()) }

func dial(ctx context.Context, path string, user int) (net.Conn, error) {
	const op = "connect"
	if !supported {
		return nil, amber.Errorf(amber.KindUnsupported, op, path, "the system does not tell who answers")
	}
	perm, err := check(op, path, user)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &amber.Error{Op: op, Kind: amber.KindNotFound, ID: path, Err: err}
	case err != nil:
		return nil, err
	case perm&^mode != 0:
		return nil, amber.Errorf(amber.KindRefused, op, path, "the socket has mode %04o, want %04o", perm, mode)
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		return nil, &amber.Error{Op: op, Kind: amber.KindUnreachable, ID: path, Err: err}
	}
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.Join(amber.Errorf(amber.KindInternal, op, path, "the connection is no socket"), c.Close())
	}
	if got, err := peer(u); err != nil || got != user {
		return nil, errors.Join(amber.Errorf(amber.KindRefused, op, path, "the process that listens is of user %d, want %d", got, user), err, c.Close())
	}
	return c, nil
}

// MakeFolder makes a folder that only this user can enter, for sockets. It keeps a folder that is
// there. Errors: those of [CheckFolder].
func MakeFolder(path string) error {
	if err := os.Mkdir(path, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return &amber.Error{Op: folderOp, Kind: amber.KindNotFound, ID: path, Err: err}
	}
	return CheckFolder(path)
}

// CheckFolder reports whether a folder is one that only this user can enter. Errors: not_found;
// refused.
func CheckFolder(path string) error { return checkFolder(path, os.Geteuid()) }

func checkFolder(path string, user int) error {
	info, err := os.Lstat(path)
	if err != nil {
		return &amber.Error{Op: folderOp, Kind: amber.KindNotFound, ID: path, Err: err}
	}
	switch owner := ownerOf(info); {
	case !info.IsDir():
		return amber.Errorf(amber.KindRefused, folderOp, path, "want a folder, found %s", info.Mode().Type())
	case owner != user:
		return amber.Errorf(amber.KindRefused, folderOp, path, "the folder is of user %d, want %d", owner, user)
	case info.Mode().Perm() != folderMode:
		return amber.Errorf(amber.KindRefused, folderOp, path, "the folder has mode %04o, want %04o", info.Mode().Perm(), folderMode)
	}
	return nil
}

// check returns who may use the socket at path, and reports anything that is not a socket of
// a user. A path without a file is [fs.ErrNotExist].
func check(op, path string, user int) (perm fs.FileMode, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	switch owner := ownerOf(info); {
	case info.Mode().Type() != fs.ModeSocket:
		return 0, amber.Errorf(amber.KindRefused, op, path, "want a socket, found %s", info.Mode().Type())
	case owner != user:
		return 0, amber.Errorf(amber.KindRefused, op, path, "the socket is of user %d, want %d", owner, user)
	}
	return info.Mode().Perm(), nil
}
