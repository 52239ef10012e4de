package api

import (
	"fmt"
	"time"
)

// later is an error of a vault that says when to ask again.
type later struct {
	err   error
	after time.Duration // 0: it did not say how long
}

func (l *later) Error() string {
	if l.after == 0 {
		return l.err.Error()
	}
	return fmt.Sprintf("%v; the vault asks to wait %s", l.err, l.after)
}

func (l *later) Unwrap() error { return l.err }

// RetryAfter is how long the vault asks to wait, 0 where it does not say. It asks
// everybody who shows the same key. A caller that tries again by itself finds it with
// [errors.As].
func (l *later) RetryAfter() time.Duration { return l.after }
