package tui

import (
	tea "charm.land/bubbletea/v2"
)

// click does what a key does: it opens screens, moves the cursor, presses hints.
func (sh *shell) click(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft || sh.over != nil {
		return nil
	}
	l, p := sh.lay(), sh.page()
	switch {
	case l.field.holds(at.X, at.Y) && p.field != nil:
		sh.field = p.field
	case sh.field != nil && sh.field != p.field: // a question is open
	case l.header.holds(at.X, at.Y):
		return sh.clickTab(at.X)
	case l.hints.holds(at.X, at.Y):
		return sh.clickHint(at.X)
	case l.list.holds(at.X, at.Y):
		return sh.clickRow(at.Y - l.list.y)
	case l.detail.holds(at.X, at.Y) && p.load != nil:
		sh.field, p.focused = nil, true
	}
	return nil
}

func (sh *shell) clickTab(x int) tea.Cmd {
	for i, t := range sh.tabs() {
		if x >= t.x && x < t.x+width(t.text) {
			sh.field = nil
			return sh.show(i)
		}
	}
	return nil
}

func (sh *shell) clickHint(x int) tea.Cmd {
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
func (sh *shell) clickRow(y int) tea.Cmd {
	p := sh.page()
	at := scrolled(p.top, p.cursor, sh.listHeight(), len(p.visible())) + y
	sh.field = nil
	switch {
	case at >= len(p.visible()):
		return nil
	case at == p.cursor && !p.focused:
		return sh.enter()
	}
	p.cursor, p.focused = at, false
	return sh.follow(p)
}

// wheelLines is how far one step of the wheel scrolls.
const wheelLines = 3

// wheel scrolls the document that the mouse is over, or moves the cursor of the list.
func (sh *shell) wheel(at tea.Mouse) tea.Cmd {
	by := wheelLines
	switch at.Button {
	case tea.MouseWheelUp:
		by = -by
	case tea.MouseWheelDown:
	default:
		return nil
	}
	if sh.over != nil {
		return nil
	}
	p, l := sh.page(), sh.lay()
	if l.detail.holds(at.X, at.Y) && !(l.list.height > 0 && l.list.holds(at.X, at.Y)) {
		p.scrollBy(by, l.detail)
		return nil
	}
	if p.load == nil || p.focused {
		return nil
	}
	p.cursor = min(max(p.cursor+by, 0), max(len(p.visible())-1, 0))
	return sh.follow(p)
}
