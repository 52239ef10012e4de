package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber/internal/base/words"
)

// Step is one step of the demo.
type Step struct {
	Title    string   `json:"title"`
	Commands []Run    `json:"commands"`
	Found    []string `json:"found"` // what the step did or found out beside them
	OK       bool     `json:"ok"`
}

// Run is a command as a person would type it, and what came of it.
type Run struct {
	Command  string `json:"command"`
	ExitCode int    `json:"exit_code"`
	Output   string `json:"output"`
	Stderr   string `json:"stderr,omitempty"`
}

// process is a run of this program on the demo's home.
func (d *Demo) process(ctx context.Context, stdin string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, d.o.Self, args...)
	cmd.Env, cmd.Dir, cmd.Stdin = d.environ, filepath.Join(d.dir, "work"), strings.NewReader(stdin)
	return cmd
}

// run runs this program. An exit code is no error.
func (d *Demo) run(ctx context.Context, stdin string, args ...string) (Run, error) {
	var stdout, stderr bytes.Buffer
	cmd := d.process(ctx, stdin, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		err = nil
	}
	r := Run{Command: typed(args), Output: stdout.String(), Stderr: stderr.String()}
	if cmd.ProcessState != nil {
		r.ExitCode = cmd.ProcessState.ExitCode()
	}
	return r, err
}

// quietly runs a command that must exit with 0 and returns its output without showing it: the demo needs the
// answer for itself, or the command prints too much.
func (d *Demo) quietly(ctx context.Context, stdin string, args ...string) ([]byte, error) {
	r, err := d.run(ctx, stdin, args...)
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("%s exits with %d: %s", r.Command, r.ExitCode, d.o.Line(r.Stderr, 600))
	}
	return []byte(r.Output), err
}

// show runs a command and shows it with what it printed.
func (d *Demo) show(ctx context.Context, args ...string) (Run, error) {
	d.tell("%s\n", d.o.Bold("$ "+typed(args)))
	r, err := d.run(ctx, "", args...)
	if err != nil {
		return r, err
	}
	d.step.Commands = append(d.step.Commands, r)
	d.tell("%s", d.excerpt(r.Output+r.Stderr))
	return r, nil
}

// found notes something that no command printed.
func (d *Demo) found(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	d.step.Found = append(d.step.Found, text)
	d.tell("%s\n", d.o.Dim("# "+text))
}

// tell prints for people while the demo goes on.
func (d *Demo) tell(format string, args ...any) {
	if d.o.Tell != nil {
		d.o.Tell(format, args...)
	}
}

// excerpt is the beginning of what a command printed.
func (d *Demo) excerpt(s string) string {
	const most = 24
	lines := strings.SplitAfter(d.o.Safe(s), "\n")
	if n := len(lines); lines[n-1] == "" {
		lines = lines[:n-1]
	} else {
		lines[n-1] += "\n"
	}
	if more := len(lines) - most; more > 1 {
		lines = append(lines[:most], "... "+words.Count(more, "line", "lines")+" more\n")
	}
	return strings.Join(lines, "")
}

// typed is a command line as a person would type it.
func typed(args []string) string {
	words := []string{"amber"}
	for _, arg := range args {
		if arg == "" || strings.ContainsAny(arg, " \t\n'\"\\$&|;<>()*?#~`!{}[]") {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}
