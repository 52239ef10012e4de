//go:build unix

package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/amber-memory/amber"
)

// Signals that a server gets.
const (
	sigStop      = syscall.SIGSTOP
	sigContinue  = syscall.SIGCONT
	sigKill      = syscall.SIGKILL
	sigFast      = syscall.SIGINT  // to a postmaster: end all sessions and shut down
	sigImmediate = syscall.SIGQUIT // to a postmaster: end without writing anything more
)

// programs are those that run with the path of a folder in their command line. Others that
// name the folder, as a pager that shows the log, are left alone.
var programs = []string{"postgres", "postmaster", "initdb", "pg_basebackup", "pgbouncer"}

// guard is what removes a folder: it kills the programs of the folder, the segment of shared
// memory that a killed postmaster leaves, and the files. It waits for the end of its input,
// which comes when the folder is closed or the test binary ends in whatever way.
//
// The kernel can also kill a child when its parent ends (PDEATHSIG), but its parent is the
// thread that started it, and threads of a Go program end before the program does. It would
// also leave the folder, the children of the postmaster, and all that is suspended.
const guard = `
trap '' HUP INT TERM
cat >/dev/null
list() {
	if [ -d /proc/self ]; then
		for f in $(grep -las "$2" /proc/[0-9]*/cmdline); do
			p=${f#/proc/}; p=${p%/cmdline}
			read -r c <"/proc/$p/comm" && echo "$p $c"
		done
	else
		ps -axo pid=,ucomm=,command= | grep -e "$2"
	fi 2>/dev/null
}
n=0
while [ $n -lt 100 ]; do
	found=$(list "$1" "$2" | while read -r p c _; do case $c in ` + "PROGRAMS" + `) kill -9 "$p" && echo "$p" ;; esac; done 2>/dev/null)
	[ -z "$found" ] && break
	n=$((n+1)); sleep 0.05
done
id=$(sed -n '7s/.* //p' "$1/data/postmaster.pid" 2>/dev/null)
[ -n "$id" ] && ipcrm -m "$id" 2>/dev/null
rm -rf "$1"
`

// folder is /tmp/ambpg-*: the files of one server, and its socket, whose path may have 107
// bytes. Nothing that runs in it outlives the test binary.
type folder struct {
	path  string
	owner *syscall.Credential // nil: this process's own
	guard *exec.Cmd
	open  io.Closer // the input of the guard
}

// newFolder makes a folder that the account of servers owns, and starts its guard.
func newFolder() (*folder, error) {
	owner, err := account()
	if err != nil {
		return nil, err
	}
	path, err := os.MkdirTemp("/tmp", "ambpg-")
	if err != nil {
		return nil, err
	}
	f := &folder{path: path, owner: owner}
	if owner != nil {
		err = os.Chown(path, int(owner.Uid), int(owner.Gid))
	}
	if err == nil {
		// The brackets keep the guard and its grep from finding themselves.
		name := filepath.Base(path)
		script := strings.ReplaceAll(guard, "PROGRAMS", strings.Join(programs, "|"))
		f.guard = f.command("/bin/sh", "-c", script, "guard", path, "["+name[:1]+"]"+name[1:])
		f.guard.Dir = "/"
		f.open, err = f.guard.StdinPipe()
	}
	if err == nil {
		err = f.guard.Start()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return f, nil
}

// account returns the one that servers run under. PostgreSQL and PgBouncer refuse to run as
// root.
func account() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, amber.Errorf(amber.KindUnsupported, "pgtest.start", "", "PostgreSQL does not run as root, and the accounts postgres and nobody do not exist: %w", err)
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, errors.Join(err1, err2)
}

// command is a program that runs in the folder under its account: without the variables of the
// environment that PostgreSQL reads, and in a session of its own, so that a key pressed at the terminal
// reaches the test binary alone.
func (f *folder) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = f.path
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL=C", "TZ=UTC", "HOME=" + f.path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: f.owner}
	return cmd
}

// run runs a program to its end.
func (f *folder) run(ctx context.Context, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	cmd := f.command(name, args...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	defer stop()
	if err := cmd.Wait(); err != nil {
		return amber.Errorf(amber.KindInternal, "pgtest.run", filepath.Base(name), "%w\n%s", errors.Join(err, ctx.Err()), out.String())
	}
	return nil
}

// give makes a file of the folder, or a folder in it, the account's own.
func (f *folder) give(path string) error {
	if f.owner == nil {
		return nil
	}
	return os.Chown(path, int(f.owner.Uid), int(f.owner.Gid))
}

// pids returns the processes that run in the folder. PostgreSQL puts each child into a session
// of its own, and children whose postmaster was killed have another parent. But all have the folder
// in their command line: the postmaster as an argument, the others as the name of the cluster.
func (f *folder) pids() ([]int, error) {
	name := filepath.Base(f.path)
	if _, err := os.Stat("/proc/self"); err != nil {
		return f.listed(name)
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		// A process may end between the two. A process that waits to be reaped has no command line.
		line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		comm, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "comm"))
		if strings.Contains(string(line), name) && slices.Contains(programs, strings.TrimSpace(string(comm))) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// listed is pids for systems without /proc.
func (f *folder) listed(name string) ([]int, error) {
	out, err := exec.Command("ps", "-axo", "pid=,ucomm=,command=").Output()
	if err != nil {
		return nil, err
	}
	var pids []int
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !strings.Contains(line, name) || !slices.Contains(programs, fields[1]) {
			continue
		}
		if pid, err := strconv.Atoi(fields[0]); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// signal sends a signal to every process of the folder, to the first one before all others, and
// again until it finds none that did not get it: a postmaster starts children meanwhile.
func (f *folder) signal(first int, sig syscall.Signal) error {
	got := map[int]bool{}
	for {
		pids, err := f.pids()
		if err != nil {
			return err
		}
		if i := slices.Index(pids, first); i > 0 {
			pids[0], pids[i] = pids[i], pids[0]
		}
		done := true
		for _, pid := range pids {
			if got[pid] {
				continue
			}
			got[pid], done = true, false
			if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("signal %v to process %d: %w", sig, pid, err)
			}
		}
		if done {
			return nil
		}
	}
}

// empty waits until no process of the folder is left.
func (f *folder) empty(ctx context.Context) error {
	return f.wait(ctx, "ended", func(int) bool { return false })
}

// still waits until every process of the folder is stopped: the signal is on its way for a moment.
func (f *folder) still(ctx context.Context) error {
	return f.wait(ctx, "stopped", func(pid int) bool { return state(pid) == "T" })
}

// wait waits until no process of the folder is left of which done is not true.
func (f *folder) wait(ctx context.Context, what string, done func(pid int) bool) error {
	ctx, cancel := context.WithTimeout(ctx, stopLimit)
	defer cancel()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		pids, err := f.pids()
		pids = slices.DeleteFunc(pids, done)
		if err != nil || len(pids) == 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return amber.Errorf(amber.KindUnreachable, "pgtest.signal", f.path, "processes %v have not %s: %w", pids, what, ctx.Err())
		}
	}
}

// state is the letter of what a process does: R for running, T for stopped.
func state(pid int) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		text, _ = exec.Command("ps", "-o", "state=", "-p", strconv.Itoa(pid)).Output()
	}
	rest := string(text[bytes.LastIndexByte(text, ')')+1:]) // behind the name of the program
	return strings.TrimSpace(rest)[:min(1, len(strings.TrimSpace(rest)))]
}

// remove ends what runs in the folder and removes it. Only the first call does something.
func (f *folder) remove() error {
	if f.guard == nil {
		return nil
	}
	cmd := f.guard
	f.guard = nil
	late := time.AfterFunc(callLimit, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	err := errors.Join(f.open.Close(), cmd.Wait())
	if _, left := os.Stat(f.path); left == nil {
		return amber.Errorf(amber.KindInternal, "pgtest.close", f.path, "the folder was still there after its guard ended (%v), and was removed: %v", err, os.RemoveAll(f.path))
	}
	return nil
}
