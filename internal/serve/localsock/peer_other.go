//go:build !linux && !darwin

package localsock

import (
	"errors"
	"net"
)

const supported = false

func peer(*net.UnixConn) (int, error) { return -1, errors.ErrUnsupported }
