package sqlite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
)

// header is what the first 100 bytes of a database say, as far as it must be
// what we write. See https://www.sqlite.org/fileformat.html.
type header struct {
	pageSize int64
	pages    int64
	schema   schema
	version  int64
}

const (
	headerBytes = 100
	magic       = "SQLite format 3\x00"
)

// readHeader reads the header of a file that is not trusted and compares it
// with the size. Errors: damaged, too_new.
func readHeader(r io.ReaderAt, size int64) (h header, err error) {
	b := make([]byte, headerBytes)
	if _, err := r.ReadAt(b, 0); err != nil {
		return h, damaged("read header", "", fmt.Errorf("it is too short for a database: %w", err))
	}
	u32 := func(at int) int64 { return int64(binary.BigEndian.Uint32(b[at:])) }
	h.pageSize = int64(binary.BigEndian.Uint16(b[16:]))
	if h.pageSize == 1 {
		h.pageSize = 1 << 16
	}
	h.pages, h.version = u32(28), u32(60)
	for _, s := range []schema{memorySchema, controlSchema} {
		if u32(68) == s.applicationID {
			h.schema = s
		}
	}
	auto := u32(52) != 0 || u32(64) != 0
	for _, c := range []struct {
		wrong bool
		why   string
	}{
		{!bytes.HasPrefix(b, []byte(magic)), "it is not a SQLite database"},
		{h.pageSize < 512 || h.pageSize&(h.pageSize-1) != 0, "its page size is impossible"},
		{b[18] != b[19] || b[18] < 1 || b[18] > 2, "its format is not known"},
		{b[20] != 0 || b[21] != 64 || b[22] != 32 || b[23] != 32, "its pages are not laid out as Amber's"},
		{u32(24) != u32(92), "something other than SQLite has changed it"},
		{h.pages*h.pageSize != size, fmt.Sprintf("it counts %d pages of %d bytes, and has %d bytes", h.pages, h.pageSize, size)},
		{u32(44) != 4 || u32(56) != 1 || auto, "its format is not the one Amber uses"},
		{h.schema.file == "", "it is not an Amber database"},
		{h.version < 1, "it has no schema"},
	} {
		if c.wrong {
			return h, amber.Errorf(amber.KindDamaged, "read header", "", "%s", c.why)
		}
	}
	if h.version > h.schema.version() {
		return h, h.schema.judge(h.version, h.schema.file)
	}
	return h, nil
}

// maxSchemaPages bounds the tree that holds the schema. Amber's has fewer than
// ten pages.
const maxSchemaPages = 64

// checkSchemaTree walks the tree that SQLite reads before it answers anything,
// so that one that leads back to itself is never read.
func (h header) checkSchemaTree(r io.ReaderAt) error {
	seen := map[int64]bool{}
	next := []int64{1}
	page := make([]byte, h.pageSize)
	for len(next) > 0 {
		n := next[0]
		next = next[1:]
		if n < 1 || n > h.pages || seen[n] || len(seen) == maxSchemaPages {
			return amber.Errorf(amber.KindDamaged, "read schema", "", "page %d is not part of a tree", n)
		}
		seen[n] = true
		if _, err := r.ReadAt(page, (n-1)*h.pageSize); err != nil {
			return damaged("read schema", "", fmt.Errorf("page %d: %w", n, err))
		}
		children, err := childPages(n, page)
		if err != nil {
			return err
		}
		next = append(next, children...)
	}
	return nil
}

// childPages returns the pages below a page of a table, nothing for a leaf.
func childPages(number int64, page []byte) (children []int64, err error) {
	at := 0
	if number == 1 {
		at = headerBytes
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
