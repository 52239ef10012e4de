//go:build unix

package main

import "golang.org/x/sys/unix"

// syncDisks returns when what was written is on disk.
func syncDisks() { unix.Sync() }
