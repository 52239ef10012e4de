package githook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

const (
	maxOutput = 64 << 20 // what one git command may answer
	maxStderr = 8 << 10  // what is kept of its complaints
	patience  = 30 * time.Second
	// killGrace is how long the pipes of a killed git may stay open.
	killGrace = 5 * time.Second
)

// kept are the variables that git is started with: where its settings are, and
// nothing that says which repository. Inside a hook git itself sets those,
// relative to another folder than ours.
var kept = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CEILING_DIRECTORIES",
	"USERPROFILE", "SYSTEMROOT", "TEMP", "TMP",
}

// environment picks those out of environ and adds what keeps git from asking,
// from writing, from fetching, and from speaking another language.
func environment(environ []string) []string {
	var env []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(kept, strings.ToUpper(name)) {
			env = append(env, kv)
		}
	}
	return append(env,
		"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1")
}

// errExit is a git that ran and said no.
type errExit struct{ text string }

func (e errExit) Error() string { return e.text }

// git runs one command that only reads, in a folder, and returns what it wrote.
// Errors: unsupported without git; unreachable when ctx ended or it took too
// long, by then it is killed; quota when it wrote too much; internal, wrapping
// errExit, when it said no.
func git(ctx context.Context, env []string, dir string, args ...string) ([]byte, error) {
	fail := func(kind amber.Kind, err error) ([]byte, error) {
		return nil, &amber.Error{Op: "git " + args[0], Kind: kind, Err: err}
	}
	timed, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(timed, "git", append([]string{"--no-pager", "-c", "core.fsmonitor=false"}, args...)...)
	out, complaint := &capped{max: maxOutput, strict: true}, &capped{max: maxStderr}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, env, out, complaint, killGrace
	ownGroup(cmd)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return out.buf.Bytes(), nil
	case ctx.Err() != nil:
		return fail(amber.KindOf(ctx.Err()), ctx.Err())
	case timed.Err() != nil:
		return fail(amber.KindUnreachable, fmt.Errorf("it took longer than %s", patience))
	case out.over:
		return fail(amber.KindQuota, fmt.Errorf("it answers with more than %d bytes", maxOutput))
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot):
		return nil, &amber.Error{Op: "git " + args[0], Kind: amber.KindUnsupported, Err: err, Hint: "install git"}
	case errors.Is(err, fs.ErrNotExist): // the folder it was to run in
		return fail(amber.KindNotFound, fmt.Errorf("there is no folder %s", dir))
	case errors.As(err, &exit) && exit.Exited():
		return fail(amber.KindInternal, errExit{reason(complaint.buf.String(), err)})
	}
	return fail(amber.KindInternal, err)
}

// reason picks the line that says why git gave up.
func reason(stderr string, err error) string {
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"fatal: ", "error: "} {
			if text, ok := strings.CutPrefix(line, prefix); ok {
				return strings.ToValidUTF8(text, "?")
			}
		}
	}
	return err.Error()
}

// line is git for an answer of one line.
func line(ctx context.Context, env []string, dir string, args ...string) (string, error) {
	out, err := git(ctx, env, dir, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// capped keeps the first max bytes. A strict one fails after them, which ends
// the writer.
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
