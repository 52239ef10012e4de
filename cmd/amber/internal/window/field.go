package window

import (
	tea "charm.land/bubbletea/v2"
)

// Field is a line that the user types into. Without accept and cancel it belongs to a page
// and stays when it is left.
type Field struct {
	Label  string
	Help   string // for the hints
	Edit   edit
	Change func(text string) tea.Cmd
	Accept func(text string) tea.Cmd
	Cancel func() tea.Cmd
	// special takes keys before the line does, and reports whether it took one.
	Special func(key string) bool
	Offers  func() []Offer // lines above the field; nil: none
}

// Offer is something that could be typed.
type Offer struct{ Text, About string }

// press types into the field.
func (f *Field) press(sh *Shell, k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	if f.Special != nil && f.Special(key) {
		return nil
	}
	switch key {
	case "enter", "esc":
		sh.Field = nil
		switch {
		case key == "enter" && f.Accept != nil:
			return f.Accept(f.Edit.String())
		case key == "esc" && f.Cancel != nil:
			return f.Cancel()
		}
		return nil
	case "down", "up", "tab", "shift+tab", "pgup", "pgdown":
		if f.Accept == nil { // it stands above a list
			sh.Field = nil
			return sh.navigate(key)
		}
		return nil
	}
	before := f.Edit.String()
	f.Edit.key(k)
	return f.changed(before)
}

// paste puts text into the field that is typed into.
func (sh *Shell) paste(text string) tea.Cmd {
	if sh.Field == nil || sh.Over != nil {
		return nil
	}
	before := sh.Field.Edit.String()
	sh.Field.Edit.insert(text)
	return sh.Field.changed(before)
}

// changed passes the text on when it is another one than before.
func (f *Field) changed(before string) tea.Cmd {
	if now := f.Edit.String(); now != before && f.Change != nil {
		return f.Change(now)
	}
	return nil
}

// Prompt asks for one line.
func (sh *Shell) Prompt(label, help string, accept func(text string) tea.Cmd) tea.Cmd {
	sh.Field = &Field{Label: label, Help: help, Accept: accept, Cancel: func() tea.Cmd { return sh.Say("nothing was changed") }}
	return nil
}
