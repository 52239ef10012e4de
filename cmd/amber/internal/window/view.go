package window

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

// Frame draws everything. Whatever was drawn, the frame is no larger than the window.
func (sh *Shell) Frame() (string, *tea.Cursor) {
	if sh.Width < 1 || sh.Height < 1 {
		return "", nil
	}
	l := sh.lay()
	rows := make([]string, sh.Height)
	sh.drawHeader(rows, l)
	sh.drawTitle(rows, l)
	sh.drawBody(rows, l)
	cursor := sh.drawField(rows, l)
	sh.drawStatus(rows, l)
	if sh.Over != nil {
		sh.drawOver(rows)
		cursor = nil
	}
	if l.hints.height > 0 {
		rows[l.hints.y] = sh.drawHints()
	}
	for i := range rows {
		rows[i] = ansi.Truncate(rows[i], sh.Width, "")
	}
	if cursor != nil && (cursor.X >= sh.Width || cursor.Y >= sh.Height) {
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
func (sh *Shell) tabs() (list []tab) {
	x := 0
	for i, s := range sh.Screens {
		text := strconv.Itoa(i + 1)
		if sh.Width >= wideFrom || i == sh.at {
			text += " " + s.Name
		}
		if text = " " + text + " "; i == sh.at {
			text = "[" + text[1:len(text)-1] + "]"
		}
		list = append(list, tab{x, text})
		x += width(text)
	}
	return list
}

func (sh *Shell) drawHeader(rows []string, l layout) {
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
	place := OneLine(sh.Name, max(sh.Width-used-1, 0))
	if room := sh.Width - used - width(place); room > 0 {
		b.WriteString(strings.Repeat(" ", room) + styled(cli.Dim, place))
	}
	rows[0] = b.String()
}

// drawTitle names the list and the document, and says how much is loaded.
func (sh *Shell) drawTitle(rows []string, l layout) {
	if l.title.height == 0 {
		return
	}
	p := sh.Page()
	left := OneLine(sh.path(), sh.Width) + p.count()
	if !l.wide {
		rows[l.title.y] = styled(cli.Bold, Cut(left, sh.Width))
		return
	}
	right := ""
	if r, ok := p.Current(); ok && p.DocOf == r.ID {
		right = OneLine(r.ID, l.detail.width)
		if more := len(p.lines(l.detail.width)) - p.Scroll - l.detail.height; more > 0 {
			right = Cut(right, max(l.detail.width-22, 1)) + "  " + words.Count(more, "more line", "more lines")
		}
	}
	if p.focused {
		right = "> " + right
	}
	rows[l.title.y] = styled(cli.Bold, pad(left, l.list.width)) + styled(cli.Dim, " ┬ "+Cut(right, l.detail.width))
}

// path names the pages that are on top of each other.
func (sh *Shell) path() string {
	var names []string
	for _, p := range sh.Screens[sh.at].Pages {
		names = append(names, p.Title)
	}
	return strings.Join(names, " > ")
}

// count says how many rows there are.
func (p *Page) count() string {
	if p.Load == nil || !p.Loaded || p.Err != nil {
		return ""
	}
	text := fmt.Sprintf("  %d", len(p.Rows))
	if p.next != "" {
		text += "+"
	}
	if p.filtered != "" {
		text = fmt.Sprintf("  %d of%s, filter %q", len(p.Visible()), text[1:], OneLine(p.filtered, 20))
	}
	if n := len(p.Marked); n > 0 {
		text += fmt.Sprintf(", %d marked", n)
	}
	return text
}

// drawBody draws the list, the document, or both.
func (sh *Shell) drawBody(rows []string, l layout) {
	p := sh.Page()
	var left, right []string
	if l.list.height > 0 {
		left = sh.drawList(p, l.list)
	}
	if l.detail.height > 0 && (l.wide || p.focused || p.Load == nil) {
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
func (sh *Shell) drawList(p *Page, a area) []string {
	out := make([]string, a.height)
	visible := p.Visible()
	if len(visible) == 0 || p.Err != nil {
		d := sh.instead(p, len(visible))
		for i, ln := range d.lay(a.width) {
			if i < a.height {
				out[i] = styled(ln.style, pad(ln.text, a.width))
			}
		}
	} else {
		top := scrolled(p.Top, p.Cursor, a.height, len(visible))
		for i := range out {
			if at := top + i; at < len(visible) {
				out[i] = drawRow(visible[at], a.width, at == p.Cursor, p.Marked[visible[at].ID], !p.focused)
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
func (sh *Shell) instead(p *Page, visible int) Document {
	switch {
	case p.Err != nil:
		return ErrorDocument(p.Err).Blank().Dim("The screen stays as it is. Its number loads it again.")
	case !p.Loaded:
		return Document{}.Dim("loading …")
	case p.filtered != "" && visible == 0 && p.next != "":
		return Document{}.Dim("No loaded line has this text. G loads more.")
	case p.filtered != "" && visible == 0:
		return Document{}.Dim("No line has this text.")
	}
	return Document{}.Dim(p.Empty)
}

// roomy is how wide a list is that shows more words of each row.
const roomy = 70

// drawRow draws a row: the cursor and marks are characters, too, not only a style.
func drawRow(r Row, columns int, here, marked, active bool) string {
	sign := []byte("  ")
	if here {
		sign[0] = '>'
	}
	if marked {
		sign[1] = '*'
	}
	side := OneLine(r.Side, columns/2)
	if r.Extra != "" && columns >= roomy {
		side = OneLine(r.Extra+" · "+r.Side, columns/2)
	}
	room := columns - 2 - width(side)
	if side != "" {
		room--
	}
	if columns < 24 {
		side, room = "", columns-2
	}
	lead := oneLineKept(r.Lead, max(room, 0))
	title := pad(lead+OneLine(r.Title, max(room-width(lead), 0)), max(room, 0))
	if side != "" {
		title += " "
	}
	text := Cut(string(sign)+title+side, columns)
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
func (sh *Shell) drawDetail(p *Page, a area) []string {
	out := make([]string, a.height)
	lines := p.lines(a.width)
	from := min(p.Scroll, max(len(lines)-1, 0))
	for i := range out {
		if at := from + i; at < len(lines) {
			out[i] = styled(lines[at].style, Cut(lines[at].text, a.width))
		}
	}
	return out
}

// drawField draws the line that is typed into, and the field of the page.
func (sh *Shell) drawField(rows []string, l layout) (cursor *tea.Cursor) {
	p := sh.Page()
	at := func(f *Field, y int) {
		label := Cut(f.Label+": ", max(sh.Width-1, 0))
		shown, column := f.Edit.draw(max(sh.Width-width(label), 1))
		rows[y] = styled(cli.Bold, label) + shown
		if sh.Field == f {
			cursor = tea.NewCursor(width(label)+column, y)
		}
	}
	if p.Field != nil && l.field.height > 0 {
		at(p.Field, l.field.y)
	}
	if f := sh.Field; f != nil && f != p.Field && l.status.height > 0 {
		sh.drawOffers(rows, l)
		at(f, l.status.y)
	}
	return cursor
}

// maxOffers is how many things that could be typed are shown.
const maxOffers = 8

func (sh *Shell) drawOffers(rows []string, l layout) {
	if sh.Field.Offers == nil {
		return
	}
	offers := sh.Field.Offers()
	n := min(len(offers), maxOffers, max(l.status.y-l.header.height, 0))
	widest := 0
	for _, o := range offers[:n] {
		widest = max(widest, width(o.Text))
	}
	for i, o := range offers[:n] {
		text := pad("  "+o.Text, widest+4) + o.About
		rows[l.status.y-n+i] = styled(reverse, pad(oneLineKept(text, sh.Width), sh.Width))
	}
}

func (sh *Shell) drawStatus(rows []string, l layout) {
	p := sh.Page()
	if l.status.height == 0 || sh.Field != nil && sh.Field != p.Field {
		return
	}
	style, text := cli.Dim, sh.status
	switch {
	case sh.failed:
		style, text = cli.Amb, "error: "+text
	case text == "" && (p.Loading || p.Asking):
		text = "loading …"
	}
	rows[l.status.y] = styled(style, OneLine(text, sh.Width))
}
