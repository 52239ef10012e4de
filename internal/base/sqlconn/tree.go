package sqlconn

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
)

// The beginning of every database file. See
// https://www.sqlite.org/fileformat.html.
const (
	HeaderBytes = 100
	Magic       = "SQLite format 3\x00"
)

// PageSize returns the page size that a header of a database file states, 0
// where SQLite allows no such size.
func PageSize(header []byte) int64 {
	size := int64(binary.BigEndian.Uint16(header[16:]))
	if size == 1 {
		size = 1 << 16
	}
	if size < 512 || size&(size-1) != 0 {
		return 0
	}
	return size
}

// maxSchemaPages bounds the tree that holds the schema. Amber's has fewer than
// ten pages.
const maxSchemaPages = 64

// CheckSchemaTree walks the tree of pages that SQLite reads before it answers
// the first query, so that SQLite never reads a tree that leads back to itself.
// The error is of kind damaged.
func CheckSchemaTree(r io.ReaderAt, pageSize, pages int64) error {
	seen := map[int64]bool{}
	next := []int64{1}
	page := make([]byte, pageSize)
	for len(next) > 0 {
		n := next[0]
		next = next[1:]
		if n < 1 || n > pages || seen[n] || len(seen) == maxSchemaPages {
			return amber.Errorf(amber.KindDamaged, "read schema", "", "page %d is not part of a tree", n)
		}
		seen[n] = true
		if _, err := r.ReadAt(page, (n-1)*pageSize); err != nil {
			return &amber.Error{Op: "read schema", Kind: amber.KindDamaged, Err: fmt.Errorf("page %d: %w", n, err)}
		}
		children, err := childPages(n, page)
		if err != nil {
			return err
		}
		next = append(next, children...)
	}
	return nil
}

// childPages returns the pages below a page of a table; a leaf has none.
func childPages(number int64, page []byte) (children []int64, err error) {
	at := 0
	if number == 1 {
		at = HeaderBytes
	}
	wrong := amber.Errorf(amber.KindDamaged, "read schema", "", "page %d is not a page of a table", number)
	switch page[at] {
	case 0x0d:
		return nil, nil
	case 0x05:
	default:
		return nil, wrong
	}
	cells := int(binary.BigEndian.Uint16(page[at+3:]))
	if at+12+2*cells > len(page) {
		return nil, wrong
	}
	for i := range cells {
		cell := int(binary.BigEndian.Uint16(page[at+12+2*i:]))
		if cell+4 > len(page) {
			return nil, wrong
		}
		children = append(children, int64(binary.BigEndian.Uint32(page[cell:])))
	}
	return append(children, int64(binary.BigEndian.Uint32(page[at+8:]))), nil
}
