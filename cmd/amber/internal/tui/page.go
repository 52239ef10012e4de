package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
)

// pageSize is how many rows a list asks for at once.
const pageSize = amber.DefaultPageSize

// row is a line of a list, and what the keys do with it.
type row struct {
	id      string // tells it from others of the list; y copies it
	lead    string // a word before the title, of the same width in all rows
	title   string
	side    string // a few words at the right
	extra   string // more words before side, where there is room
	text    string // y copies it
	command string // that shows the same; y copies it
	value   any
}

// batch is what a list gets at once.
type batch struct {
	rows    []row
	next    string // asks for the rest; "": there is none
	replace bool   // the rows take the place of those before
	note    string // for the status line
}

// page is a list and the document beside it that follows the cursor; or only a document.
type page struct {
	title string
	empty string // what to do where there is nothing
	// load returns the rows behind a place, the first ones for "". nil: a page with a document only.
	load func(ctx context.Context, after string) (batch, error)
	// look makes the document of a row from the row alone, detail asks for it. One is set.
	look    func(r row) document
	detail  func(ctx context.Context, r row) (document, error)
	actions []action
	open    func(r row) tea.Cmd // enter; nil: the document gets the keys
	field   *field              // above the list; nil: none
	closed  func()              // called when the page was closed; may be nil
	changes bool                // what is below is loaded anew when the page is closed

	rows     []row
	next     string
	loaded   bool
	loading  bool
	again    bool // load once more when the answer is there
	err      error
	gen      int // of the rows; answers to older questions are dropped
	cursor   int // in visible()
	top      int // the first row that is drawn
	marked   map[string]bool
	filtered string

	doc     document
	docOf   string // the row that doc is of
	asking  bool   // for a document
	focused bool   // the document has the keys
	scroll  int
	laid    []line // doc at laidFor columns
	laidFor int
}

// visible are the rows that the filter lets through.
func (p *page) visible() []row {
	if p.filtered == "" {
		return p.rows
	}
	want := strings.ToLower(p.filtered)
	return slices.DeleteFunc(slices.Clone(p.rows), func(r row) bool {
		return !strings.Contains(strings.ToLower(r.id+" "+r.lead+" "+r.title+" "+r.side+" "+r.extra), want)
	})
}

// current is the row under the cursor.
func (p *page) current() (r row, ok bool) {
	rows := p.visible()
	if p.cursor < 0 || p.cursor >= len(rows) {
		return r, false
	}
	return rows[p.cursor], true
}

// chosen are the marked rows, or the one under the cursor.
func (p *page) chosen() (rows []row) {
	for _, r := range p.rows {
		if p.marked[r.id] {
			rows = append(rows, r)
		}
	}
	if r, ok := p.current(); ok && len(rows) == 0 {
		rows = append(rows, r)
	}
	return rows
}

// reload loads a page from its beginning. The rows stay until the new ones are there.
func (sh *shell) reload(p *page) tea.Cmd {
	if p.load == nil {
		return nil
	}
	p.gen++
	p.loading, p.docOf = true, ""
	return sh.fetch(p, "", true)
}

// more loads what is behind the last row, when the cursor comes near it.
func (sh *shell) more(p *page) tea.Cmd {
	if p.loading || p.next == "" || p.err != nil || p.cursor < len(p.visible())-1-sh.listHeight() {
		return nil
	}
	p.loading = true
	return sh.fetch(p, p.next, false)
}

// fetch asks for rows.
func (sh *shell) fetch(p *page, after string, anew bool) tea.Cmd {
	gen, load := p.gen, p.load
	return ask(sh, func(ctx context.Context) (batch, error) { return load(ctx, after) }, func(b batch, err error) tea.Cmd {
		if gen != p.gen {
			return nil
		}
		p.loading, p.loaded, p.err = false, true, err
		if p.again { // asked for something else meanwhile
			p.again = false
			return sh.reload(p)
		}
		if err != nil {
			return nil
		}
		kept, _ := p.current()
		if anew || b.replace {
			p.rows = nil
		}
		p.rows, p.next = append(p.rows, b.rows...), b.next
		if anew || b.replace {
			p.goTo(kept.id)
		}
		if b.note != "" && p == sh.page() {
			sh.say(b.note)
		}
		return sh.follow(p)
	})
}

// goTo puts the cursor on a row, or leaves it about where it is.
func (p *page) goTo(id string) {
	rows := p.visible()
	if i := slices.IndexFunc(rows, func(r row) bool { return r.id == id }); i >= 0 {
		p.cursor = i
	}
	p.cursor = min(max(p.cursor, 0), max(len(rows)-1, 0))
}

// follow brings the document up to the cursor, and loads more rows where the end is near. One
// question is asked at a time: holding a key down asks for the first and the last row only.
func (sh *shell) follow(p *page) tea.Cmd {
	p.top = scrolled(p.top, p.cursor, sh.listHeight(), len(p.visible()))
	more := sh.more(p)
	r, ok := p.current()
	switch {
	case p.load == nil || p.docOf != "" && ok && p.docOf == r.id || p.asking:
		return more
	case !ok:
		p.set(nil, "")
		return more
	case p.detail == nil:
		p.set(p.look(r), r.id)
		return more
	}
	p.asking = true
	detail := p.detail
	return tea.Batch(more, ask(sh, func(ctx context.Context) (document, error) { return detail(ctx, r) }, func(d document, err error) tea.Cmd {
		p.asking = false
		if err != nil {
			d = errorDocument(err)
		}
		if now, ok := p.current(); ok && now.id == r.id {
			p.set(d, r.id)
		}
		return sh.follow(p)
	}))
}

// set shows a document.
func (p *page) set(d document, id string) {
	p.doc, p.docOf, p.scroll, p.laid, p.laidFor = d, id, 0, nil, 0
}

// lines is the document at a width.
func (p *page) lines(columns int) []line {
	if p.laid == nil || p.laidFor != columns {
		p.laid, p.laidFor = p.doc.lay(columns), columns
	}
	return p.laid
}

// errorDocument is an error as a document.
func errorDocument(err error) document {
	d := document{}.warn("error (" + string(amber.KindOf(err)) + ")").text(err.Error())
	if hint := amber.HintOf(err); hint != "" {
		d = d.blank().fact("hint", hint)
	}
	return d
}

// scrolled is the first of n rows to draw, so that the cursor is among those that are.
func scrolled(top, cursor, height, n int) int {
	height = max(height, 1)
	top = min(top, cursor, max(n-height, 0))
	return max(top, cursor-height+1, 0)
}

// move moves the cursor of the list, or scrolls the document that has the keys.
func (sh *shell) move(by int) tea.Cmd {
	p := sh.page()
	if p.focused || p.load == nil {
		p.scrollBy(by, sh.detailSize())
		return nil
	}
	p.cursor = min(max(p.cursor+by, 0), max(len(p.visible())-1, 0))
	return sh.follow(p)
}

// scrollBy scrolls the document within its size.
func (p *page) scrollBy(by int, size area) {
	last := max(len(p.lines(size.width))-size.height, 0)
	p.scroll = min(max(p.scroll+by, 0), last)
}
