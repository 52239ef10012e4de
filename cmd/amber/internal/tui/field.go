package tui

import (
	tea "charm.land/bubbletea/v2"
)

// field is a line that the user types into. Without accept and cancel it belongs to a page
// and stays when it is left.
type field struct {
	label  string
	help   string // for the hints
	edit   edit
	change func(text string) tea.Cmd
	accept func(text string) tea.Cmd
	cancel func() tea.Cmd
	// special takes keys before the line does, and reports whether it took one.
	special func(key string) bool
	offers  func() []offer // lines above the field; nil: none
}

// offer is something that could be typed.
type offer struct{ text, about string }

// press types into the field.
func (f *field) press(sh *shell, k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	if f.special != nil && f.special(key) {
		return nil
	}
	switch key {
	case "enter", "esc":
		sh.field = nil
		switch {
		case key == "enter" && f.accept != nil:
			return f.accept(f.edit.String())
		case key == "esc" && f.cancel != nil:
			return f.cancel()
		}
		return nil
	case "down", "up", "tab", "shift+tab", "pgup", "pgdown":
		if f.accept == nil { // it stands above a list
			sh.field = nil
			return sh.navigate(key)
		}
		return nil
	}
	before := f.edit.String()
	f.edit.key(k)
	return f.changed(before)
}

// paste puts text into the field that is typed into.
func (sh *shell) paste(text string) tea.Cmd {
	if sh.field == nil || sh.over != nil {
		return nil
	}
	before := sh.field.edit.String()
	sh.field.edit.insert(text)
	return sh.field.changed(before)
}

// changed passes the text on when it is another one than before.
func (f *field) changed(before string) tea.Cmd {
	if now := f.edit.String(); now != before && f.change != nil {
		return f.change(now)
	}
	return nil
}

// prompt asks for one line.
func (sh *shell) prompt(label, help string, accept func(text string) tea.Cmd) tea.Cmd {
	sh.field = &field{label: label, help: help, accept: accept, cancel: func() tea.Cmd { return sh.say("nothing was changed") }}
	return nil
}
