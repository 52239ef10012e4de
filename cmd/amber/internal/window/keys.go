package window

import (
	"math"
	"strconv"

	tea "charm.land/bubbletea/v2"
)

// Action is a key, what it is called in the hints, and what it does.
type Action struct {
	key  string
	word string
	help string
	do   func() tea.Cmd
	when func() bool // it can be done now; nil: always
}

// Key makes an action.
func Key(key, word, help string, do func() tea.Cmd, when func() bool) Action {
	return Action{key, word, help, do, when}
}

// OnRow makes an action for the row under the cursor.
func (p *Page) OnRow(key, word, help string, do func(r Row) tea.Cmd) Action {
	here := func() tea.Cmd {
		r, _ := p.Current()
		return do(r)
	}
	return Action{key, word, help, here, func() bool { _, ok := p.Current(); return ok }}
}

func (a Action) ready() bool { return a.when == nil || a.when() }

// press hands a key to what is on top: a panel, a field, the page.
func (sh *Shell) press(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "ctrl+c":
		return sh.Quit()
	case "ctrl+z":
		return tea.Suspend
	}
	switch {
	case sh.Over != nil:
		return sh.Over.press(sh, k)
	case sh.Field != nil:
		return sh.Field.press(sh, k)
	}
	if a, ok := sh.action(k.String()); ok {
		return a.do()
	}
	return sh.navigate(k.String())
}

// action is what a key does now: on the page first.
func (sh *Shell) action(key string) (a Action, ok bool) {
	for _, list := range [][]Action{sh.Page().Actions, sh.common()} {
		for _, a := range list {
			if a.key == key && a.ready() {
				return a, true
			}
		}
	}
	return a, false
}

// navigate is for keys that move, under all their names.
func (sh *Shell) navigate(key string) tea.Cmd {
	switch key {
	case "down":
		return sh.Move(1)
	case "up":
		return sh.Move(-1)
	case "pgdown":
		return sh.Move(sh.listHeight())
	case "pgup":
		return sh.Move(-sh.listHeight())
	case "home":
		return sh.Move(-math.MaxInt32)
	case "end":
		return sh.Move(math.MaxInt32)
	case "tab":
		return sh.Show((sh.at + 1) % len(sh.Screens))
	case "shift+tab":
		return sh.Show((sh.at + len(sh.Screens) - 1) % len(sh.Screens))
	}
	return nil
}

// common are the keys of every screen.
func (sh *Shell) common() []Action {
	list := []Action{
		{"j", "down", "move down (also the arrow)", func() tea.Cmd { return sh.Move(1) }, nil},
		{"k", "up", "move up (also the arrow)", func() tea.Cmd { return sh.Move(-1) }, nil},
		{"g", "first", "go to the first line", func() tea.Cmd { return sh.Move(-math.MaxInt32) }, nil},
		{"G", "last", "go to the last line that is loaded; more load behind it", func() tea.Cmd { return sh.Move(math.MaxInt32) }, nil},
		{"ctrl+d", "half page", "move half a page down", func() tea.Cmd { return sh.Move(max(sh.listHeight()/2, 1)) }, nil},
		{"ctrl+u", "half page", "move half a page up", func() tea.Cmd { return sh.Move(-max(sh.listHeight()/2, 1)) }, nil},
		{"enter", "open", "open what is under the cursor, or move into its text", sh.enter, sh.hasList},
		{"esc", "back", "go back: out of a text, a filter or a page", sh.back, nil},
		{"/", "filter", "filter the list; on Recall type a question", sh.filter, sh.hasList},
		{"y", "copy", "copy the id, the text or the command that shows the same", sh.copyMenu, nil},
		{":", "command", "run any command of amber on this agent", sh.Command, nil},
		{"?", "help", "show every key; type to search", sh.openHelp, nil},
		{"q", "quit", "end the program (ctrl+c does that everywhere)", sh.Quit, nil},
	}
	list = append(list, sh.Extra()...)
	for i, s := range sh.Screens {
		list = append(list, Action{strconv.Itoa(i + 1), s.Name, "open " + s.Name + "; on the open screen, load it anew", func() tea.Cmd { return sh.Show(i) }, nil})
	}
	return list
}

// hasList reports whether the page has more than a document.
func (sh *Shell) hasList() bool { return sh.Page().Load != nil }

// enter opens what is under the cursor.
func (sh *Shell) enter() tea.Cmd {
	p := sh.Page()
	r, ok := p.Current()
	if p.Load == nil || !ok {
		return nil
	}
	if p.Open != nil && !p.focused {
		return p.Open(r)
	}
	p.focused = true
	return nil
}

// back undoes the last step into something.
func (sh *Shell) back() tea.Cmd {
	p := sh.Page()
	switch {
	case p.focused:
		p.focused = false
	case p.filtered != "":
		return sh.setFilter(p, "")
	case len(p.Marked) > 0:
		p.Marked = nil
	default:
		return sh.Pop()
	}
	return nil
}

// filter types into the field of the page, or into a filter.
func (sh *Shell) filter() tea.Cmd {
	p := sh.Page()
	if p.Field != nil {
		sh.Field = p.Field
		return nil
	}
	if p.Load == nil {
		return nil
	}
	was := p.filtered
	sh.Field = &Field{
		Label: "filter", Edit: newEdit(was),
		Change: func(text string) tea.Cmd { return sh.setFilter(p, text) },
		Accept: func(string) tea.Cmd { return nil },
		Cancel: func() tea.Cmd { return sh.setFilter(p, was) },
		Help:   "type a word · enter keep · esc drop",
	}
	return nil
}

// setFilter shows rows that hold a text only.
func (sh *Shell) setFilter(p *Page, text string) tea.Cmd {
	now, _ := p.Current()
	p.filtered = text
	p.GoTo(now.ID)
	return sh.Follow(p)
}
