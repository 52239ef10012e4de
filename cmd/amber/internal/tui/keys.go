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
func (sh *shell) press(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "ctrl+c":
		return sh.quit()
	case "ctrl+z":
		return tea.Suspend
	}
	switch {
	case sh.over != nil:
		return sh.over.press(sh, k)
	case sh.field != nil:
		return sh.field.press(sh, k)
	}
	if a, ok := sh.action(k.String()); ok {
		return a.do()
	}
	return sh.navigate(k.String())
}

// action is what a key does now: on the page first.
func (sh *shell) action(key string) (a action, ok bool) {
	for _, list := range [][]action{sh.page().actions, sh.common()} {
		for _, a := range list {
			if a.key == key && a.ready() {
				return a, true
			}
		}
	}
	return a, false
}

// navigate is for keys that move, under all their names.
func (sh *shell) navigate(key string) tea.Cmd {
	switch key {
	case "down":
		return sh.move(1)
	case "up":
		return sh.move(-1)
	case "pgdown":
		return sh.move(sh.listHeight())
	case "pgup":
		return sh.move(-sh.listHeight())
	case "home":
		return sh.move(-math.MaxInt32)
	case "end":
		return sh.move(math.MaxInt32)
	case "tab":
		return sh.show((sh.at + 1) % len(sh.screens))
	case "shift+tab":
		return sh.show((sh.at + len(sh.screens) - 1) % len(sh.screens))
	}
	return nil
}

// common are the keys of every screen.
func (sh *shell) common() []action {
	list := []action{
		{"j", "down", "move down (also the arrow)", func() tea.Cmd { return sh.move(1) }, nil},
		{"k", "up", "move up (also the arrow)", func() tea.Cmd { return sh.move(-1) }, nil},
		{"g", "first", "go to the first line", func() tea.Cmd { return sh.move(-math.MaxInt32) }, nil},
		{"G", "last", "go to the last line that is loaded; more load behind it", func() tea.Cmd { return sh.move(math.MaxInt32) }, nil},
		{"ctrl+d", "half page", "move half a page down", func() tea.Cmd { return sh.move(max(sh.listHeight()/2, 1)) }, nil},
		{"ctrl+u", "half page", "move half a page up", func() tea.Cmd { return sh.move(-max(sh.listHeight()/2, 1)) }, nil},
		{"enter", "open", "open what is under the cursor, or move into its text", sh.enter, sh.hasList},
		{"esc", "back", "go back: out of a text, a filter or a page", sh.back, nil},
		{"/", "filter", "filter the list; on Recall type a question", sh.filter, sh.hasList},
		{"y", "copy", "copy the id, the text or the command that shows the same", sh.copyMenu, nil},
		{":", "command", "run any command of amber on this agent", sh.command, nil},
		{"?", "help", "show every key; type to search", sh.openHelp, nil},
		{"q", "quit", "end the program (ctrl+c does that everywhere)", sh.quit, nil},
	}
	list = append(list, sh.extra()...)
	for i, s := range sh.screens {
		list = append(list, action{strconv.Itoa(i + 1), s.name, "open " + s.name + "; on the open screen, load it anew", func() tea.Cmd { return sh.show(i) }, nil})
	}
	return list
}

// hasList reports whether the page has more than a document.
func (sh *shell) hasList() bool { return sh.page().load != nil }

// enter opens what is under the cursor.
func (sh *shell) enter() tea.Cmd {
	p := sh.page()
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
func (sh *shell) back() tea.Cmd {
	p := sh.page()
	switch {
	case p.focused:
		p.focused = false
	case p.filtered != "":
		return sh.setFilter(p, "")
	case len(p.marked) > 0:
		p.marked = nil
	default:
		return sh.pop()
	}
	return nil
}

// filter types into the field of the page, or into a filter.
func (sh *shell) filter() tea.Cmd {
	p := sh.page()
	if p.field != nil {
		sh.field = p.field
		return nil
	}
	if p.load == nil {
		return nil
	}
	was := p.filtered
	sh.field = &field{
		label: "filter", edit: newEdit(was),
		change: func(text string) tea.Cmd { return sh.setFilter(p, text) },
		accept: func(string) tea.Cmd { return nil },
		cancel: func() tea.Cmd { return sh.setFilter(p, was) },
		help:   "type a word · enter keep · esc drop",
	}
	return nil
}

// setFilter shows rows that hold a text only.
func (sh *shell) setFilter(p *page, text string) tea.Cmd {
	now, _ := p.current()
	p.filtered = text
	p.goTo(now.id)
	return sh.follow(p)
}
