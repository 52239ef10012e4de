//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/amber-memory/amber/internal/test/must"
)

// typist sits at a terminal in which the program runs.
type typist struct {
	t     *testing.T
	term  *os.File
	read  chan []byte // what the program has drawn; closed at the end
	drawn bytes.Buffer
	run   *exec.Cmd
}

// sitDown starts the real program in a terminal.
func sitDown(t *testing.T, environ []string, args ...string) *typist {
	t.Helper()
	program := filepath.Join(t.TempDir(), "amber")
	must.Do(t, os.Symlink(must.Get(os.Executable())(t), program))
	p := &typist{t: t, read: make(chan []byte), run: exec.Command(program, args...)}
	p.run.Env, p.run.Dir = environ, t.TempDir()
	p.term = must.Get(pty.StartWithSize(p.run, &pty.Winsize{Cols: 120, Rows: 30}))(t)
	t.Cleanup(func() {
		p.term.Close()
		_ = p.run.Process.Kill() // it has ended unless the test failed
	})
	go func() {
		defer close(p.read)
		for {
			b := make([]byte, 4096)
			n, err := p.term.Read(b)
			if n > 0 {
				p.read <- b[:n]
			}
			if err != nil { // EIO where the program has ended
				return
			}
		}
	}()
	return p
}

// await reads until the program has drawn a text.
func (p *typist) await(text string) {
	p.t.Helper()
	late := time.After(time.Minute)
	for from := p.drawn.Len(); !strings.Contains(p.drawn.String()[from:], text); {
		select {
		case b, more := <-p.read:
			if !more {
				p.t.Fatalf("the program ended and has not drawn %q:\n%q", text, p.drawn.String())
			}
			p.drawn.Write(b)
		case <-late:
			p.t.Fatalf("%q is not drawn:\n%q", text, p.drawn.String()[from:])
		}
	}
}

func (p *typist) press(keys string) {
	p.t.Helper()
	must.Get(p.term.WriteString(keys))(p.t)
}

// leave waits for the end.
func (p *typist) leave() error {
	for b := range p.read {
		p.drawn.Write(b)
	}
	return p.run.Wait()
}

// tuiUser is an environment with a home of its own.
func tuiUser(t *testing.T) []string {
	dir := t.TempDir()
	return []string{
		"HOME=" + dir, "AMBER_HOME=" + filepath.Join(dir, "amber"), "XDG_CONFIG_HOME=" + dir, "AMBER_SEARCH__MODEL=none", "AMBER_CONTEXT__STAY=0",
		"TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "USER=ann",
	}
}

func TestTerminalUIInATerminal(t *testing.T) {
	environ := tuiUser(t)
	in := func(stdin string, args ...string) {
		w := testWorld(t.TempDir(), environ...)
		w.Stdin = strings.NewReader(stdin)
		runIn(t.Context(), t, w, args...).exits(0)
	}
	in("", "remember", "We chose PostgreSQL for JSONB")
	in("", "session", "start", "--name", "hostile")
	in("\x1b[31mEVIL\x1b]0;owned\x07", "turn", "add", "--role", "tool", "-")
	p := sitDown(t, environ, "tui")
	p.await("We chose PostgreSQL for JSONB")
	p.press("\x1b") // a lone escape leaves the field
	p.await("w why")
	p.press("3")
	p.await("hostile")
	p.press("\r")
	p.await("EVIL")
	p.press("9")
	p.await("healthy")
	p.press(":stats\r")
	p.await("done")
	must.Do(t, pty.Setsize(p.term, &pty.Winsize{Cols: 20, Rows: 5}))
	must.Do(t, p.run.Process.Signal(syscall.SIGWINCH))
	p.press("q")
	must.Do(t, p.leave())
	must.Hides(t, "terminal", p.drawn.String(), "\x1b[31mEVIL", "\x1b]0;owned")
	must.Says(t, "terminal", p.drawn.String(), "\x1b[?1049h", "\x1b[?1049l") // the shell's screen is back
}

// What NO_COLOR keeps from the screen is drawn in colour without it.
func TestTerminalUIWithoutColour(t *testing.T) {
	for _, plain := range []bool{false, true} {
		environ := tuiUser(t)
		runIn(t.Context(), t, testWorld(t.TempDir(), environ...), "note", "write", "n", "one").exits(0)
		runIn(t.Context(), t, testWorld(t.TempDir(), environ...), "note", "write", "n", "two").exits(0)
		if plain {
			environ = append(environ, "NO_COLOR=1")
		}
		p := sitDown(t, environ, "tui")
		p.await("recall")
		p.press("\x1b")
		p.await("w why")
		p.press("4")
		p.await("l log")
		p.press("d")
		p.await("- one")
		p.press("q")
		must.Do(t, p.leave())
		must.Equal(t, "colour", strings.Contains(p.drawn.String(), "38;5;214"), !plain)
	}
}

func TestTerminalUIEndsWithItsTerminal(t *testing.T) {
	p := sitDown(t, tuiUser(t), "tui")
	p.await("Nothing was found.")
	must.Do(t, p.run.Process.Signal(syscall.SIGTERM))
	err := p.leave()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("the program ends with %v, want exit code 7", err)
	}
	must.Says(t, "terminal", p.drawn.String(), "\x1b[?1049l")
}
