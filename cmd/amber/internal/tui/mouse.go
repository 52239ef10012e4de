package tui

import (
	tea "charm.land/bubbletea/v2"
)

// click does what a key does: it opens screens, moves the cursor, presses hints.
func (m *Model) click(at tea.Mouse) tea.Cmd {
	if at.Button != tea.MouseLeft || m.over != nil {
		return nil
	}
	l, p := m.lay(), m.page()
	switch {
	case l.field.holds(at.X, at.Y) && p.field != nil:
		m.field = p.field
	case m.field != nil && m.field != p.field: // a question is open
	case l.header.holds(at.X, at.Y):
		return m.clickTab(at.X)
	case l.hints.holds(at.X, at.Y):
		return m.clickHint(at.X)
	case l.list.holds(at.X, at.Y):
		return m.clickRow(at.Y - l.list.y)
	case l.detail.holds(at.X, at.Y) && p.load != nil:
		m.field, p.focused = nil, true
	}
	return nil
}

func (m *Model) clickTab(x int) tea.Cmd {
	for i, t := range m.tabs() {
		if x >= t.x && x < t.x+width(t.text) {
			m.field = nil
			return m.show(i)
		}
	}
	return nil
}

func (m *Model) clickHint(x int) tea.Cmd {
	for _, h := range m.hints() {
		if x < h.x || x >= h.x+len(h.text) {
			continue
		}
		for _, list := range [][]action{m.page().actions, m.common()} {
			for _, a := range list {
				if a.key == h.key && a.ready() {
					return a.do()
				}
			}
		}
	}
	return nil
}

// clickRow moves the cursor; a click on the row under the cursor opens it.
func (m *Model) clickRow(y int) tea.Cmd {
	p := m.page()
	at := scrolled(p.top, p.cursor, m.listHeight(), len(p.visible())) + y
	m.field = nil
	switch {
	case at >= len(p.visible()):
		return nil
	case at == p.cursor && !p.focused:
		return m.enter()
	}
	p.cursor, p.focused = at, false
	return m.follow(p)
}

// wheelLines is how far one step of the wheel scrolls.
const wheelLines = 3

// wheel scrolls the document that the mouse is over, or moves the cursor of the list.
func (m *Model) wheel(at tea.Mouse) tea.Cmd {
	by := wheelLines
	switch at.Button {
	case tea.MouseWheelUp:
		by = -by
	case tea.MouseWheelDown:
	default:
		return nil
	}
	if m.over != nil {
		return nil
	}
	p, l := m.page(), m.lay()
	if l.detail.holds(at.X, at.Y) && !(l.list.height > 0 && l.list.holds(at.X, at.Y)) {
		p.scrollBy(by, l.detail)
		return nil
	}
	if p.load == nil || p.focused {
		return nil
	}
	p.cursor = min(max(p.cursor+by, 0), max(len(p.visible())-1, 0))
	return m.follow(p)
}
