package notes

import (
	"context"
	"os/exec"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/gitrun"
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
var errExit = gitrun.ErrExit

// run returns what the command wrote to its standard output. Errors: those of [gitrun.Run].
func (p program) run(ctx context.Context, c command) ([]byte, error) {
	return gitrun.Run(ctx, p.bounded(c))
}

// bounded is the command with everything that goes with it.
func (p program) bounded(c command) gitrun.Command {
	args := settings(c.args[0])
	for _, pair := range c.extra {
		args = append(args, "-c", pair)
	}
	return gitrun.Command{
		Path: p.path, Verb: c.args[0], Args: append(args, c.args...), Dir: c.dir, Env: c.env, Stdin: c.stdin, Timeout: p.timeout,
	}
}

// command returns the command without its pipes.
func (p program) command(ctx context.Context, c command) *exec.Cmd {
	b := p.bounded(c)
	cmd := exec.CommandContext(ctx, b.Path, b.Args...)
	cmd.Dir, cmd.Env = b.Dir, b.Env
	gitrun.Prepare(cmd)
	return cmd
}

// amberError is an [amber.Error] without a subject.
func amberError(k amber.Kind, op string, err error, hint string) error {
	return &amber.Error{Op: op, Kind: k, Err: err, Hint: hint}
}
