package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
)

// Model is the whole UI: a shell, the agent that its screens show, and what screens share.
type Model struct {
	*window.Shell
	src      Source
	edits    undoLog
	live     *live
	typed    []string // command lines, the last one last
	children children
}

// The screens. Each makes its page, and the pages that open on top of it.
type (
	recallScreen   struct{ *Model }
	memoryScreen   struct{ *Model }
	sessionScreen  struct{ *Model }
	noteScreen     struct{ *Model }
	snapshotScreen struct{ *Model }
	conflictScreen struct{ *Model }
	workScreen     struct{ *Model }
	liveScreen     struct{ *Model }
	healthScreen   struct{ *Model }
)

// New makes the UI of an agent.
func New(ctx context.Context, src Source, out window.Outside) *Model {
	m := &Model{src: src, Shell: window.NewShell(ctx, out)}
	m.Name, m.Extra = fmt.Sprintf("%s/%s %s", src.Tenant, src.Agent, src.Place), m.folderActions
	m.Command = m.commandLine
	for _, p := range []*window.Page{
		recallScreen{m}.recallPage(), memoryScreen{m}.memoriesPage(), sessionScreen{m}.sessionsPage(), noteScreen{m}.notesPage(), snapshotScreen{m}.snapshotsPage(),
		conflictScreen{m}.conflictsPage(), workScreen{m}.workPage(), liveScreen{m}.livePage(), healthScreen{m}.healthPage(),
	} {
		m.Screens = append(m.Screens, &window.Screen{Name: p.Title, Pages: []*window.Page{p}})
	}
	return m
}

// Init implements [tea.Model].
func (m *Model) Init() tea.Cmd {
	first := m.Show(0)
	m.sayFolder()
	return tea.Batch(first, liveScreen{m}.beginLive())
}

// Update implements [tea.Model].
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return m, m.Handle(msg) }

// View implements [tea.Model].
func (m *Model) View() tea.View {
	frame, cursor := m.Frame()
	v := tea.NewView(frame)
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = "amber: " + window.OneLine(string(m.src.Agent), 40)
	v.Cursor = cursor
	return v
}
