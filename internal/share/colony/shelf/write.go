package shelf

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
)

// Put writes a file, whatever was there. It keeps the time at which a file of
// that name was first put. Errors also: invalid for a name or a text that is not
// taken (ErrName, ErrExtension); quota.
func (s *Shelf) Put(ctx context.Context, name, content string) (colony.FileInfo, error) {
	return s.change(ctx, change{op: "put file", name: name, heals: true, text: func(volume, *header) (string, error) { return content, nil }})
}

// PutIf is Put under a condition. Errors also: conflict, ErrChanged; damaged,
// because the condition cannot be checked against a damaged file.
func (s *Shelf) PutIf(ctx context.Context, name, content string, c colony.Condition) (colony.FileInfo, error) {
	const op = "put file"
	if c.Absent == (c.Version != "") {
		return colony.FileInfo{}, amber.Errorf(amber.KindInvalid, op, name, "a condition is either Absent or one Version")
	}
	return s.change(ctx, change{op: op, name: name, text: func(_ volume, old *header) (string, error) {
		if c.Absent != (old == nil) || old != nil && old.SHA256 != c.Version {
			return "", bad(amber.KindConflict, op, name, ErrChanged)
		}
		return content, nil
	}})
}

// Append adds to the end of a file, which is made when it is not there. Appending
// twice appends twice. Errors: those of Put.
func (s *Shelf) Append(ctx context.Context, name, content string) (colony.FileInfo, error) {
	const op = "append to file"
	return s.change(ctx, change{op: op, name: name, text: func(v volume, old *header) (string, error) {
		if old == nil {
			return content, nil
		}
		_, text, err := get(v, op, name)
		return text + content, err
	}})
}

// Delete removes a file, also a damaged one. Errors also: not_found; invalid,
// ErrName.
func (s *Shelf) Delete(ctx context.Context, name string) error {
	const op = "delete file"
	if err := checkName(op, name); err != nil {
		return err
	}
	return s.write(ctx, func(v volume) error { return v.remove(op, name) })
}

// change is a new content of one file.
type change struct {
	op, name string
	heals    bool // it may take the place of a damaged file
	// text returns the new content; old is nil when there is no file. A conflict
	// it returns leaves the shelf only when what was seen is durable.
	text func(v volume, old *header) (string, error)
}

// change makes a change.
func (s *Shelf) change(ctx context.Context, c change) (colony.FileInfo, error) {
	if err := s.o.Limits.mayBeNew(c.op, c.name); err != nil {
		return colony.FileInfo{}, err
	}
	var h header
	err := s.write(ctx, func(v volume) error {
		old, err := known(v, c.op, c.name, c.heals)
		if err != nil {
			return err
		}
		content, err := c.text(v, old)
		if err != nil {
			return settled(v, c.op, c.name, err)
		}
		if err := s.fits(ctx, v, c.op, c.name, content); err != nil {
			return err
		}
		h = newHeader(c.name, content, s.now(), s.now())
		if old != nil {
			h.CreatedAt = old.CreatedAt
		}
		return put(v, c.op, h, content)
	})
	if err != nil {
		return colony.FileInfo{}, err
	}
	return h.info(), nil
}
