//go:build !linux

package proc

import "github.com/amber-memory/amber"

// Host returns the zero value: the process table cannot be read here without
// another program, and a hook has no time for one.
func Host() amber.HostProcess { return amber.HostProcess{} }

// Crowded returns false: this system cannot tell.
func Crowded() bool { return false }

// Check returns Unknown: this system cannot tell.
func Check(amber.HostProcess) Liveness { return Unknown }
