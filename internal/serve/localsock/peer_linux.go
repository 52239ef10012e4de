package localsock

import "golang.org/x/sys/unix"

// peerOf returns the user at the other end of a socket.
func peerOf(fd int) (int, error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return -1, err
	}
	return int(cred.Uid), nil
}
