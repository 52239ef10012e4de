package writer

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/capture/digest"
)

// command is a program that reads a session on its standard input and answers with
// items on its standard output.
type command struct{ o Options }

// Label implements [digest.Writer].
func (command) Label() string { return "command" }

// killDelay is how long another process may keep the program's output open after the program ended.
const killDelay = 2 * time.Second

// Write implements [digest.Writer]. Errors: unreachable when the program does not
// start or takes too long; invalid.
func (c command) Write(ctx context.Context, s digest.Session) ([]digest.Item, error) {
	in, err := json.Marshal(newDocument(s, maxTurnText))
	if err != nil {
		return nil, amber.Errorf(amber.KindInternal, "run digest.command", c.o.Command, "%w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.o.Command)
	cmd.Stdin, cmd.Env, cmd.WaitDelay = bytes.NewReader(in), c.o.Environ, killDelay
	proc.OwnGroup(cmd)
	out := &limited{cancel: cancel}
	cmd.Stdout = out
	err = cmd.Run()
	switch {
	case out.over:
		return nil, amber.Errorf(amber.KindInvalid, "run digest.command", c.o.Command, "the program printed more than %d bytes", maxAnswer)
	case ctx.Err() != nil:
		return nil, amber.Errorf(amber.KindUnreachable, "run digest.command", c.o.Command, "the program did not end within %s", c.o.Timeout)
	case err != nil:
		return nil, amber.Errorf(amber.KindUnreachable, "run digest.command", c.o.Command, "%w", err)
	}
	return read(out.kept.Bytes())
}

// limited keeps what a program prints, and ends the program when that is too much.
// The buffer is not embedded: its ReadFrom would read without a bound.
type limited struct {
	kept   bytes.Buffer
	cancel context.CancelFunc
	over   bool
}

func (l *limited) Write(b []byte) (int, error) {
	if l.over || l.kept.Len()+len(b) > maxAnswer {
		l.over = true
		l.cancel()
		return len(b), nil
	}
	return l.kept.Write(b)
}
