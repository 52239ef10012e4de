package httpapi

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// lines answers one item a line. An error before the first line is an answer as any other; one after it is the last
// line, {"error":{...}}, so that the caller does not take a part for the whole.
func (q *request) lines() {
	a, w, r := q.api, q.w, q.r
	taken := func() {}
	defer func() { taken() }()
	ctx, stop := q.watch()
	defer stop()
	var out io.Writer = w
	var z *gzip.Writer
	lines := 0
	start := func() {
		shared(w.Header())
		w.Header().Set("Content-Type", typeLines)
		if acceptsGzip(r) {
			w.Header().Set("Content-Encoding", "gzip")
			z = gzip.NewWriter(w)
			out = z
		}
	}
	emit := func(item any) error {
		b, err := marshal(item)
		if err != nil {
			return err
		}
		if lines == 0 {
			start()
		}
		if lines%amber.DefaultPageSize == 0 { // the reader is given time
			taken()
			taken = hurry(w, a.o.Timeout)
		}
		lines++
		if _, err = out.Write(b); err != nil {
			return gone(err)
		}
		return nil
	}
	err := q.do(ctx, q.job(), func(ctx context.Context, c *op.Call) error {
		c.House = a.house
		return q.Each(ctx, c, q.in, func(item any) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return emit(item)
		})
	})
	if revoked := revokedError(ctx); err != nil && revoked != nil {
		err = revoked
	}
	switch {
	case errors.Is(err, errGone):
		a.failure(w, r, err)
		return
	case err != nil && lines == 0:
		a.fail(w, r, err)
		return
	case err != nil:
		err = emit(a.failure(w, r, err))
	case lines == 0:
		start()
		taken = hurry(w, a.o.Timeout)
	}
	if z != nil {
		err = errors.Join(err, z.Close())
	}
	err = errors.Join(err, http.NewResponseController(w).Flush()) // while it is hurried
	_ = err                                                       // the caller is gone, and there is no other reader to tell
}
