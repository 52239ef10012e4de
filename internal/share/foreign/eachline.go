package foreign

import (
	"context"
	"errors"
)

// ErrEnough ends a reading whose caller has found what it looks for.
var ErrEnough = errors.New("the rest of the file is not needed")

// EachLine calls fn with the number, from 1, and the bytes of every line of a file that is not empty; the bytes are valid
// until fn returns. It calls skip with what cannot be read. The error is that of fn or of ctx; there is none for
// [ErrEnough].
func (f File) EachLine(ctx context.Context, skip SkipFunc, fn func(n int64, line []byte) error) error {
	r, err := f.Open()
	if err != nil {
		skip(f.Place(""), "%v", err)
		return nil
	}
	defer r.Close()
	var told error // of fn, which is not about the file
	err = eachLine(r, func(n int64, line []byte) error {
		if told = ctx.Err(); told == nil {
			told = fn(n, line)
		}
		return told
	}, func(n int64, reason string) { skip(f.Line(n), "%s", reason) })
	switch {
	case errors.Is(told, ErrEnough):
		return nil
	case told == nil && err != nil:
		skip(f.Place(""), "%v", err)
	}
	return told
}
