//go:build !unix

package gitrun

import "os/exec"

// ownGroup does nothing: here ending git leaves its short-lived children to end by themselves.
func ownGroup(*exec.Cmd) {}
