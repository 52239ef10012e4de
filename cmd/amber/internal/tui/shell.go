package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// shell is the window: screens with their pages, keys and the mouse, panels over a page, the line that is typed into,
// and the status line. It asks no store.
type shell struct {
	out  Outside
	ctx  context.Context // ends with the program; every question to the store carries it
	stop context.CancelFunc

	name    string          // of the agent and its place, for the header
	command func() tea.Cmd  // asks for a command line
	extra   func() []action // keys of every screen beside those of the shell

	width, height int
	screens       []*screen
	at            int
	over          overlay // nil: none
	field         *field  // that is typed into; nil: keys are commands
	status        string
	failed        bool // status is an error
}

func newShell(ctx context.Context, out Outside) *shell {
	if out.Tick == nil {
		out.Tick = func(d time.Duration, fn func(time.Time) tea.Msg) tea.Cmd { return tea.Tick(d, fn) }
	}
	if out.Exec == nil {
		out.Exec = tea.ExecProcess
	}
	sh := &shell{out: out, width: 80, height: 24}
	sh.ctx, sh.stop = context.WithCancel(ctx)
	return sh
}

// update takes in what happened: a key, the mouse, another size, or the answer to a question.
func (sh *shell) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		sh.width, sh.height = max(msg.Width, 0), max(msg.Height, 0)
		return sh.follow(sh.page())
	case answer:
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

// screen is one of the nine: pages on top of each other, the first is its own.
type screen struct {
	name  string
	pages []*page
	ever  bool // it was opened
}

func (s *screen) top() *page { return s.pages[len(s.pages)-1] }

// page is what the keys work on.
func (sh *shell) page() *page { return sh.screens[sh.at].top() }

// show opens a screen; the one that is open already is loaded anew.
func (sh *shell) show(at int) tea.Cmd {
	again := sh.at == at
	sh.at, sh.status, sh.failed = at, "", false
	s := sh.screens[at]
	if again && s.ever && len(s.pages) > 1 {
		s.pages = s.pages[:1]
	}
	first := !s.ever
	s.ever = true
	p := s.top()
	if first && p.field != nil {
		sh.field = p.field
	}
	if first || again {
		return sh.reload(p)
	}
	return sh.follow(p)
}

// push opens a page on top of the one that is open.
func (sh *shell) push(p *page) tea.Cmd {
	s := sh.screens[sh.at]
	s.pages = append(s.pages, p)
	sh.status, sh.failed = "", false
	return sh.reload(p)
}

// pop closes the page on top, and loads the one below anew where it changed it.
func (sh *shell) pop() tea.Cmd {
	s := sh.screens[sh.at]
	if len(s.pages) == 1 {
		return nil
	}
	closed := s.top()
	s.pages = s.pages[:len(s.pages)-1]
	if closed.closed != nil {
		closed.closed()
	}
	if closed.changes {
		return sh.reload(s.top())
	}
	return sh.follow(s.top())
}

// answer is what came of a question, to be taken in by the model.
type answer func() tea.Cmd

// ask asks something outside of the model; then gets the answer inside of it.
func ask[T any](sh *shell, question func(ctx context.Context) (T, error), then func(v T, err error) tea.Cmd) tea.Cmd {
	ctx := sh.ctx
	return func() tea.Msg {
		v, err := question(ctx)
		return answer(func() tea.Cmd { return then(v, err) })
	}
}

// known is ask whose answer is only taken in where there is one: an error goes to the status line.
func known[T any](sh *shell, question func(ctx context.Context) (T, error), then func(v T) tea.Cmd) tea.Cmd {
	return ask(sh, question, func(v T, err error) tea.Cmd {
		if err != nil {
			return sh.fail(err)
		}
		return then(v)
	})
}

// do is ask for something that has no answer but an error.
func do(sh *shell, deed func(ctx context.Context) error, then func(err error) tea.Cmd) tea.Cmd {
	return ask(sh, func(ctx context.Context) (struct{}, error) { return struct{}{}, deed(ctx) }, func(_ struct{}, err error) tea.Cmd { return then(err) })
}

// say puts a sentence into the status line.
func (sh *shell) say(text string) tea.Cmd {
	sh.status, sh.failed = text, false
	return nil
}

// fail puts an error into the status line, with its hint; one that is longer than the line also into a
// panel, unless the user is busy with something else.
func (sh *shell) fail(err error) tea.Cmd {
	sh.status, sh.failed = errorText(err), true
	if line := clean("error: " + sh.status); sh.over == nil && sh.field == nil && (width(line) > sh.width || strings.Contains(line, "\n")) {
		sh.over = &notice{errorDocument(err)}
	}
	return nil
}

// done says what was done, or why it was not, and loads the page anew.
func (sh *shell) done(p *page, text string, err error) tea.Cmd {
	sh.say(text)
	if err != nil {
		sh.fail(err)
	}
	return sh.reload(p)
}

// errorText is an error and its hint on one line.
func errorText(err error) string {
	text := err.Error()
	if hint := amber.HintOf(err); hint != "" {
		text += " (hint: " + hint + ")"
	}
	return text
}

// when tells a time as people do.
func (sh *shell) when(t amber.Time) string { return cli.Printer{Now: sh.out.Clock}.When(t) }

// quit ends the program.
func (sh *shell) quit() tea.Cmd {
	sh.stop()
	return tea.Quit
}

// pushDocument opens a page with a document only.
func (sh *shell) pushDocument(title string, d document, actions ...action) tea.Cmd {
	return sh.push(&page{title: title, doc: d, actions: actions})
}
