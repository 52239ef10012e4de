package repo

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// PutFile stores a file as blobs of 1 MiB, the last one of what is left, and
// returns its size and their ids. An empty file has none. It is stored when
// Flush has returned. Errors: invalid for a file that is too large; those of
// [Writer.Put]; those of r, as they are.
func (w *Writer) PutFile(ctx context.Context, r io.Reader) (size int64, parts []ID, err error) {
	buf := w.part()
	defer w.parts.Put(buf)
	for {
		n, rerr := io.ReadFull(r, *buf)
		if rerr != nil && rerr != io.EOF && !errors.Is(rerr, io.ErrUnexpectedEOF) {
			return size, parts, rerr
		}
		if n == 0 {
			return size, parts, nil
		}
		if size += int64(n); size > maxFileSize {
			return size, parts, amber.Errorf(amber.KindInvalid, "store file", "", "the file is too large")
		}
		id, err := w.Put(ctx, KindFile, (*buf)[:n])
		if err != nil {
			return size, parts, err
		}
		parts = append(parts, id)
		if rerr != nil {
			return size, parts, nil
		}
	}
}

// part returns a buffer for a part of a file.
func (w *Writer) part() *[]byte {
	if b, ok := w.parts.Get().(*[]byte); ok {
		return b
	}
	b := make([]byte, FilePartBytes)
	return &b
}

// PutTree stores a folder. The entries may have any order and stay as they
// are. Errors: invalid for a bad name, for two names that are alike or differ only
// in case, for an entry that does not fit its mode, and in an encrypted
// repository for one that names a blob which is not encrypted; those of
// [Writer.Put].
func (w *Writer) PutTree(ctx context.Context, entries []TreeEntry) (ID, error) {
	if len(entries) > MaxTreeEntries {
		return ID{}, amber.Errorf(amber.KindInvalid, "store folder", "",
			"folder has %d entries, want at most %d", len(entries), MaxTreeEntries)
	}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b TreeEntry) int { return strings.Compare(a.Name, b.Name) })
	if err := checkTree(entries); err != nil {
		return ID{}, amber.Errorf(amber.KindInvalid, "store folder", "", "%w", err)
	}
	for i := range entries {
		e := &entries[i]
		ids := e.Parts
		if e.Mode == ModeDir {
			ids = []ID{e.Tree}
		}
		if err := w.onlySealed("store folder", ids); err != nil {
			return ID{}, err
		}
	}
	return w.Put(ctx, KindTree, marshalTree(entries))
}
