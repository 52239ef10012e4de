//go:build !linux

package proc

import "github.com/amber-memory/amber"

// Host returns the zero value: the process table cannot be read here without
// another program, and a hook has no time for one.
func Host() amber.HostProcess { return amber.HostProcess{} }

// Check returns Unknown: this system cannot tell.
func Check(amber.HostProcess) Liveness { return Unknown }
