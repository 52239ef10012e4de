package localsock

import (
	"net"

	"golang.org/x/sys/unix"
)

const supported = true

// peer returns the user at the other end.
func peer(c *net.UnixConn) (user int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	user = -1
	var failed error
	err = raw.Control(func(fd uintptr) {
		var cred *unix.Ucred
		if cred, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); failed == nil {
			user = int(cred.Uid)
		}
	})
	if err == nil {
		err = failed
	}
	return user, err
}
