package shelf

import (
	"context"
	"fmt"
	"path"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// fits returns nil when the file may get this content. The bytes of the file that it replaces do not count. Only for
// the holder of the turn. Errors: invalid, quota.
func (s *Shelf) fits(ctx context.Context, v volume, op, name, content string) error {
	l := s.o.Limits
	u, err := count(ctx, v, true)
	if err != nil {
		return err
	}
	replaced, there, err := size(v, op, path.Join(vaultDir, place(name)))
	if err != nil {
		return err
	}
	if err := l.takes(op, name, content, u.bytes-replaced); err != nil {
		return err
	}
	if !there && u.files >= l.MaxFiles {
		return bad(amber.KindQuota, op, name, fmt.Errorf("%w: %d", ErrTooMany, l.MaxFiles))
	}
	return nil
}

// takes returns nil for a content that fits beside so many bytes of others.
// Errors: invalid, quota.
func (l Limits) takes(op, name, content string, used int64) error {
	switch size := int64(len(content)); {
	case !utf8.ValidString(content):
		return amber.Errorf(amber.KindInvalid, op, name, "the content is not UTF-8")
	case size > l.MaxFile:
		return bad(amber.KindQuota, op, name, fmt.Errorf("the content has %d bytes, want at most %d", size, l.MaxFile))
	case size > l.Quota-used:
		return bad(amber.KindQuota, op, name, fmt.Errorf("the content has %d bytes, and %d of %d are used", size, used, l.Quota))
	}
	return nil
}
