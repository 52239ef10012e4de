package window

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
)

// PageSize is how many rows a list asks for at once.
const PageSize = amber.DefaultPageSize

// Row is a line of a list, and what the keys do with it.
type Row struct {
	ID      string // tells it from others of the list; y copies it
	Lead    string // a word before the title, of the same width in all rows
	Title   string
	Side    string // a few words at the right
	Extra   string // more words before side, where there is room
	Text    string // y copies it
	Command string // that shows the same; y copies it
	Value   any
}

// Batch is what a list gets at once.
type Batch struct {
	Rows    []Row
	Next    string // asks for the rest; "": there is none
	Replace bool   // the rows take the place of those before
	Note    string // for the status line
}

// Page is a list and the document beside it that follows the cursor; or only a document.
type Page struct {
	Title string
	Empty string // what to do where there is nothing
	// load returns the rows behind a place, the first ones for "". nil: a page with a document only.
	Load func(ctx context.Context, after string) (Batch, error)
	// look makes the document of a row from the row alone, detail asks for it. One is set.
	Look    func(r Row) Document
	Detail  func(ctx context.Context, r Row) (Document, error)
	Actions []Action
	Open    func(r Row) tea.Cmd // enter; nil: the document gets the keys
	Field   *Field              // above the list; nil: none
	Closed  func()              // called when the page was closed; may be nil
	Changes bool                // what is below is loaded anew when the page is closed

	Rows     []Row
	next     string
	Loaded   bool
	Loading  bool
	Again    bool // load once more when the answer is there
	Err      error
	gen      int // of the rows; answers to older questions are dropped
	Cursor   int // in visible()
	Top      int // the first row that is drawn
	Marked   map[string]bool
	filtered string

	Doc     Document
	DocOf   string // the row that doc is of
	Asking  bool   // for a document
	focused bool   // the document has the keys
	Scroll  int
	laid    []line // doc at laidFor columns
	laidFor int
}

// Visible are the rows that the filter lets through.
func (p *Page) Visible() []Row {
	if p.filtered == "" {
		return p.Rows
	}
	want := strings.ToLower(p.filtered)
	return slices.DeleteFunc(slices.Clone(p.Rows), func(r Row) bool {
		return !strings.Contains(strings.ToLower(r.ID+" "+r.Lead+" "+r.Title+" "+r.Side+" "+r.Extra), want)
	})
}

// Current is the row under the cursor.
func (p *Page) Current() (r Row, ok bool) {
	rows := p.Visible()
	if p.Cursor < 0 || p.Cursor >= len(rows) {
		return r, false
	}
	return rows[p.Cursor], true
}

// Chosen are the marked rows, or the one under the cursor.
func (p *Page) Chosen() (rows []Row) {
	for _, r := range p.Rows {
		if p.Marked[r.ID] {
			rows = append(rows, r)
		}
	}
	if r, ok := p.Current(); ok && len(rows) == 0 {
		rows = append(rows, r)
	}
	return rows
}

// Reload loads a page from its beginning. The rows stay until the new ones are there.
func (sh *Shell) Reload(p *Page) tea.Cmd {
	if p.Load == nil {
		return nil
	}
	p.gen++
	p.Loading, p.DocOf = true, ""
	return sh.fetch(p, "", true)
}

// more loads what is behind the last row, when the cursor comes near it.
func (sh *Shell) more(p *Page) tea.Cmd {
	if p.Loading || p.next == "" || p.Err != nil || p.Cursor < len(p.Visible())-1-sh.listHeight() {
		return nil
	}
	p.Loading = true
	return sh.fetch(p, p.next, false)
}

// fetch asks for rows.
func (sh *Shell) fetch(p *Page, after string, anew bool) tea.Cmd {
	gen, load := p.gen, p.Load
	return Ask(sh, func(ctx context.Context) (Batch, error) { return load(ctx, after) }, func(b Batch, err error) tea.Cmd {
		if gen != p.gen {
			return nil
		}
		p.Loading, p.Loaded, p.Err = false, true, err
		if p.Again { // asked for something else meanwhile
			p.Again = false
			return sh.Reload(p)
		}
		if err != nil {
			return nil
		}
		kept, _ := p.Current()
		if anew || b.Replace {
			p.Rows = nil
		}
		p.Rows, p.next = append(p.Rows, b.Rows...), b.Next
		if anew || b.Replace {
			p.GoTo(kept.ID)
		}
		if b.Note != "" && p == sh.Page() {
			sh.Say(b.Note)
		}
		return sh.Follow(p)
	})
}

// GoTo puts the cursor on a row, or leaves it about where it is.
func (p *Page) GoTo(id string) {
	rows := p.Visible()
	if i := slices.IndexFunc(rows, func(r Row) bool { return r.ID == id }); i >= 0 {
		p.Cursor = i
	}
	p.Cursor = min(max(p.Cursor, 0), max(len(rows)-1, 0))
}

// Follow brings the document up to the cursor, and loads more rows where the end is near. One
// question is asked at a time: holding a key down asks for the first and the last row only.
func (sh *Shell) Follow(p *Page) tea.Cmd {
	p.Top = scrolled(p.Top, p.Cursor, sh.listHeight(), len(p.Visible()))
	more := sh.more(p)
	r, ok := p.Current()
	switch {
	case p.Load == nil || p.DocOf != "" && ok && p.DocOf == r.ID || p.Asking:
		return more
	case !ok:
		p.Set(nil, "")
		return more
	case p.Detail == nil:
		p.Set(p.Look(r), r.ID)
		return more
	}
	p.Asking = true
	detail := p.Detail
	return tea.Batch(more, Ask(sh, func(ctx context.Context) (Document, error) { return detail(ctx, r) }, func(d Document, err error) tea.Cmd {
		p.Asking = false
		if err != nil {
			d = ErrorDocument(err)
		}
		if now, ok := p.Current(); ok && now.ID == r.ID {
			p.Set(d, r.ID)
		}
		return sh.Follow(p)
	}))
}

// Set shows a document.
func (p *Page) Set(d Document, id string) {
	p.Doc, p.DocOf, p.Scroll, p.laid, p.laidFor = d, id, 0, nil, 0
}

// lines is the document at a width.
func (p *Page) lines(columns int) []line {
	if p.laid == nil || p.laidFor != columns {
		p.laid, p.laidFor = p.Doc.lay(columns), columns
	}
	return p.laid
}

// ErrorDocument is an error as a document.
func ErrorDocument(err error) Document {
	d := Document{}.Warn("error (" + string(amber.KindOf(err)) + ")").Text(err.Error())
	if hint := amber.HintOf(err); hint != "" {
		d = d.Blank().Fact("hint", hint)
	}
	return d
}

// scrolled is the first of n rows to draw, so that the cursor is among those that are.
func scrolled(top, cursor, height, n int) int {
	height = max(height, 1)
	top = min(top, cursor, max(n-height, 0))
	return max(top, cursor-height+1, 0)
}

// Move moves the cursor of the list, or scrolls the document that has the keys.
func (sh *Shell) Move(by int) tea.Cmd {
	p := sh.Page()
	if p.focused || p.Load == nil {
		p.ScrollBy(by, sh.DetailSize())
		return nil
	}
	p.Cursor = min(max(p.Cursor+by, 0), max(len(p.Visible())-1, 0))
	return sh.Follow(p)
}

// ScrollBy scrolls the document within its size.
func (p *Page) ScrollBy(by int, size area) {
	last := max(len(p.lines(size.width))-size.height, 0)
	p.Scroll = min(max(p.Scroll+by, 0), last)
}
