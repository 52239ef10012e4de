package image

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/wire"
)

// batchBytes is how much of a database is handed out at a time: enough that
// handing over costs nothing, little enough for the caches of a processor.
const batchBytes = 256 << 10

// ReadPages implements [wire.FrozenDatabase]. The pages are SQLite's own view
// of them: those of the write-ahead log are in their places, and the page that
// holds no data because locks lie on it is zeros.
func (f *frozenDatabase) ReadPages(ctx context.Context, fn func(pages []byte) error) error {
	err := f.readPages(ctx, fn)
	if err == nil && f.still != nil {
		err = f.still()
	}
	return sqlconn.Wrap("read pages", f.path, err)
}

// WriteFile writes the pages of a frozen database to a new file, see [fsx.Build].
func WriteFile(ctx context.Context, fsys fsx.FS, d wire.FrozenDatabase, path string) error {
	return fsx.BuildWith(fsys, path, 0o600, func(f fsx.File) error {
		return d.ReadPages(ctx, func(pages []byte) error {
			_, err := f.Write(pages)
			return err
		})
	})
}

func (f *frozenDatabase) readPages(ctx context.Context, fn func(pages []byte) error) error {
	f.Info()
	q, err := f.r.prepare("SELECT data FROM sqlite_dbpage")
	if err != nil {
		return err
	}
	defer q.close()
	size := f.info.PageSize
	batch := make([]byte, 0, max(batchBytes/size, 1)*size)
	var n int64
	for {
		more, err := q.step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		page := q.bytes(0)
		if len(page) != size {
			return sqlrows.Damaged("read pages", f.path, fmt.Errorf("page %d has %d bytes, want %d", n+1, len(page), size))
		}
		n++
		if f.info.Damage == "" && f.schema != nil {
			f.info.Damage = unsound(n, f.info.Pages, page)
		}
		batch = append(batch, page...)
		if len(batch) < cap(batch) {
			continue
		}
		if err := handOut(ctx, fn, batch); err != nil {
			return err
		}
		batch = batch[:0]
	}
	if n != f.info.Pages {
		return sqlrows.Damaged("read pages", f.path, fmt.Errorf("%[2]d of %[1]d pages were read", f.info.Pages, n))
	}
	return handOut(ctx, fn, batch)
}

func handOut(ctx context.Context, fn func([]byte) error, pages []byte) error {
	if err := ctx.Err(); err != nil || len(pages) == 0 {
		return err
	}
	return fn(pages)
}

// unsound says what is wrong with a page of one of our databases as far as its
// first bytes tell: a page is part of a tree, or begins with the number of
// another page, or is empty.
func unsound(number, pages int64, page []byte) string {
	header, least := 0, 8
	if number == 1 {
		header = 100
	}
	switch page[header] {
	case 0x0a, 0x0d: // leaves
	case 0x02, 0x05:
		least = 12
	default:
		if next := int64(binary.BigEndian.Uint32(page)); number == 1 || next > pages {
			return fmt.Sprintf("page %d belongs to no table, index or list", number)
		}
		return ""
	}
	if pages >= sqlfile.MaxPages {
		return "" // the first byte does not tell
	}
	cells := int(binary.BigEndian.Uint16(page[header+3:]))
	content := int(binary.BigEndian.Uint16(page[header+5:]))
	if content == 0 {
		content = 1 << 16
	}
	if header+least+2*cells > content || content > len(page) {
		return fmt.Sprintf("page %d has more cells than fit", number)
	}
	return ""
}
