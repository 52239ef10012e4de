package window

import (
	"context"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// Outside is what a model takes from the terminal and the clock, so that tests can stand in
// for it. Zero fields are those of a real run.
type Outside struct {
	Clock amber.Clock                                               // required
	Tick  func(d time.Duration, fn func(time.Time) tea.Msg) tea.Cmd // nil: tea.Tick
	Exec  func(c *exec.Cmd, fn tea.ExecCallback) tea.Cmd            // nil: tea.ExecProcess
}

// Shell is the window: screens with their pages, keys and the mouse, panels over a page, the line that is typed into,
// and the status line. It asks no store.
type Shell struct {
	Out  Outside
	Ctx  context.Context // ends with the program; every question to the store carries it
	Stop context.CancelFunc

	Name    string          // of the agent and its place, for the header
	Command func() tea.Cmd  // asks for a command line
	Extra   func() []Action // keys of every screen beside those of the shell

	Width, Height int
	Screens       []*Screen
	at            int
	Over          overlay // nil: none
	Field         *Field  // that is typed into; nil: keys are commands
	status        string
	failed        bool // status is an error
}

// NewShell makes a window without screens. Its context ends with ctx, or when the user ends the program.
func NewShell(ctx context.Context, out Outside) *Shell {
	if out.Tick == nil {
		out.Tick = func(d time.Duration, fn func(time.Time) tea.Msg) tea.Cmd { return tea.Tick(d, fn) }
	}
	if out.Exec == nil {
		out.Exec = tea.ExecProcess
	}
	sh := &Shell{Out: out, Width: 80, Height: 24}
	sh.Ctx, sh.Stop = context.WithCancel(ctx)
	return sh
}

// Handle takes in what happened: a key, the mouse, another size, or the answer to a question.
func (sh *Shell) Handle(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		sh.Width, sh.Height = max(msg.Width, 0), max(msg.Height, 0)
		return sh.Follow(sh.Page())
	case Answer:
		return msg()
	case tea.KeyPressMsg:
		return sh.press(msg)
	case tea.PasteMsg:
		return sh.paste(msg.Content)
	case tea.MouseClickMsg:
		return sh.click(msg.Mouse())
	case tea.MouseWheelMsg:
		return sh.wheel(msg.Mouse())
	}
	return nil
}

// Screen is one of the nine: pages on top of each other, the first is its own.
type Screen struct {
	Name  string
	Pages []*Page
	Ever  bool // it was opened
}

func (s *Screen) top() *Page { return s.Pages[len(s.Pages)-1] }

// Page is what the keys work on.
func (sh *Shell) Page() *Page { return sh.Screens[sh.at].top() }

// Show opens a screen; the one that is open already is loaded anew.
func (sh *Shell) Show(at int) tea.Cmd {
	again := sh.at == at
	sh.at, sh.status, sh.failed = at, "", false
	s := sh.Screens[at]
	if again && s.Ever && len(s.Pages) > 1 {
		s.Pages = s.Pages[:1]
	}
	first := !s.Ever
	s.Ever = true
	p := s.top()
	if first && p.Field != nil {
		sh.Field = p.Field
	}
	if first || again {
		return sh.Reload(p)
	}
	return sh.Follow(p)
}

// Push opens a page on top of the one that is open.
func (sh *Shell) Push(p *Page) tea.Cmd {
	s := sh.Screens[sh.at]
	s.Pages = append(s.Pages, p)
	sh.status, sh.failed = "", false
	return sh.Reload(p)
}

// Pop closes the page on top, and loads the one below anew where it changed it.
func (sh *Shell) Pop() tea.Cmd {
	s := sh.Screens[sh.at]
	if len(s.Pages) == 1 {
		return nil
	}
	closed := s.top()
	s.Pages = s.Pages[:len(s.Pages)-1]
	if closed.Closed != nil {
		closed.Closed()
	}
	if closed.Changes {
		return sh.Reload(s.top())
	}
	return sh.Follow(s.top())
}

// Answer is what came of a question, to be taken in by the model.
type Answer func() tea.Cmd

// Ask asks something outside of the model; then gets the answer inside of it.
func Ask[T any](sh *Shell, question func(ctx context.Context) (T, error), then func(v T, err error) tea.Cmd) tea.Cmd {
	ctx := sh.Ctx
	return func() tea.Msg {
		v, err := question(ctx)
		return Answer(func() tea.Cmd { return then(v, err) })
	}
}

// Known is ask whose answer is only taken in where there is one: an error goes to the status line.
func Known[T any](sh *Shell, question func(ctx context.Context) (T, error), then func(v T) tea.Cmd) tea.Cmd {
	return Ask(sh, question, func(v T, err error) tea.Cmd {
		if err != nil {
			return sh.Fail(err)
		}
		return then(v)
	})
}

// Do is ask for something that has no answer but an error.
func Do(sh *Shell, deed func(ctx context.Context) error, then func(err error) tea.Cmd) tea.Cmd {
	return Ask(sh, func(ctx context.Context) (struct{}, error) { return struct{}{}, deed(ctx) }, func(_ struct{}, err error) tea.Cmd { return then(err) })
}

// Say puts a sentence into the status line.
func (sh *Shell) Say(text string) tea.Cmd {
	sh.status, sh.failed = text, false
	return nil
}

// Fail puts an error into the status line, with its hint; one that is longer than the line also into a
// panel, unless the user is busy with something else.
func (sh *Shell) Fail(err error) tea.Cmd {
	sh.status, sh.failed = errorText(err), true
	if line := Clean("error: " + sh.status); sh.Over == nil && sh.Field == nil && (width(line) > sh.Width || strings.Contains(line, "\n")) {
		sh.Over = &notice{ErrorDocument(err)}
	}
	return nil
}

// Done says what was done, or why it was not, and loads the page anew.
func (sh *Shell) Done(p *Page, text string, err error) tea.Cmd {
	sh.Say(text)
	if err != nil {
		sh.Fail(err)
	}
	return sh.Reload(p)
}

// errorText is an error and its hint on one line.
func errorText(err error) string {
	text := err.Error()
	if hint := amber.HintOf(err); hint != "" {
		text += " (hint: " + hint + ")"
	}
	return text
}

// When tells a time as people do.
func (sh *Shell) When(t amber.Time) string { return cli.Printer{Now: sh.Out.Clock}.When(t) }

// Quit ends the program.
func (sh *Shell) Quit() tea.Cmd {
	sh.Stop()
	return tea.Quit
}

// PushDocument opens a page with a document only.
func (sh *Shell) PushDocument(title string, d Document, actions ...Action) tea.Cmd {
	return sh.Push(&Page{Title: title, Doc: d, Actions: actions})
}
