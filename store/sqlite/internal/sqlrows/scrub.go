package sqlrows

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/amber-memory/amber"
)

// Secure delete leaves two kinds of traces, which scrub removes:
//
// A page of a full-text index is found by its separator, the beginning of
// what was its first term when the page was written. Deleting the term takes
// it off the page and leaves the separator, which can be the whole term.
//
// When records move to another page, because others grew or came in between,
// their copies stay in the free middle of the old page, where deleting the
// records does not reach them.

// indexes are the statements that scrub the separators of each full-text
// index. The first page of a segment has an empty one. A page that a merge has
// used up is gone before its separator is.
var indexes = []struct{ flush, separators, replace, remove string }{
	{
		`INSERT INTO memory_fts (memory_fts) VALUES ('flush')`,
		`SELECT i.segid, i.term, d.block FROM memory_fts_idx i
LEFT JOIN memory_fts_data d ON d.id = (i.segid << 37) + (i.pgno >> 1) WHERE length(i.term) > 0`,
		`UPDATE memory_fts_idx SET term = ?3 WHERE segid = ?1 AND term = ?2`,
		`DELETE FROM memory_fts_idx WHERE segid = ?1 AND term = ?2`,
	},
	{
		`INSERT INTO memory_grams (memory_grams) VALUES ('flush')`,
		`SELECT i.segid, i.term, d.block FROM memory_grams_idx i
LEFT JOIN memory_grams_data d ON d.id = (i.segid << 37) + (i.pgno >> 1) WHERE length(i.term) > 0`,
		`UPDATE memory_grams_idx SET term = ?3 WHERE segid = ?1 AND term = ?2`,
		`DELETE FROM memory_grams_idx WHERE segid = ?1 AND term = ?2`,
	},
}

const (
	selectPages = `SELECT pgno, data FROM sqlite_dbpage`
	selectPage  = `SELECT data FROM sqlite_dbpage WHERE pgno = ?`
	updatePage  = `UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1`
)

// Scrub removes what deleted records have left in the file. It comes after
// everything that deletes in its transaction.
func (t *Tx) Scrub() error {
	for _, x := range indexes {
		if _, err := t.Exec(x.flush); err != nil {
			return fmt.Errorf("flush full text: %w", err)
		}
		stale, err := t.staleSeparators(x.separators)
		if err != nil {
			return fmt.Errorf("read separators: %w", err)
		}
		for _, s := range stale {
			if s.first == nil {
				_, err = t.Exec(x.remove, s.segment, s.term)
			} else {
				_, err = t.Exec(x.replace, s.segment, s.term, s.first)
			}
			if err != nil {
				return fmt.Errorf("replace separator: %w", err)
			}
		}
	}
	if err := t.clearPages(); err != nil {
		return fmt.Errorf("clear pages: %w", err)
	}
	return nil
}

// separator leads to a page of a full-text index. The first term of the page
// separates it from the page before just as well.
type separator struct {
	segment int64
	term    []byte
	first   []byte // the first term of the page; nil where the page is gone
}

// staleSeparators returns the separators that are not the beginning of their
// page's first term.
func (t *Tx) staleSeparators(query string) (stale []separator, err error) {
	err = t.Each(query, nil, func(row scanner) error {
		var s separator
		var page []byte
		if err := row.Scan(&s.segment, &s.term, &page); err != nil {
			return err
		}
		if page != nil {
			if s.first = FirstTerm(page); s.first == nil {
				return Damaged("read full text", "", fmt.Errorf("a page of index segment %d has no terms", s.segment))
			}
		}
		if !bytes.HasPrefix(s.first, s.term) {
			stale = append(stale, s)
		}
		return nil
	})
	return stale, err
}

// FirstTerm returns the first term of a page of a full-text index, nil where
// it has none. The third and fourth byte tell where the list of offsets of
// the terms begins; a term is its length and its bytes.
func FirstTerm(page []byte) []byte {
	if len(page) < 4 {
		return nil
	}
	offset, end := Varint(page, int(binary.BigEndian.Uint16(page[2:])))
	if end < 0 {
		return nil
	}
	length, begin := Varint(page, offset)
	if begin < 0 || begin+length > len(page) {
		return nil
	}
	return page[begin : begin+length]
}

// Varint reads a number below 2^28 at an offset and returns where it ends, -1
// where there is none.
func Varint(b []byte, at int) (v, end int) {
	for i := at; i < min(len(b), at+4); i++ {
		v = v<<7 | int(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, -1
}

// MaxPages is how many pages a file may have for a page that is part of a tree
// to be told by its first byte: other pages begin with the number of a page.
const MaxPages = 0x02000000

// clearPages overwrites the free middle of every page.
func (t *Tx) clearPages() error {
	var dirty []int64
	err := t.Each(selectPages, nil, func(s scanner) error {
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
