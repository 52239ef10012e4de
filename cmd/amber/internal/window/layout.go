package window

// wideFrom is how many columns a list and a document beside it need.
const wideFrom = 100

// area is a rectangle of the frame.
type area struct{ x, y, width, height int }

func (a area) holds(x, y int) bool {
	return x >= a.x && x < a.x+a.width && y >= a.y && y < a.y+a.height
}

// layout says where everything is drawn. An area without height is left out.
type layout struct {
	header, title, field, list, detail, status, hints area
	wide                                              bool // list and document side by side
}

// lay places everything in the window.
func (sh *Shell) lay() layout {
	var l layout
	w, p := sh.Width, sh.Page()
	y, bottom := 0, sh.Height
	row := func(wanted bool, at int) (a area) {
		if wanted {
			a = area{0, at, w, 1}
		}
		return a
	}
	l.header = row(sh.Height >= 4, 0)
	y += l.header.height
	l.hints = row(sh.Height >= 3, bottom-1)
	bottom -= l.hints.height
	l.status = row(sh.Height >= 5 || sh.Height >= 2 && sh.Field != nil && sh.Field != p.Field, bottom-1)
	bottom -= l.status.height
	l.title = row(bottom-y >= 3, y)
	y += l.title.height
	l.field = row(p.Field != nil && bottom-y >= 2, y)
	y += l.field.height
	l.wide = w >= wideFrom && p.Load != nil
	body := area{0, y, w, max(bottom-y, 0)}
	l.list, l.detail = body, body
	switch {
	case p.Load == nil:
		l.list = area{}
	case l.wide:
		left := min(max(w*2/5, 40), 72)
		l.list.width = left
		l.detail.x, l.detail.width = left+3, w-left-3
	case p.focused:
		l.list = area{}
	default:
		l.detail = area{}
	}
	return l
}

// listHeight is how many rows of a list are drawn.
func (sh *Shell) listHeight() int { return max(sh.lay().list.height, 1) }

// DetailSize is where the document is drawn.
func (sh *Shell) DetailSize() area { return sh.lay().detail }
