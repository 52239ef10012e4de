package shelf

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
)

// Move gives a file another name. Its content, its version and the time at which
// it was first put stay. After a power cut on the way both files may be there,
// never none. Errors also: not_found; invalid, also when both names are the same;
// conflict, ErrExists, when the destination is there and may not be overwritten.
func (s *Shelf) Move(ctx context.Context, from, to string, overwrite bool) (colony.FileInfo, error) {
	const op = "move file"
	return s.transfer(ctx, op, from, to, overwrite, func(v volume, h header, content string, _ *header) (header, error) {
		moved := newHeader(to, content, h.CreatedAt, s.now())
		if err := put(v, op, moved, content); err != nil {
			return header{}, err
		}
		return moved, v.remove(op, from)
	})
}

// Copy puts the content of a file under another name too. It is a new file for
// the limits and for its times. Errors: those of Move and Put.
func (s *Shelf) Copy(ctx context.Context, from, to string, overwrite bool) (colony.FileInfo, error) {
	const op = "copy file"
	return s.transfer(ctx, op, from, to, overwrite, func(v volume, _ header, content string, old *header) (header, error) {
		if err := s.fits(ctx, v, op, to, content); err != nil {
			return header{}, err
		}
		h := newHeader(to, content, s.now(), s.now())
		if old != nil {
			h.CreatedAt = old.CreatedAt
		}
		return h, put(v, op, h, content)
	})
}

// transfer runs fn on the file from, with what lies at to, after a look that it
// may be replaced.
func (s *Shelf) transfer(ctx context.Context, op, from, to string, overwrite bool, fn func(v volume, h header, content string, old *header) (header, error)) (colony.FileInfo, error) {
	if err := checkName(op, from); err != nil {
		return colony.FileInfo{}, err
	}
	if err := s.o.Limits.mayBeNew(op, to); err != nil {
		return colony.FileInfo{}, err
	}
	if from == to {
		return colony.FileInfo{}, amber.Errorf(amber.KindInvalid, op, from, "source and destination are the same")
	}
	var done header
	err := s.write(ctx, func(v volume) error {
		h, content, err := get(v, op, from)
		if err != nil {
			return err
		}
		old, err := known(v, op, to, overwrite)
		if err != nil {
			return err
		}
		if old != nil && !overwrite {
			return settled(v, op, to, bad(amber.KindConflict, op, to, ErrExists))
		}
		done, err = fn(v, h, content, old)
		return err
	})
	if err != nil {
		return colony.FileInfo{}, err
	}
	return done.info(), nil
}
