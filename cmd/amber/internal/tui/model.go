package tui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// Model is the whole UI.
type Model struct {
	src  Source
	out  Outside
	ctx  context.Context // ends with the program; every question to the store carries it
	stop context.CancelFunc

	width, height int
	screens       []*screen
	at            int
	over          overlay // nil: none
	field         *field  // that is typed into; nil: keys are commands
	status        string
	failed        bool // status is an error
	edits         undoLog
	live          *live
	typed         []string // command lines, the last one last
	children      children
}

// screen is one of the nine: pages on top of each other, the first is its own.
type screen struct {
	name  string
	pages []*page
	ever  bool // it was opened
}

func (s *screen) top() *page { return s.pages[len(s.pages)-1] }

// New makes the UI of an agent.
func New(ctx context.Context, src Source, out Outside) *Model {
	if out.Tick == nil {
		out.Tick = func(d time.Duration, fn func(time.Time) tea.Msg) tea.Cmd { return tea.Tick(d, fn) }
	}
	if out.Exec == nil {
		out.Exec = tea.ExecProcess
	}
	m := &Model{src: src, out: out, width: 80, height: 24}
	m.ctx, m.stop = context.WithCancel(ctx)
	for _, p := range []*page{
		m.recallPage(), m.memoriesPage(), m.sessionsPage(), m.notesPage(), m.snapshotsPage(),
		m.conflictsPage(), m.workPage(), m.livePage(), m.healthPage(),
	} {
		m.screens = append(m.screens, &screen{name: p.title, pages: []*page{p}})
	}
	return m
}

// Init implements [tea.Model].
func (m *Model) Init() tea.Cmd {
	first := m.show(0)
	m.sayFolder()
	return tea.Batch(first, m.beginLive())
}

// page is what the keys work on.
func (m *Model) page() *page { return m.screens[m.at].top() }

// show opens a screen; the one that is open already is loaded anew.
func (m *Model) show(at int) tea.Cmd {
	again := m.at == at
	m.at, m.status, m.failed = at, "", false
	s := m.screens[at]
	if again && s.ever && len(s.pages) > 1 {
		s.pages = s.pages[:1]
	}
	first := !s.ever
	s.ever = true
	p := s.top()
	if first && p.field != nil {
		m.field = p.field
	}
	if first || again {
		return m.reload(p)
	}
	return m.follow(p)
}

// push opens a page on top of the one that is open.
func (m *Model) push(p *page) tea.Cmd {
	s := m.screens[m.at]
	s.pages = append(s.pages, p)
	m.status, m.failed = "", false
	return m.reload(p)
}

// pop closes the page on top, and loads the one below anew where it changed it.
func (m *Model) pop() tea.Cmd {
	s := m.screens[m.at]
	if len(s.pages) == 1 {
		return nil
	}
	closed := s.top()
	s.pages = s.pages[:len(s.pages)-1]
	if closed.closed != nil {
		closed.closed()
	}
	if closed.changes {
		return m.reload(s.top())
	}
	return m.follow(s.top())
}

// answer is what came of a question, to be taken in by the model.
type answer func() tea.Cmd

// ask asks something outside of the model; then gets the answer inside of it.
func ask[T any](m *Model, question func(ctx context.Context) (T, error), then func(v T, err error) tea.Cmd) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg {
		v, err := question(ctx)
		return answer(func() tea.Cmd { return then(v, err) })
	}
}

// do is ask for something that has no answer but an error.
func do(m *Model, deed func(ctx context.Context) error, then func(err error) tea.Cmd) tea.Cmd {
	return ask(m, func(ctx context.Context) (struct{}, error) { return struct{}{}, deed(ctx) }, func(_ struct{}, err error) tea.Cmd { return then(err) })
}

// Update implements [tea.Model].
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 0), max(msg.Height, 0)
		return m, m.follow(m.page())
	case answer:
		return m, msg()
	case tea.KeyPressMsg:
		return m, m.press(msg)
	case tea.PasteMsg:
		return m, m.paste(msg.Content)
	case tea.MouseClickMsg:
		return m, m.click(msg.Mouse())
	case tea.MouseWheelMsg:
		return m, m.wheel(msg.Mouse())
	}
	return m, nil
}

// say puts a sentence into the status line.
func (m *Model) say(text string) tea.Cmd {
	m.status, m.failed = text, false
	return nil
}

// fail puts an error into the status line, with its hint; one that is longer than the line also into a
// panel, unless the user is busy with something else.
func (m *Model) fail(err error) tea.Cmd {
	m.status, m.failed = errorText(err), true
	if line := clean("error: " + m.status); m.over == nil && m.field == nil && (width(line) > m.width || strings.Contains(line, "\n")) {
		m.over = &notice{errorDocument(err)}
	}
	return nil
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
func (m *Model) when(t amber.Time) string { return cli.Printer{Now: m.out.Clock}.When(t) }

// quit ends the program.
func (m *Model) quit() tea.Cmd {
	m.stop()
	return tea.Quit
}
