package hooksocket

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/localsock"
	"github.com/amber-memory/amber/wire"
)

// OfServer returns the socket of the server of a home.
func OfServer(home string) string { return filepath.Join(home, wire.NearSocket) }

// Answers reports whether a process listens at a socket.
func Answers(ctx context.Context, socket string) bool {
	if _, err := os.Lstat(socket); err != nil {
		return false
	}
	c, err := localsock.Dial(ctx, socket)
	return err == nil && c.Close() == nil
}

// OfHolder returns the socket of the process that holds a lock. The socket lies in a folder that
// only this user can enter. Its name is the identity of the lock file: two files never have the
// same identity, whatever their names are. Getenv reads the environment. With make, OfHolder makes
// the folder if it is missing. Errors: not_found without the file or the folder; unsupported where
// files have no such identity; refused for a folder of another user.
func OfHolder(lock string, getenv func(string) string, make bool) (string, error) {
	const op = "find socket"
	info, err := os.Lstat(lock)
	switch {
	case err != nil:
		return "", &amber.Error{Op: op, Kind: amber.KindNotFound, ID: lock, Err: err}
	case !info.Mode().IsRegular():
		return "", amber.Errorf(amber.KindRefused, op, lock, "want a regular file, found %s", info.Mode().Type())
	}
	device, number, ok := localsock.Identity(info)
	if !ok {
		return "", amber.Errorf(amber.KindUnsupported, op, lock, "the system does not number files")
	}
	dir, err := folder(getenv, make)
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, fmt.Sprintf("%x-%x.sock", device, number)), nil
}

// folder returns where sockets of holders lie. Another user may have taken the name below a folder that all users
// share; then it is the one below the home of the user. The error is that of the first one.
func folder(getenv func(string) string, make bool) (string, error) {
	check := localsock.CheckFolder
	if make {
		check = localsock.MakeFolder
	}
	var first error
	for _, dir := range folders(getenv) {
		err := check(dir)
		if err == nil {
			return dir, nil
		}
		if first == nil {
			first = err
		}
	}
	return "", first
}

// folders are those that are tried, in order.
func folders(getenv func(string) string) []string {
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && localsock.CheckFolder(dir) == nil {
		return []string{filepath.Join(dir, "amber")}
	}
	tmp := getenv("TMPDIR")
	if !filepath.IsAbs(tmp) {
		tmp = "/tmp"
	}
	out := []string{filepath.Join(tmp, fmt.Sprintf("amber-%d", os.Geteuid()))}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		out = append(out, filepath.Join(home, ".amber-run"))
	}
	return out
}
