package sqlite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/sqlconn"
)

// header is what the first 100 bytes of a database say, as far as it must be
// what we write. See https://www.sqlite.org/fileformat.html.
type header struct {
	pageSize int64
	pages    int64
	schema   schema
	version  int64
}

// readHeader reads the header of a file that is not trusted and compares it
// with the size. Errors: damaged, too_new.
func readHeader(r io.ReaderAt, size int64) (h header, err error) {
	b := make([]byte, sqlconn.HeaderBytes)
	if _, err := r.ReadAt(b, 0); err != nil {
		return h, damaged("read header", "", fmt.Errorf("it is too short for a database: %w", err))
	}
	u32 := func(at int) int64 { return int64(binary.BigEndian.Uint32(b[at:])) }
	h.pageSize = sqlconn.PageSize(b)
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
		{!bytes.HasPrefix(b, []byte(sqlconn.Magic)), "it is not a SQLite database"},
		{h.pageSize == 0, "its page size is impossible"},
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
