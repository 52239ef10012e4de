package window

import (
	tea "charm.land/bubbletea/v2"
)

// click does what a key does: it opens screens, moves the cursor, presses hints.
func (sh *Shell) click(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft || sh.Over != nil {
		return nil
	}
	l, p := sh.lay(), sh.Page()
	switch {
	case l.field.holds(at.X, at.Y) && p.Field != nil:
		sh.Field = p.Field
	case sh.Field != nil && sh.Field != p.Field: // a question is open
	case l.header.holds(at.X, at.Y):
		return sh.clickTab(at.X)
	case l.hints.holds(at.X, at.Y):
		return sh.clickHint(at.X)
	case l.list.holds(at.X, at.Y):
		return sh.clickRow(at.Y - l.list.y)
	case l.detail.holds(at.X, at.Y) && p.Load != nil:
		sh.Field, p.focused = nil, true
	}
	return nil
}

func (sh *Shell) clickTab(x int) tea.Cmd {
	for i, t := range sh.tabs() {
		if x >= t.x && x < t.x+width(t.text) {
			sh.Field = nil
			return sh.Show(i)
		}
	}
	return nil
}

func (sh *Shell) clickHint(x int) tea.Cmd {
	for _, h := range sh.hints() {
		if x < h.x || x >= h.x+len(h.text) {
			continue
		}
		if a, ok := sh.action(h.key); ok {
			return a.do()
		}
	}
	return nil
}

// clickRow moves the cursor; a click on the row under the cursor opens it.
func (sh *Shell) clickRow(y int) tea.Cmd {
	p := sh.Page()
	at := scrolled(p.Top, p.Cursor, sh.listHeight(), len(p.Visible())) + y
	sh.Field = nil
	switch {
	case at >= len(p.Visible()):
		return nil
	case at == p.Cursor && !p.focused:
		return sh.enter()
	}
	p.Cursor, p.focused = at, false
	return sh.Follow(p)
}

// wheelLines is how far one step of the wheel scrolls.
const wheelLines = 3

// wheel scrolls the document that the mouse is over, or moves the cursor of the list.
func (sh *Shell) wheel(at tea.Mouse) tea.Cmd {
	by := wheelLines
	switch at.Button {
	case tea.MouseWheelUp:
		by = -by
	case tea.MouseWheelDown:
	default:
		return nil
	}
	if sh.Over != nil {
		return nil
	}
	p, l := sh.Page(), sh.lay()
	if l.detail.holds(at.X, at.Y) && !(l.list.height > 0 && l.list.holds(at.X, at.Y)) {
		p.ScrollBy(by, l.detail)
		return nil
	}
	if p.Load == nil || p.focused {
		return nil
	}
	p.Cursor = min(max(p.Cursor+by, 0), max(len(p.Visible())-1, 0))
	return sh.Follow(p)
}
