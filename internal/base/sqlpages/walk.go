package sqlpages

import (
	"context"
	"encoding/binary"
	"math"
)

// maxDepth is how deep a tree may be; SQLite goes no deeper.
const maxDepth = 20

// Kinds of pages of the tree of a table.
const (
	tableLeaf   = 0x0d
	tableBranch = 0x05
)

// walk is one way through the tree of a table.
type walk struct {
	*Image
	ctx   context.Context
	tally Tally
	last  int64 // number of the row before
}

// Walk meets every page of the table whose first page is root: each once, whose cells lie within it, whose rows have
// rising numbers, and whose values end where their lengths say. A page that was met before is an error of kind
// damaged.
func (i *Image) Walk(ctx context.Context, root int64) (Tally, error) {
	w := &walk{Image: i, ctx: ctx, last: math.MinInt64}
	err := w.tree(root, 1)
	return w.tally, err
}

// tree walks a page and what is below it.
func (w *walk) tree(number int64, depth int) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if err := w.meet(number); err != nil {
		return err
	}
	if depth > maxDepth {
		return damaged("page %d lies more than %d pages deep", number, maxDepth)
	}
	cells, err := w.cells(number)
	if err != nil {
		return err
	}
	if cells.kind == tableLeaf {
		return w.leaf(cells, depth)
	}
	children, err := cells.children()
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := w.tree(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// cells are those of a page.
type cells struct {
	number int64
	page   []byte // the bytes that are used
	kind   byte
	head   int // where the header begins
	at     int // where the list of cells begins
	count  int
}

func (w *walk) cells(number int64) (cells, error) {
	b, err := w.page(number)
	if err != nil {
		return cells{}, err
	}
	c := cells{number: number, page: b[:w.usable]}
	if number == 1 {
		c.head = 100
	}
	c.kind, c.count, c.at = b[c.head], int(binary.BigEndian.Uint16(b[c.head+3:])), c.head+8
	switch c.kind {
	case tableBranch:
		c.at = c.head + 12
	case tableLeaf:
	default:
		return c, damaged("page %d is not a page of a table with numbered rows", number)
	}
	if c.at+2*c.count > len(c.page) {
		return c, damaged("page %d names more cells than it has room for", number)
	}
	return c, nil
}

// cell returns the bytes from where a cell begins.
func (c cells) cell(n int) ([]byte, error) {
	at := int(binary.BigEndian.Uint16(c.page[c.at+2*n:]))
	if at < c.at+2*c.count || at+4 > len(c.page) {
		return nil, c.wrong()
	}
	return c.page[at:], nil
}

func (c cells) wrong() error {
	return damaged("page %d has a cell that does not lie within it", c.number)
}

// children are the pages below a branch, in order.
func (c cells) children() ([]int64, error) {
	if c.count == 0 && c.number != schemaRoot { // SQLite takes it for damaged
		return nil, damaged("page %d has no cells", c.number)
	}
	out := make([]int64, 0, c.count+1)
	for n := range c.count {
		b, err := c.cell(n)
		if err != nil {
			return nil, err
		}
		out = append(out, int64(binary.BigEndian.Uint32(b)))
	}
	return append(out, int64(binary.BigEndian.Uint32(c.page[c.head+8:]))), nil
}

// leaf counts the rows of a page. The cells together are no longer than the page, so that none is there twice.
func (w *walk) leaf(c cells, depth int) error {
	if c.count == 0 && depth > 1 {
		return damaged("page %d has no rows", c.number)
	}
	room := len(c.page) - c.at - 2*c.count
	for n := range c.count {
		b, err := c.cell(n)
		if err != nil {
			return err
		}
		size, err := w.row(c, b)
		if err != nil {
			return err
		}
		if room -= max(size, 4); room < 0 {
			return damaged("page %d has cells that lie over each other", c.number)
		}
	}
	return nil
}

// row counts a row and returns how many bytes of the page its cell has.
func (w *walk) row(c cells, b []byte) (size int, err error) {
	length, n := varint(b)
	number, m := varint(b[n:])
	if n == 0 || n > 5 || m == 0 || length > math.MaxInt32 { // SQLite writes a length in five bytes at most
		return 0, c.wrong()
	}
	if w.tally.Rows > 0 && int64(number) <= w.last {
		return 0, damaged("page %d has row %d after row %d", c.number, int64(number), w.last)
	}
	w.last = int64(number)
	w.tally.Rows++
	w.tally.Bytes += int64(length)
	local := w.local(int64(length))
	size = n + m + int(local)
	if local == int64(length) {
		if size > len(b) {
			return 0, c.wrong()
		}
		return size, nil
	}
	if size+4 > len(b) {
		return 0, c.wrong()
	}
	return size + 4, w.overflow(int64(binary.BigEndian.Uint32(b[size:])), int64(length)-local)
}

// local returns how many bytes of a row are in the page itself.
func (i *Image) local(length int64) int64 {
	most := i.usable - 35
	if length <= most {
		return length
	}
	least := (i.usable-12)*32/255 - 23
	if n := least + (length-least)%(i.usable-4); n <= most {
		return n
	}
	return least
}

// overflow meets the pages that hold the rest of a row.
func (w *walk) overflow(page, rest int64) error {
	var next [4]byte
	for ; rest > 0; rest -= w.usable - 4 {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if err := w.meet(page); err != nil {
			return err
		}
		if n, err := w.r.ReadAt(next[:], (page-1)*w.pageSize); n < len(next) {
			return damaged("page %d cannot be read: %w", page, err)
		}
		page = int64(binary.BigEndian.Uint32(next[:]))
	}
	return nil
}

// varint reads a number of one to nine bytes; n is 0 where there is none.
func varint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 8 {
		v = v<<7 | uint64(b[n]&0x7f)
		n++
		if b[n-1] < 0x80 {
			return v, n
		}
	}
	if n < 8 || len(b) < 9 {
		return 0, 0
	}
	return v<<8 | uint64(b[8]), 9
}
