package sqlpages

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// Bounds of a file.
const (
	MaxPages       = 4 << 20 // 16 GiB of pages of the usual size
	maxSchemaBytes = 4 << 20 // of all objects of a schema
	maxSchemaRows  = 10_000
)

const schemaRoot = 1

// Image is a database file that SQLite reads as far as it was walked. It is for one goroutine at a time.
type Image struct {
	r        io.ReaderAt
	pageSize int64
	usable   int64 // bytes of a page that hold cells
	pages    int64
	first    []byte // page 1, as SQLite is shown it
	met      []uint64
}

// Tally is how much a table holds.
type Tally struct {
	Rows  int64
	Bytes int64 // of all rows, as they are stored
}

// Open looks at the header of a file of size bytes and walks its schema, which SQLite reads before the first query. Errors:
// damaged; invalid for more pages or a larger schema than the limits.
func Open(ctx context.Context, r io.ReaderAt, size int64) (*Image, error) {
	i := &Image{r: r}
	head := make([]byte, sqlconn.HeaderBytes)
	if _, err := r.ReadAt(head, 0); err != nil || string(head[:len(sqlconn.Magic)]) != sqlconn.Magic {
		return nil, damaged("the file does not begin as a SQLite database does")
	}
	if err := i.readHeader(head, size); err != nil {
		return nil, err
	}
	i.met = make([]uint64, i.pages/64+1)
	if err := i.readFirst(); err != nil {
		return nil, err
	}
	schema, err := i.Walk(ctx, schemaRoot)
	if err == nil && (schema.Rows > maxSchemaRows || schema.Bytes > maxSchemaBytes) {
		err = amber.Errorf(amber.KindInvalid, op, "", "the schema has %d objects in %d bytes, the limits are %d and %d",
			schema.Rows, schema.Bytes, maxSchemaRows, maxSchemaBytes)
	}
	return i, err
}

const op = "check pages"

func damaged(format string, args ...any) error {
	return amber.Errorf(amber.KindDamaged, op, "", format, args...)
}

// readHeader takes over what the header says of the pages.
func (i *Image) readHeader(head []byte, size int64) error {
	i.pageSize = sqlconn.PageSize(head)
	i.usable = i.pageSize - int64(head[20])
	if i.pageSize == 0 || i.usable < 480 {
		return damaged("page size in the header is %d with %d bytes reserved, want a power of two from 512 to 65536 and at least 480 bytes used",
			binary.BigEndian.Uint16(head[16:]), head[20])
	}
	i.pages = size / i.pageSize
	if binary.BigEndian.Uint32(head[24:]) == binary.BigEndian.Uint32(head[92:]) { // otherwise an old program wrote the file last
		if n := int64(binary.BigEndian.Uint32(head[28:])); n > 0 {
			if n > i.pages {
				return damaged("the header says %d pages of %d bytes, the file has %d bytes", n, i.pageSize, size)
			}
			i.pages = n
		}
	}
	switch {
	case i.pages < 1:
		return damaged("the file has %d bytes, want at least one page of %d", size, i.pageSize)
	case i.pages > MaxPages:
		return amber.Errorf(amber.KindInvalid, op, "", "the file has %d pages, the limit is %d", i.pages, MaxPages)
	case head[18] > 2 || head[19] > 2:
		return damaged("the file is of version %d of the format, want 1 or 2", max(head[18], head[19]))
	}
	return nil
}

// readFirst makes page 1 as SQLite is shown it: without a log, a list of free pages or a map of pointers, so that SQLite reads
// nothing but trees.
func (i *Image) readFirst() error {
	i.first = make([]byte, i.pageSize)
	if _, err := i.r.ReadAt(i.first, 0); err != nil {
		return damaged("page 1 cannot be read: %w", err)
	}
	b := i.first
	b[18], b[19] = 1, 1
	binary.BigEndian.PutUint32(b[28:], uint32(i.pages))
	clear(b[32:40])          // free pages
	clear(b[52:56])          // the map of pointers
	clear(b[64:68])          // and how it is vacuumed
	copy(b[92:96], b[24:28]) // the number of pages counts
	return nil
}

// Size returns how many bytes SQLite is shown.
func (i *Image) Size() int64 { return i.pages * i.pageSize }

// ReadAt reads bytes of pages that were walked. It is an error to read another page.
func (i *Image) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		at := off + int64(n)
		number := at/i.pageSize + 1
		if number > i.pages {
			return n, io.EOF
		}
		if !i.has(number) {
			return n, damaged("page %d is not part of what was checked", number)
		}
		part := p[n:min(int64(len(p)), int64(n)+number*i.pageSize-at)]
		m := len(part)
		if number == 1 {
			copy(part, i.first[at:])
		} else {
			m, err = i.r.ReadAt(part, at)
		}
		if n += m; m == len(part) {
			err = nil
		}
	}
	return n, err
}

func (i *Image) has(page int64) bool { return i.met[page/64]&(1<<(page%64)) != 0 }

// meet notes a page that another one names. Each page is named once.
func (i *Image) meet(page int64) error {
	switch {
	case page < 1 || page > i.pages:
		return damaged("page %d is named, the file has %d pages", page, i.pages)
	case i.has(page):
		return damaged("page %d is named twice", page)
	}
	i.met[page/64] |= 1 << (page % 64)
	return nil
}

// page reads a page.
func (i *Image) page(number int64) ([]byte, error) {
	if number == 1 {
		return i.first, nil
	}
	b := make([]byte, i.pageSize)
	if n, err := i.r.ReadAt(b, (number-1)*i.pageSize); n < len(b) {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("the file ends at byte %d", (number-1)*i.pageSize+int64(n))
		}
		return nil, damaged("page %d cannot be read: %w", number, err)
	}
	return b, nil
}
