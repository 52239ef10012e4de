package tui

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
)

// maxOutput bounds what is kept of the output of a command.
const maxOutput = window.MaxShown

// maxTyped is how many command lines are remembered.
const maxTyped = 100

// stopWait is how long a command that was asked to stop may take.
const stopWait = 3 * time.Second

// commandLine asks for a command of amber, with completion.
func (m *Model) commandLine() tea.Cmd {
	f := &window.Field{Label: ":amber", Help: "tab complete · up and down: earlier commands · enter run · esc back"}
	f.Accept = m.runLine
	f.Cancel = func() tea.Cmd { return nil }
	f.Offers = func() []window.Offer { return completions(m.src.Verbs, f.Edit.String()) }
	back := len(m.typed)
	f.Special = func(key string) bool {
		switch key {
		case "tab":
			f.Edit.Set(completed(f.Edit.String(), f.Offers()))
		case "up", "down":
			if key == "up" {
				back = max(back-1, 0)
			} else {
				back = min(back+1, len(m.typed))
			}
			f.Edit.Set("")
			if back < len(m.typed) {
				f.Edit.Set(m.typed[back])
			}
		default:
			return false
		}
		return true
	}
	m.Field = f
	return nil
}

// runLine runs what was typed, and shows its output on a page of its own.
func (m *Model) runLine(text string) tea.Cmd {
	args, err := splitWords(text)
	if err != nil {
		return m.Fail(err)
	}
	if len(args) > 0 && args[0] == "amber" {
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		return nil
	case slices.Contains([]string{"q", "quit", "exit"}, args[0]):
		return m.Quit()
	case args[0] == "tui":
		return m.Fail(amber.Errorf(amber.KindInvalid, "run command", "tui", "the terminal UI is open already"))
	}
	m.typed = append(m.typed, text)
	m.typed = m.typed[max(len(m.typed)-maxTyped, 0):]
	return m.run(args)
}

// run is a command that runs: a page shows its output while it comes.
func (m *Model) run(args []string) tea.Cmd {
	ctx, stop := context.WithCancel(m.Ctx)
	out := &output{news: make(chan struct{}, 1)}
	line := "amber " + strings.Join(quotedAll(args), " ")
	p := &window.Page{Title: "Output", Changes: true, Closed: stop, Doc: window.Document{}.Head("$ " + line)}
	end := "running … esc stops it"
	show := func() {
		d := window.Document{}.Head("$ " + line)
		text, cutOff := out.text()
		d = d.Text(text)
		if cutOff > 0 {
			d = d.Dim("… " + cli.ByteSize(int64(cutOff)) + " more were not kept; run it in a shell to see all")
		}
		at := p.Scroll
		p.Set(d.Dim(end), "")
		p.Scroll = at
		p.ScrollBy(0, m.DetailSize())
	}
	finish := window.Ask(m.Shell, func(context.Context) (string, error) { return m.children.run(ctx, m.src.Process(ctx, args), out), nil }, func(how string, _ error) tea.Cmd {
		stop()
		end = how
		show()
		return nil
	})
	var watch func() tea.Cmd
	watch = func() tea.Cmd {
		return window.Ask(m.Shell, func(context.Context) (bool, error) { return out.wait(), nil }, func(more bool, _ error) tea.Cmd {
			if !more {
				return nil
			}
			show()
			return watch()
		})
	}
	opened := m.Push(p)
	show()
	return tea.Batch(opened, finish, watch())
}

func quotedAll(args []string) (list []string) {
	for _, a := range args {
		list = append(list, quoted(a))
	}
	return list
}

// children are the programs that run. None of them outlives the UI.
type children struct {
	mu    sync.Mutex // guards what follows
	n     int
	ended bool
	idle  chan struct{} // closed when the UI has ended and no program runs; nil before
}

// begin reports whether a program may be started.
func (c *children) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.ended {
		c.n++
	}
	return !c.ended
}

func (c *children) done() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n == 0 && c.ended {
		close(c.idle)
	}
}

// end waits for the programs that run, which were told to stop.
func (c *children) end() {
	c.mu.Lock()
	c.ended, c.idle = true, make(chan struct{})
	if c.n == 0 {
		close(c.idle)
	}
	c.mu.Unlock()
	<-c.idle
}

// run runs a program to its end without a terminal, and says how it ended.
func (c *children) run(ctx context.Context, cmd *exec.Cmd, out *output) string {
	defer out.close()
	if !c.begin() {
		return "stopped"
	}
	defer c.done()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, out, out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopWait
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return "stopped"
	case errors.As(err, &exit):
		return "failed: " + exit.String()
	case err != nil:
		return "failed: " + err.Error()
	}
	return "done"
}

// output keeps what a program prints, up to a bound, and reports that there is news.
type output struct {
	news chan struct{}

	mu     sync.Mutex // guards what follows
	kept   []byte
	beyond int
	ended  bool
}

var _ io.Writer = (*output)(nil)

// Write implements [io.Writer]. It never blocks, so a program that prints without end is not held up.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(len(b), maxOutput-len(o.kept))
	o.kept, o.beyond = append(o.kept, b[:n]...), o.beyond+len(b)-n
	if !o.ended {
		select {
		case o.news <- struct{}{}:
		default:
		}
	}
	return len(b), nil
}

func (o *output) text() (text string, beyond int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.kept), o.beyond
}

func (o *output) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	close(o.news)
}

// wait waits for news, and reports whether there was some.
func (o *output) wait() bool {
	_, more := <-o.news
	return more
}
