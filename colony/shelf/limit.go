package shelf

import (
	"context"
	"fmt"
	"path"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// fits returns nil when the file may get this content. Only for whoever has the
// turn. What it takes the place of does not count. Errors: invalid, quota.
func (s *Shelf) fits(ctx context.Context, v volume, op, name, content string) error {
	l, size := s.o.Limits, int64(len(content))
	if !utf8.ValidString(content) {
		return amber.Errorf(amber.KindInvalid, op, name, "the content is no UTF-8")
	}
	if size > l.MaxFile {
		return bad(amber.KindQuota, op, name, fmt.Errorf("it has %d bytes, and a file may have %d", size, l.MaxFile))
	}
	u, err := v.count(ctx, true)
	if err != nil {
		return err
	}
	replaced, there, err := v.size(op, path.Join(vaultDir, place(name)))
	if err != nil {
		return err
	}
	if used := u.bytes - replaced; size > l.Quota-used {
		return bad(amber.KindQuota, op, name, fmt.Errorf("it has %d bytes, and %d of %d are used", size, used, l.Quota))
	}
	if !there && u.files >= l.MaxFiles {
		return bad(amber.KindQuota, op, name, fmt.Errorf("%w: %d", ErrTooMany, l.MaxFiles))
	}
	return nil
}
