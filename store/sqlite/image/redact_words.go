package image

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/analyze"
	"github.com/amber-memory/amber/internal/sqlconn"
	"github.com/amber-memory/amber/store/sqlite/internal/sqlrows"
)

// selectLeaves reads the pages of the word index that hold terms. The number
// of such a page is that of its segment, shifted, and its place in it; pages of
// other kinds have a bit between. See fts5_index.c, "FTS5_SEGMENT_ROWID".
const selectLeaves = `SELECT block FROM memory_fts_data WHERE id >= 1 << 37 AND id & (63 << 31) = 0`

// checkWords compares every word of the index with the words of the secrets
// that were found. Words that the memories have as well were excused.
func (d *redaction) checkWords(ctx context.Context, path string) (err error) {
	secret := map[string]bool{}
	d.secrets.Words(func(word string) {
		for _, term := range analyze.Terms(word) {
			secret[term] = true
		}
	})
	if len(secret) == 0 {
		return nil
	}
	s, err := sqlconn.OpenUntrusted(ctx, sqlconn.UntrustedURI(path, nil))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return reader(ctx, s).Each(selectLeaves, nil, func(row scanner) error {
		var page []byte
		if err := row.Scan(&page); err != nil {
			return err
		}
		return eachTerm(page, func(term []byte) error {
			if secret[string(term)] || d.secrets.Holds(term) {
				return amber.Errorf(amber.KindInternal, "redact database", sqlrows.MemorySchema.File, "a word of a secret is left in the full-text index")
			}
			return nil
		})
	})
}

// eachTerm calls fn with every term of a page of a full-text index. The third
// and fourth byte tell where the list of offsets begins, each counted from the
// one before; a term begins with how many bytes it shares with the one before,
// which the first of a page does not say.
func eachTerm(page []byte, fn func(term []byte) error) error {
	const prefix = 1 // the first byte of a term says which index it is of
	wrong := sqlrows.Damaged("read full text", "", fmt.Errorf("a page of %d bytes is not a page of a full-text index", len(page)))
	if len(page) < 4 {
		return wrong
	}
	list := int(binary.BigEndian.Uint16(page[2:]))
	if list > len(page) {
		return wrong
	}
	var term []byte
	at := 0
	for i := list; i < len(page); {
		step, next := sqlrows.Varint(page, i)
		if next < 0 {
			return wrong
		}
		shared, begin := 0, 0
		if at += step; i > list {
			if shared, begin = sqlrows.Varint(page, at); begin < 0 {
				return wrong
			}
		} else {
			begin = at
		}
		length, begin := sqlrows.Varint(page, begin)
		if begin < 0 || begin+length > len(page) || shared > len(term) {
			return wrong
		}
		term = append(term[:shared], page[begin:begin+length]...)
		if len(term) > prefix {
			if err := fn(term[prefix:]); err != nil {
				return err
			}
		}
		i = next
	}
	return nil
}
