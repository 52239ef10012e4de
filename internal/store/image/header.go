package image

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// Header is what the first 100 bytes of a database say, as far as it must be
// what we write. See https://www.sqlite.org/fileformat.html.
type Header struct {
	PageSize int64
	Pages    int64
	Schema   sqlfile.Schema
	Version  int64
}

// ReadHeader reads the header of a file that is not trusted and compares it
// with the size. Errors: damaged, too_new.
func ReadHeader(r io.ReaderAt, size int64) (h Header, err error) {
	b := make([]byte, sqlconn.HeaderBytes)
	if _, err := r.ReadAt(b, 0); err != nil {
		return h, sqlrows.Damaged("read header", "", fmt.Errorf("the file is too short for a database: %w", err))
	}
	u32 := func(at int) int64 { return int64(binary.BigEndian.Uint32(b[at:])) }
	h.PageSize = sqlconn.PageSize(b)
	h.Pages, h.Version = u32(28), u32(60)
	for _, s := range []sqlfile.Schema{sqlfile.MemorySchema, sqlfile.ControlSchema} {
		if u32(68) == s.ApplicationID {
			h.Schema = s
		}
	}
	auto := u32(52) != 0 || u32(64) != 0
	for _, c := range []struct {
		wrong bool
		why   string
	}{
		{!bytes.HasPrefix(b, []byte(sqlconn.Magic)), "the file is not a SQLite database"},
		{h.PageSize == 0, "the page size is not a power of two from 512 to 65536"},
		{b[18] != b[19] || b[18] < 1 || b[18] > 2, "the format version is not known"},
		{b[20] != 0 || b[21] != 64 || b[22] != 32 || b[23] != 32, "the page layout is not the one Amber writes"},
		{u32(24) != u32(92), "the header was changed by a program other than SQLite"},
		{h.Pages*h.PageSize != size, fmt.Sprintf("the header counts %d pages of %d bytes, the file has %d bytes", h.Pages, h.PageSize, size)},
		{u32(44) != 4 || u32(56) != 1 || auto, "the format is not the one Amber writes"},
		{h.Schema.File == "", "the file is not an Amber database"},
		{h.Version < 1, "the file has no schema number"},
	} {
		if c.wrong {
			return h, amber.Errorf(amber.KindDamaged, "read header", "", "%s", c.why)
		}
	}
	if h.Version > h.Schema.Version() {
		return h, h.Schema.Judge(h.Version, h.Schema.File)
	}
	return h, nil
}
