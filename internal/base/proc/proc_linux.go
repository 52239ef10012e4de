package proc

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/amber-memory/amber"
)

const procfs = "/proc"

// Host returns the process of the agent host above this one; the zero value
// where it cannot be told.
func Host() amber.HostProcess {
	return host(procfs, os.Getppid())
}

// Check reports whether the process that was seen is still there.
func Check(then amber.HostProcess) Liveness {
	return judge(then, here(procfs), func(pid int) (process, bool) { return look(procfs, pid) })
}

func host(root string, parent int) amber.HostProcess {
	pid, p, ok := ancestor(parent, func(pid int) (process, bool) { return look(root, pid) })
	if !ok {
		return amber.HostProcess{}
	}
	h := here(root)
	h.PID, h.Start = pid, p.start
	return h
}

// here identifies the running system and the namespace this process is in.
func here(root string) amber.HostProcess {
	var h amber.HostProcess
	if b, err := os.ReadFile(filepath.Join(root, "sys/kernel/random/boot_id")); err == nil {
		h.Boot = strings.TrimSpace(string(b))
	}
	h.Namespace, _ = os.Readlink(filepath.Join(root, "self/ns/pid"))
	return h
}

// look reads one row of the process table: pid (name) state ppid ... start,
// the 22nd field. The name may hold anything, so what counts is the last
// parenthesis.
func look(root string, pid int) (process, bool) {
	b, err := os.ReadFile(filepath.Join(root, strconv.Itoa(pid), "stat"))
	if err != nil {
		return process{}, false
	}
	s := string(b)
	open, shut := strings.IndexByte(s, '('), strings.LastIndexByte(s, ')')
	if open < 0 || shut < open {
		return process{}, false
	}
	fields := strings.Fields(s[shut+1:])
	if len(fields) < 20 {
		return process{}, false
	}
	parent, err1 := strconv.Atoi(fields[1])
	start, err2 := strconv.ParseInt(fields[19], 10, 64)
	state := fields[0]
	return process{
		parent: parent, name: s[open+1 : shut], start: start, gone: state == "Z" || state == "X",
	}, err1 == nil && err2 == nil
}
