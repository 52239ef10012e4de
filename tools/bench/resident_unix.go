//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// maxResident returns how many bytes of memory a process had at most.
func maxResident(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) * 1024
}
