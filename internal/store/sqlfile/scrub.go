package sqlfile

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

// Secure delete leaves traces, which are overwritten here: when records move to another page,
// because others grew or came in between, their copies stay in the free middle of the old
// page, where deleting the records does not reach them.

const (
	selectPages = `SELECT pgno, data FROM sqlite_dbpage`
	selectPage  = `SELECT data FROM sqlite_dbpage WHERE pgno = ?`
	updatePage  = `UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1`
)

// Overwrite removes what deleted records have left in the file.
func Overwrite(t *sqlrows.Tx) error {
	if err := clearPages(t); err != nil {
		return fmt.Errorf("clear pages: %w", err)
	}
	return nil
}

// MaxPages is how many pages a file may have for a page that is part of a tree
// to be told by its first byte: other pages begin with the number of a page.
const MaxPages = 0x02000000

// clearPages overwrites the free middle of every page.
func clearPages(t *sqlrows.Tx) error {
	var dirty []int64
	err := t.Each(selectPages, nil, func(s sqlrows.Row) error {
		var number int64
		var page []byte
		if err := s.Scan(&number, &page); err != nil {
			return err
		}
		if number >= MaxPages {
			return amber.Errorf(amber.KindUnsupported, "erase memory", "", "the database has more than %d pages, too many to overwrite the erased text", MaxPages)
		}
		if len(bytes.Trim(Middle(number, page), "\x00")) > 0 {
			dirty = append(dirty, number)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, number := range dirty {
		var page []byte
		if err := t.Row(selectPage, number).Scan(&page); err != nil {
			return err
		}
		clear(Middle(number, page))
		if _, err := t.Exec(updatePage, number, page); err != nil {
			return err
		}
	}
	return nil
}

// Middle returns the part of a page between the list of its cells and the
// cells themselves, nothing where the page is not part of a tree.
func Middle(number int64, page []byte) []byte {
	header := 0
	if number == 1 {
		header = 100
	}
	begin := header
	switch page[header] {
	case 0x0a, 0x0d: // leaves
		begin += 8
	case 0x02, 0x05:
		begin += 12
	default:
		return nil
	}
	begin += 2 * int(binary.BigEndian.Uint16(page[header+3:]))
	end := int(binary.BigEndian.Uint16(page[header+5:]))
	if begin > end || end > len(page) {
		return nil
	}
	return page[begin:end]
}
