package tui

import (
	"math"
	"strconv"

	tea "charm.land/bubbletea/v2"
)

// action is a key, what it is called in the hints, and what it does.
type action struct {
	key  string
	word string
	help string
	do   func() tea.Cmd
	when func() bool // it can be done now; nil: always
}

func (a action) ready() bool { return a.when == nil || a.when() }

// press hands a key to what is on top: a panel, a field, the page.
func (m *Model) press(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "ctrl+c":
		return m.quit()
	case "ctrl+z":
		return tea.Suspend
	}
	switch {
	case m.over != nil:
		return m.over.press(m, k)
	case m.field != nil:
		return m.field.press(m, k)
	}
	for _, list := range [][]action{m.page().actions, m.common()} {
		for _, a := range list {
			if a.key == k.String() && a.ready() {
				return a.do()
			}
		}
	}
	return m.navigate(k.String())
}

// navigate is for keys that move, under all their names.
func (m *Model) navigate(key string) tea.Cmd {
	switch key {
	case "down":
		return m.move(1)
	case "up":
		return m.move(-1)
	case "pgdown":
		return m.move(m.listHeight())
	case "pgup":
		return m.move(-m.listHeight())
	case "home":
		return m.move(-math.MaxInt32)
	case "end":
		return m.move(math.MaxInt32)
	case "tab":
		return m.show((m.at + 1) % len(m.screens))
	case "shift+tab":
		return m.show((m.at + len(m.screens) - 1) % len(m.screens))
	}
	return nil
}

// common are the keys of every screen.
func (m *Model) common() []action {
	list := []action{
		{"j", "down", "move down (also the arrow)", func() tea.Cmd { return m.move(1) }, nil},
		{"k", "up", "move up (also the arrow)", func() tea.Cmd { return m.move(-1) }, nil},
		{"g", "first", "go to the first line", func() tea.Cmd { return m.move(-math.MaxInt32) }, nil},
		{"G", "last", "go to the last line that is loaded; more load behind it", func() tea.Cmd { return m.move(math.MaxInt32) }, nil},
		{"ctrl+d", "half page", "move half a page down", func() tea.Cmd { return m.move(max(m.listHeight()/2, 1)) }, nil},
		{"ctrl+u", "half page", "move half a page up", func() tea.Cmd { return m.move(-max(m.listHeight()/2, 1)) }, nil},
		{"enter", "open", "open what is under the cursor, or move into its text", m.enter, m.hasList},
		{"esc", "back", "go back: out of a text, a filter or a page", m.back, nil},
		{"/", "filter", "filter the list; on Recall type a question", m.filter, m.hasList},
		{"y", "copy", "copy the id, the text or the command that shows the same", m.copyMenu, nil},
		{":", "command", "run any command of amber on this agent", m.commandLine, nil},
		{"?", "help", "show every key; type to search", m.openHelp, nil},
		{"q", "quit", "end the program (ctrl+c does that everywhere)", m.quit, nil},
	}
	list = append(list, m.folderActions()...)
	for i, s := range m.screens {
		list = append(list, action{strconv.Itoa(i + 1), s.name, "open " + s.name + "; on the open screen, load it anew", func() tea.Cmd { return m.show(i) }, nil})
	}
	return list
}

// hasList reports whether the page has more than a document.
func (m *Model) hasList() bool { return m.page().load != nil }

// enter opens what is under the cursor.
func (m *Model) enter() tea.Cmd {
	p := m.page()
	r, ok := p.current()
	if p.load == nil || !ok {
		return nil
	}
	if p.open != nil && !p.focused {
		return p.open(r)
	}
	p.focused = true
	return nil
}

// back undoes the last step into something.
func (m *Model) back() tea.Cmd {
	p := m.page()
	switch {
	case p.focused:
		p.focused = false
	case p.filtered != "":
		return m.setFilter(p, "")
	case len(p.marked) > 0:
		p.marked = nil
	default:
		return m.pop()
	}
	return nil
}

// filter types into the field of the page, or into a filter.
func (m *Model) filter() tea.Cmd {
	p := m.page()
	if p.field != nil {
		m.field = p.field
		return nil
	}
	if p.load == nil {
		return nil
	}
	was := p.filtered
	m.field = &field{
		label: "filter", edit: newEdit(was),
		change: func(text string) tea.Cmd { return m.setFilter(p, text) },
		accept: func(string) tea.Cmd { return nil },
		cancel: func() tea.Cmd { return m.setFilter(p, was) },
		help:   "type a word · enter keep · esc drop",
	}
	return nil
}

// setFilter shows rows that hold a text only.
func (m *Model) setFilter(p *page, text string) tea.Cmd {
	now, _ := p.current()
	p.filtered = text
	p.goTo(now.id)
	return m.follow(p)
}
