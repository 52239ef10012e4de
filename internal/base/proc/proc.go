// Package proc identifies the process of an agent host that started a hook, and
// reports whether that process is still there.
//
// A process number alone means little: others get it later, and it counts in
// one namespace of one boot only. So all of that is part of the identity, and
// where it cannot be compared the answer is Unknown. A sleeping or stopped
// process is alive.
//
// It also reports whether more threads want to run than the machine can.
package proc

import (
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
)

// Liveness is what is known about a process.
type Liveness int

// The answers.
const (
	Unknown Liveness = iota // it cannot be told from here
	Alive
	Dead
)

// between are programs that hosts start hooks through. The host is behind
// them.
var between = map[string]bool{
	"sh": true, "bash": true, "dash": true, "zsh": true, "fish": true, "ash": true, "busybox": true, "ksh": true,
	"env": true, "timeout": true, "nice": true, "nohup": true, "setsid": true, "xargs": true, "sudo": true, "amber": true,
}

// process is one row of the process table.
type process struct {
	parent int
	name   string
	start  int64
	gone   bool // it has ended and waits to be reaped
}

// maxAncestors bounds the way up.
const maxAncestors = 16

// ancestor returns the first process above pid that hooks are not started
// through.
func ancestor(pid int, look func(int) (process, bool)) (int, process, bool) {
	for range maxAncestors {
		p, ok := look(pid)
		if !ok || pid <= 1 {
			break
		}
		if !between[strings.TrimSuffix(strings.ToLower(filepath.Base(p.name)), ".exe")] {
			return pid, p, true
		}
		pid = p.parent
	}
	return 0, process{}, false
}

// judge says whether the process that was seen then is still there, from what
// is there now.
func judge(then amber.HostProcess, here amber.HostProcess, look func(int) (process, bool)) Liveness {
	switch {
	case then.PID <= 0 || then.Boot == "" || here.Boot == "":
		return Unknown
	case then.Namespace != here.Namespace:
		return Unknown // another container
	case then.Boot != here.Boot:
		return Dead // the machine was started again, or the home has moved to this one
	}
	now, ok := look(then.PID)
	if !ok || now.gone || now.start != then.Start {
		return Dead
	}
	return Alive
}
