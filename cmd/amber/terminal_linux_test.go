package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/term"
	"github.com/amber-memory/amber/internal/test/must"
)

// console is a terminal that a person watches.
type console struct {
	end   *os.File // that a program writes to
	watch *os.File // that a person looks at
}

// newConsole opens a terminal of so many columns.
func newConsole(t *testing.T, columns int) console {
	t.Helper()
	watch := must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR, 0))(t)
	t.Cleanup(func() { watch.Close() })
	must.Do(t, unix.IoctlSetPointerInt(int(watch.Fd()), unix.TIOCSPTLCK, 0))
	n := must.Get(unix.IoctlGetInt(int(watch.Fd()), unix.TIOCGPTN))(t)
	end := must.Get(os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { end.Close() })
	must.Do(t, unix.IoctlSetWinsize(int(end.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 25, Col: uint16(columns)}))
	return console{end, watch}
}

// pseudoTerminal returns the end of a terminal that a program writes to.
func pseudoTerminal(t *testing.T) *os.File { return newConsole(t, 80).end }

// viewer is a user at a terminal.
type viewer struct {
	t       *testing.T
	home    string
	columns int
	environ []string
}

func newViewer(t *testing.T, columns int) *viewer {
	dir := t.TempDir()
	return &viewer{t: t, home: dir, columns: columns, environ: []string{
		"HOME=" + dir, "AMBER_HOME=" + filepath.Join(dir, "amber"), "XDG_CONFIG_HOME=" + dir, "TERM=xterm", "PATH=" + os.Getenv("PATH"),
	}}
}

// run runs the program at a terminal and returns what that showed.
func (p *viewer) run(args ...string) (code int, shown string) {
	p.t.Helper()
	c := newConsole(p.t, p.columns)
	all := make(chan string)
	go func() {
		b, err := io.ReadAll(c.watch)
		if err != nil && !errors.Is(err, unix.EIO) { // the other end was closed
			b = append(b, fmt.Sprintf("read terminal: %v", err)...)
		}
		all <- string(b)
	}()
	w := testWorld(p.home, p.environ...)
	w.Stdout, w.Stderr = c.end, c.end
	code = run(context.Background(), args, w)
	c.end.Close()
	return code, strings.ReplaceAll(<-all, "\r\n", "\n")
}

// must runs the program, which must exit with 0.
func (p *viewer) must(args ...string) string {
	p.t.Helper()
	code, shown := p.run(args...)
	if code != 0 {
		p.t.Fatalf("amber %s exits with %d:\n%s", strings.Join(args, " "), code, shown)
	}
	return shown
}

// fits fails for a line that is wider than the terminal.
func (p *viewer) fits(what, shown string) {
	p.t.Helper()
	for _, line := range strings.Split(shown, "\n") {
		if n := term.Width(line); n > p.columns {
			p.t.Errorf("%s: a line has %d columns of %d: %q", what, n, p.columns, line)
		}
	}
}

func TestEverythingFitsATerminalOf80Columns(t *testing.T) {
	p := newViewer(t, 80)
	long := strings.Repeat("a sentence that says a lot ", 7)
	p.must("remember", long, "--title", long, "--scope", "project", "--project", "github.com/example/a-repository-with-a-long-name")
	p.must("session", "start", "host-session-with-an-id-of-its-own-0123456789", "--name", long[:50], "--binding", "chat-with-a-long-name", "--project", "github.com/example/a-repository-with-a-long-name")
	p.must("session", "start")
	p.must("task", "save", "release-1.4", "--goal", long)
	p.must("snapshot", "create", "--label", "before the migration of everything to the new version")
	for _, args := range [][]string{
		{"session", "list"},
		{"session", "show"},
		{"list", "--all"},
		{"recall", "sentence", "--project", "github.com/example/a-repository-with-a-long-name"},
		{"task", "list"},
		{"snapshot", "list"},
		{"snapshot", "verify", "--all", "--read-data"},
		{"snapshot", "check", "--read-data"},
		{"journal", "verify"},
		{"audit", "verify"},
		{"doctor"},
	} {
		p.fits(strings.Join(args, " "), p.must(args...))
	}
	if shown := p.must("session", "list"); !strings.Contains(shown, "0123456789") || !strings.Contains(shown, "…") {
		t.Errorf("the id must be whole, and the name cut:\n%s", shown)
	}
}

func TestHitShowsSixLinesOnATerminal(t *testing.T) {
	p := newViewer(t, 80)
	six := "database one\ntwo\nthree\nfour\nfive\nsix"
	p.must("remember", six, "--scope", "global")
	if shown := p.must("recall", "database"); !strings.Contains(shown, "      six\n") || strings.Contains(shown, "more line") {
		t.Errorf("a memory of six lines is not whole:\n%s", shown)
	}
	p = newViewer(t, 80)
	id := strings.Split(strings.TrimSpace(p.must("--quiet", "remember", six+"\nseven\neight", "--scope", "global")), "\n")[0]
	shown := p.must("recall", "database")
	if !strings.Contains(shown, "      six\n") || strings.Contains(shown, "seven") || !strings.Contains(shown, "… 2 more lines: amber get "+cli.ShortID(id)) {
		t.Errorf("a memory of eight lines:\n%s", shown)
	}
	// In a pipe it is whole.
	runIn(t.Context(), t, testWorld(p.home, p.environ...), "recall", "database").exits(0).prints("      eight\n").omits("more line")
}

// readUntil reads what a terminal shows until it holds text.
func readUntil(t *testing.T, f *os.File, text string) string {
	t.Helper()
	var all []byte
	b := make([]byte, 4096)
	for !strings.Contains(string(all), text) {
		n, err := f.Read(b)
		if err != nil {
			t.Fatalf("the terminal shows %q, then %v; want %q", all, err, text)
		}
		all = append(all, b[:n]...)
	}
	return string(all)
}

func TestBarShowsOnATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		environ []string
		styled  bool
	}{{"coloured", nil, true}, {"plain", []string{"NO_COLOR=1"}, false}} {
		console := newConsole(t, 80)
		a := &app{&cli.App{World: cli.World{Stdout: &strings.Builder{}, Stderr: console.end, Clock: time.Now, Environ: c.environ}}}
		a.Out = cli.NewPrinter(a.App)
		shown := make(chan struct{})
		go func() {
			defer close(shown)
			text := readUntil(t, console.watch, "%")
			if !strings.Contains(text, "amber: restoring pages [") || !strings.Contains(text, "50 %") || strings.Contains(text, cli.Amb) != c.styled {
				t.Errorf("%s: the bar is %q", c.name, text)
			}
		}()
		if _, err := cli.Working(a.App, "restoring", func() (int, error) {
			a.Meter.Set("pages", 1, 2)
			<-shown
			a.Out.Warn("one thing")
			return 0, nil
		}); err != nil {
			t.Fatal(err)
		}
		a.Out.Note("over")
		rest := readUntil(t, console.watch, "over")
		if !strings.Contains(rest, "\r\x1b[Kamber: ") || !strings.Contains(rest, "one thing") || !strings.HasSuffix(strings.TrimSpace(rest), "over") {
			t.Errorf("%s: after the bar: %q", c.name, rest)
		}
	}
}

func TestBarOnlyWhereAPersonWatches(t *testing.T) {
	t.Parallel()
	terminal := pseudoTerminal(t)
	file := &strings.Builder{}
	for _, c := range []struct {
		name string
		w    cli.World
		g    cli.Globals
		want bool
	}{
		{"terminal", cli.World{Stdout: terminal, Stderr: terminal}, cli.Globals{}, true},
		{"stdout is piped", cli.World{Stdout: file, Stderr: terminal}, cli.Globals{}, true},
		{"stderr is piped", cli.World{Stdout: terminal, Stderr: file}, cli.Globals{}, false},
		{"quiet", cli.World{Stdout: terminal, Stderr: terminal}, cli.Globals{Quiet: true}, false},
		{"JSON on the same terminal", cli.World{Stdout: terminal, Stderr: terminal}, cli.Globals{JSON: true}, false},
		{"JSON elsewhere", cli.World{Stdout: file, Stderr: terminal}, cli.Globals{JSON: true}, true},
		{"dumb", cli.World{Stdout: terminal, Stderr: terminal, Environ: []string{"TERM=dumb"}}, cli.Globals{}, false},
	} {
		a := &app{&cli.App{World: c.w, Global: c.g}}
		must.Equal(t, c.name, cli.NewPrinter(a.App).Bars, c.want)
	}
}

// A warning is on stderr and stands out, also with --json and --quiet.
func TestWarningsAreSeen(t *testing.T) {
	t.Parallel()
	for _, g := range []cli.Globals{{}, {JSON: true}, {Quiet: true}} {
		console, out := newConsole(t, 80), &strings.Builder{}
		a := &app{&cli.App{World: cli.World{Stdout: out, Stderr: console.end, Clock: time.Now}, Global: g}}
		a.Out = cli.NewPrinter(a.App)
		a.Out.Warn("the disk is almost full")
		if shown := readUntil(t, console.watch, "full"); !strings.Contains(shown, cli.Amb+"WARNING"+cli.Plain) || out.Len() > 0 {
			t.Errorf("with %+v the terminal shows %q, stdout %q", g, shown, out)
		}
	}
}
