package s3

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"time"
)

// Waits between attempts grow from the first to the longest, each shortened by
// chance to between its half and its whole, so that writers that failed
// together do not come back together.
const (
	firstWait = 250 * time.Millisecond
	maxWait   = 8 * time.Second
)

// try makes attempts of f until one succeeds, fails for good or is the last.
// unsure is true if an attempt before the last one may have succeeded although its
// response was lost.
func (t *Target) try(ctx context.Context, e expect, f func(context.Context) error) (unsure bool, err error) {
	for n := 1; ; n++ {
		err = t.once(ctx, e, f)
		if err == nil || !again(err) || n == t.attempts {
			return unsure, err
		}
		unsure = unsure || !isUndone(err)
		if werr := t.wait(ctx, n); werr != nil {
			return unsure, werr
		}
	}
}

// isUndone reports whether a request that ended so has changed nothing.
func isUndone(err error) bool {
	a, ok := errors.AsType[*answer](err)
	return ok && a.didNothing()
}

// wait waits after the n-th attempt.
func (t *Target) wait(ctx context.Context, n int) error {
	d := maxWait
	if n < 16 {
		d = min(firstWait<<(n-1), maxWait)
	}
	chance, err := t.draw(8)
	if err != nil {
		return err
	}
	d -= time.Duration(binary.BigEndian.Uint64(chance) % uint64(d/2+1))
	return t.sleep(ctx, d)
}

// mark returns a text that no other write has.
func (t *Target) mark() (string, error) {
	b, err := t.draw(16)
	return hex.EncodeToString(b), err
}

func (t *Target) draw(n int) ([]byte, error) {
	b := make([]byte, n)
	t.randomMu.Lock()
	defer t.randomMu.Unlock()
	_, err := io.ReadFull(t.random, b)
	return b, err
}
