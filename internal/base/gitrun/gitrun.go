// Package gitrun runs the git program, bounded in time and in what it may
// answer, and ends its children with it.
package gitrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/proc"
)

const (
	maxOutput = 64 << 20 // what one command may answer
	maxStderr = 8 << 10  // what is kept of its complaints
	// KillGrace is how long the pipes of a killed git may stay open before they are closed under it.
	KillGrace = 5 * time.Second
)

// Command is one run of git.
type Command struct {
	Path    string   // of the program
	Verb    string   // what errors call it: the subcommand, never its arguments
	Args    []string // everything behind the program's name
	Dir     string   // where it runs; "" is the current folder
	Env     []string // all of it
	Timeout time.Duration
}

// ErrExit is wrapped by the error of a git that ran and said no.
var ErrExit = errors.New("git reports an error")

// Exit is a git that ran and said no. It is an [ErrExit].
type Exit struct{ Text string }

func (e Exit) Error() string { return ErrExit.Error() + ": " + e.Text }

// Unwrap returns [ErrExit].
func (e Exit) Unwrap() error { return ErrExit }

// Run returns what the command wrote to its standard output. Errors: unsupported when there is no
// such program; not_found when there is no such folder; unreachable when ctx ended or the time was
// over, by then git and its children are killed; quota when it wrote too much; internal, wrapping
// [Exit], when it failed.
func Run(ctx context.Context, c Command) ([]byte, error) {
	timed, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	cmd := exec.CommandContext(timed, c.Path, c.Args...)
	Prepare(cmd)
	out, complaint := &capped{max: maxOutput, strict: true}, &Complaint{}
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdout, cmd.Stderr = out, complaint
	if err := cmd.Start(); err != nil {
		return nil, c.NotStarted(err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out.buf.Bytes(), nil
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted: %w", ctx.Err())
	case timed.Err() != nil:
		err = fmt.Errorf("git took longer than %s: %w", c.Timeout, timed.Err())
	case out.over:
		return nil, c.fail(amber.KindQuota, fmt.Errorf("git answered with more than %d bytes", maxOutput))
	case errors.As(err, &exit) && exit.Exited():
		err = Exit{Reason(complaint.String(), err)}
	}
	return nil, c.fail(amber.KindOf(err), err)
}

func (c Command) fail(k amber.Kind, err error) error {
	return &amber.Error{Op: "git " + c.Verb, Kind: k, Err: err}
}

// NotStarted is the error of a command that could not be started: it tells a program that is not
// there from a folder that is not.
func (c Command) NotStarted(err error) error {
	if errors.Is(err, fs.ErrNotExist) && c.Dir != "" {
		if _, found := exec.LookPath(c.Path); found == nil {
			return c.fail(amber.KindNotFound, fmt.Errorf("no such folder: %s", c.Dir))
		}
	}
	for _, absent := range []error{exec.ErrNotFound, exec.ErrDot, fs.ErrNotExist, fs.ErrPermission} {
		if errors.Is(err, absent) {
			return &amber.Error{Op: "git " + c.Verb, Kind: amber.KindUnsupported, Err: fmt.Errorf("start %s: %w", c.Path, err), Hint: "install git"}
		}
	}
	return c.fail(amber.KindOf(err), err)
}

// Prepare gives a command that the caller starts the bounds that [Run] gives: its
// children end with it, and its pipes soon after.
func Prepare(cmd *exec.Cmd) {
	cmd.WaitDelay = KillGrace
	proc.OwnGroup(cmd)
}

// Reason picks the line that says why git gave up.
func Reason(stderr string, err error) string {
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "fatal:") || strings.HasPrefix(line, "error:") {
			return strings.ToValidUTF8(line, "?")
		}
	}
	return err.Error()
}

// Complaint keeps the beginning of what git says on its standard error.
type Complaint struct{ capped }

// Write takes everything and keeps some of it.
func (c *Complaint) Write(p []byte) (int, error) {
	c.max = maxStderr
	return c.capped.Write(p)
}

func (c *Complaint) String() string { return c.buf.String() }

// capped keeps the first max bytes. A strict one fails after them, which ends the writer.
type capped struct {
	buf    bytes.Buffer // not embedded: its ReadFrom would pass by the bound
	max    int
	strict bool
	over   bool
}

func (c *capped) Write(p []byte) (int, error) {
	room := c.max - c.buf.Len()
	if len(p) <= room {
		return c.buf.Write(p)
	}
	c.over = true
	if c.strict {
		return 0, io.ErrShortBuffer
	}
	c.buf.Write(p[:room])
	return len(p), nil
}
