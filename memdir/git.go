package memdir

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
)

const (
	maxOutput = 64 << 20 // what one git command may answer
	maxStderr = 8 << 10  // what is kept of its complaints
	// killGrace is how long the pipes of a killed git may stay open before they are closed under it.
	killGrace = 5 * time.Second
)

// program is the git program and how long one run of it may take.
type program struct {
	path    string
	timeout time.Duration
}

// command is one run of git.
type command struct {
	args  []string // the subcommand first
	dir   string   // where it runs; "" is the current folder
	env   []string // all of it
	stdin []byte
	extra []string // settings, after those of every command
}

// name is what errors call the command: the subcommand, never its arguments.
func (c command) name() string { return "git " + c.args[0] }

// errExit is wrapped by the error of a git that ran and said no.
var errExit = errors.New("git reports an error")

// run returns what the command wrote to its standard output. Errors: unsupported when there is no
// such program; unreachable when ctx ended or the time was over, by then git and its children are
// killed; quota when it wrote more than maxOutput; internal, wrapping errExit, when it failed.
func (p program) run(ctx context.Context, c command) ([]byte, error) {
	timed, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	cmd := p.command(timed, c)
	out, complaint := &capped{max: maxOutput, strict: true}, &capped{max: maxStderr}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(c.stdin), out, complaint

	if err := cmd.Start(); err != nil {
		return nil, startError(c, p.path, err)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out.buf.Bytes(), nil
	case ctx.Err() != nil:
		err = fmt.Errorf("it was broken off: %w", ctx.Err())
	case timed.Err() != nil:
		err = fmt.Errorf("it took longer than %s: %w", p.timeout, timed.Err())
	case out.over:
		return nil, amberError(amber.KindQuota, c.name(), fmt.Errorf("it answers with more than %d bytes", maxOutput), "")
	case errors.As(err, &exit) && exit.Exited():
		err = fmt.Errorf("%w: %s", errExit, reason(complaint.buf.String(), err))
	}
	return nil, amberError(amber.KindOf(err), c.name(), err, "")
}

// command returns the command without its pipes.
func (p program) command(ctx context.Context, c command) *exec.Cmd {
	args := settings(c.args[0])
	for _, pair := range c.extra {
		args = append(args, "-c", pair)
	}
	cmd := exec.CommandContext(ctx, p.path, append(args, c.args...)...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.WaitDelay = killGrace
	ownGroup(cmd)
	return cmd
}

func startError(c command, path string, err error) error {
	for _, absent := range []error{exec.ErrNotFound, exec.ErrDot, fs.ErrNotExist, fs.ErrPermission} {
		if errors.Is(err, absent) {
			return amberError(amber.KindUnsupported, c.name(), fmt.Errorf("start %s: %w", path, err), "install git")
		}
	}
	return amberError(amber.KindOf(err), c.name(), err, "")
}

// reason picks the line that says why git gave up.
func reason(stderr string, err error) string {
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "fatal:") || strings.HasPrefix(line, "error:") {
			return strings.ToValidUTF8(line, "?")
		}
	}
	return err.Error()
}

// amberError is an [amber.Error] without a subject.
func amberError(k amber.Kind, op string, err error, hint string) error {
	return &amber.Error{Op: op, Kind: k, Err: err, Hint: hint}
}

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
