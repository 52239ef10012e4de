//go:build linux || darwin

package localsock

import "net"

const supported = true

// peer returns the user at the other end.
func peer(c *net.UnixConn) (user int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return -1, err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { user, failed = peerOf(int(fd)) }); err != nil {
		return -1, err
	}
	return user, failed
}
