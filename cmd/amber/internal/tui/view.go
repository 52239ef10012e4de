package tui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

// reverse is the style of the row under the cursor, which also has a mark.
const reverse = "\x1b[7m"

// styled puts a clean line into a style.
func styled(style, s string) string {
	if style == "" || s == "" {
		return s
	}
	return style + s + cli.Plain
}

// frame draws everything. Whatever was drawn, the frame is no larger than the window.
func (sh *shell) frame() (string, *tea.Cursor) {
	if sh.width < 1 || sh.height < 1 {
		return "", nil
	}
	l := sh.lay()
	rows := make([]string, sh.height)
	sh.drawHeader(rows, l)
	sh.drawTitle(rows, l)
	sh.drawBody(rows, l)
	cursor := sh.drawField(rows, l)
	sh.drawStatus(rows, l)
	if sh.over != nil {
		sh.drawOver(rows)
		cursor = nil
	}
	if l.hints.height > 0 {
		rows[l.hints.y] = sh.drawHints()
	}
	for i := range rows {
		rows[i] = ansi.Truncate(rows[i], sh.width, "")
	}
	if cursor != nil && (cursor.X >= sh.width || cursor.Y >= sh.height) {
		cursor = nil
	}
	return strings.Join(rows, "\n"), cursor
}

// tab is the name of a screen in the header, and where it is.
type tab struct {
	x    int
	text string
}

// tabs are the names of the screens: all of them where there is room, else only the open one.
func (sh *shell) tabs() (list []tab) {
	x := 0
	for i, s := range sh.screens {
		text := strconv.Itoa(i + 1)
		if sh.width >= wideFrom || i == sh.at {
			text += " " + s.name
		}
		if text = " " + text + " "; i == sh.at {
			text = "[" + text[1:len(text)-1] + "]"
		}
		list = append(list, tab{x, text})
		x += width(text)
	}
	return list
}

func (sh *shell) drawHeader(rows []string, l layout) {
	if l.header.height == 0 {
		return
	}
	var b strings.Builder
	used := 0
	for i, t := range sh.tabs() {
		style := cli.Dim
		if i == sh.at {
			style = cli.Bold
		}
		b.WriteString(styled(style, t.text))
		used += width(t.text)
	}
	place := oneLine(sh.name, max(sh.width-used-1, 0))
	if room := sh.width - used - width(place); room > 0 {
		b.WriteString(strings.Repeat(" ", room) + styled(cli.Dim, place))
	}
	rows[0] = b.String()
}

// drawTitle names the list and the document, and says how much is loaded.
func (sh *shell) drawTitle(rows []string, l layout) {
	if l.title.height == 0 {
		return
	}
	p := sh.page()
	left := oneLine(sh.path(), sh.width) + p.count()
	if !l.wide {
		rows[l.title.y] = styled(cli.Bold, cut(left, sh.width))
		return
	}
	right := ""
	if r, ok := p.current(); ok && p.docOf == r.id {
		right = oneLine(r.id, l.detail.width)
		if more := len(p.lines(l.detail.width)) - p.scroll - l.detail.height; more > 0 {
			right = cut(right, max(l.detail.width-22, 1)) + "  " + words.Count(more, "more line", "more lines")
		}
	}
	if p.focused {
		right = "> " + right
	}
	rows[l.title.y] = styled(cli.Bold, pad(left, l.list.width)) + styled(cli.Dim, " ┬ "+cut(right, l.detail.width))
}

// path names the pages that are on top of each other.
func (sh *shell) path() string {
	var names []string
	for _, p := range sh.screens[sh.at].pages {
		names = append(names, p.title)
	}
	return strings.Join(names, " > ")
}

// count says how many rows there are.
func (p *page) count() string {
	if p.load == nil || !p.loaded || p.err != nil {
		return ""
	}
	text := fmt.Sprintf("  %d", len(p.rows))
	if p.next != "" {
		text += "+"
	}
	if p.filtered != "" {
		text = fmt.Sprintf("  %d of%s, filter %q", len(p.visible()), text[1:], oneLine(p.filtered, 20))
	}
	if n := len(p.marked); n > 0 {
		text += fmt.Sprintf(", %d marked", n)
	}
	return text
}

// drawBody draws the list, the document, or both.
func (sh *shell) drawBody(rows []string, l layout) {
	p := sh.page()
	var left, right []string
	if l.list.height > 0 {
		left = sh.drawList(p, l.list)
	}
	if l.detail.height > 0 && (l.wide || p.focused || p.load == nil) {
		right = sh.drawDetail(p, l.detail)
	}
	for i := range max(l.list.height, l.detail.height) {
		y := max(l.list.y, l.detail.y) + i
		switch {
		case l.wide:
			rows[y] = left[i] + styled(cli.Dim, " │ ") + right[i]
		case left != nil:
			rows[y] = left[i]
		case right != nil:
			rows[y] = right[i]
		}
	}
}

// drawList draws the rows, each padded to the width.
func (sh *shell) drawList(p *page, a area) []string {
	out := make([]string, a.height)
	visible := p.visible()
	if len(visible) == 0 || p.err != nil {
		d := sh.instead(p, len(visible))
		for i, ln := range d.lay(a.width) {
			if i < a.height {
				out[i] = styled(ln.style, pad(ln.text, a.width))
			}
		}
	} else {
		top := scrolled(p.top, p.cursor, a.height, len(visible))
		for i := range out {
			if at := top + i; at < len(visible) {
				out[i] = drawRow(visible[at], a.width, at == p.cursor, p.marked[visible[at].id], !p.focused)
			}
		}
	}
	for i := range out {
		if out[i] == "" {
			out[i] = strings.Repeat(" ", a.width)
		}
	}
	return out
}

// instead is what stands in place of rows: why there are none.
func (sh *shell) instead(p *page, visible int) document {
	switch {
	case p.err != nil:
		return errorDocument(p.err).blank().dim("The screen stays as it is. Its number loads it again.")
	case !p.loaded:
		return document{}.dim("loading …")
	case p.filtered != "" && visible == 0 && p.next != "":
		return document{}.dim("No loaded line has this text. G loads more.")
	case p.filtered != "" && visible == 0:
		return document{}.dim("No line has this text.")
	}
	return document{}.dim(p.empty)
}

// roomy is how wide a list is that shows more words of each row.
const roomy = 70

// drawRow draws a row: the cursor and marks are characters, too, not only a style.
func drawRow(r row, columns int, here, marked, active bool) string {
	sign := []byte("  ")
	if here {
		sign[0] = '>'
	}
	if marked {
		sign[1] = '*'
	}
	side := oneLine(r.side, columns/2)
	if r.extra != "" && columns >= roomy {
		side = oneLine(r.extra+" · "+r.side, columns/2)
	}
	room := columns - 2 - width(side)
	if side != "" {
		room--
	}
	if columns < 24 {
		side, room = "", columns-2
	}
	lead := oneLineKept(r.lead, max(room, 0))
	title := pad(lead+oneLine(r.title, max(room-width(lead), 0)), max(room, 0))
	if side != "" {
		title += " "
	}
	text := cut(string(sign)+title+side, columns)
	switch {
	case here && active:
		return styled(reverse, text)
	case here:
		return styled(cli.Bold, text)
	case side != "":
		return string(sign) + title + styled(cli.Dim, side)
	}
	return text
}

// drawDetail draws the part of the document that is scrolled to.
func (sh *shell) drawDetail(p *page, a area) []string {
	out := make([]string, a.height)
	lines := p.lines(a.width)
	from := min(p.scroll, max(len(lines)-1, 0))
	for i := range out {
		if at := from + i; at < len(lines) {
			out[i] = styled(lines[at].style, cut(lines[at].text, a.width))
		}
	}
	return out
}

// drawField draws the line that is typed into, and the field of the page.
func (sh *shell) drawField(rows []string, l layout) (cursor *tea.Cursor) {
	p := sh.page()
	at := func(f *field, y int) {
		label := cut(f.label+": ", max(sh.width-1, 0))
		shown, column := f.edit.draw(max(sh.width-width(label), 1))
		rows[y] = styled(cli.Bold, label) + shown
		if sh.field == f {
			cursor = tea.NewCursor(width(label)+column, y)
		}
	}
	if p.field != nil && l.field.height > 0 {
		at(p.field, l.field.y)
	}
	if f := sh.field; f != nil && f != p.field && l.status.height > 0 {
		sh.drawOffers(rows, l)
		at(f, l.status.y)
	}
	return cursor
}

// maxOffers is how many things that could be typed are shown.
const maxOffers = 8

func (sh *shell) drawOffers(rows []string, l layout) {
	if sh.field.offers == nil {
		return
	}
	offers := sh.field.offers()
	n := min(len(offers), maxOffers, max(l.status.y-l.header.height, 0))
	widest := 0
	for _, o := range offers[:n] {
		widest = max(widest, width(o.text))
	}
	for i, o := range offers[:n] {
		text := pad("  "+o.text, widest+4) + o.about
		rows[l.status.y-n+i] = styled(reverse, pad(oneLineKept(text, sh.width), sh.width))
	}
}

func (sh *shell) drawStatus(rows []string, l layout) {
	p := sh.page()
	if l.status.height == 0 || sh.field != nil && sh.field != p.field {
		return
	}
	style, text := cli.Dim, sh.status
	switch {
	case sh.failed:
		style, text = cli.Amb, "error: "+text
	case text == "" && (p.loading || p.asking):
		text = "loading …"
	}
	rows[l.status.y] = styled(style, oneLine(text, sh.width))
}
