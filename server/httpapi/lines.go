package httpapi

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
)

// eachPage emits the items of a page and of those behind it, as many as the
// limit says, or all of them without one.
func eachPage[T any](ctx context.Context, p paging, read func(paging) (amber.Page[T], error), emit func(any) error) error {
	left, bounded := p.Limit, p.Limit > 0
	if left < 0 {
		return invalid("limit is negative, want 0 or more")
	}
	for {
		p.Limit = amber.MaxPageSize
		if bounded {
			p.Limit = min(left, amber.MaxPageSize)
		}
		page, err := read(p)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if err := emit(item); err != nil {
				return err
			}
		}
		left -= len(page.Items)
		if page.Next == "" || bounded && left <= 0 {
			return ctx.Err()
		}
		p.Cursor = page.Next
	}
}

// streamLines answers one item a line. An error before the first line is an
// answer as any other; one after it is the last line, {"error":{...}}, so that
// nobody takes a part for the whole.
func (a *API) streamLines(w http.ResponseWriter, r *http.Request, o *operation, run func(ctx context.Context, ag *server.Agent, emit func(any) error) error) {
	long := *o // the whole of a listing takes more time than a page
	long.long = true
	taken := func() {}
	defer func() { taken() }()
	ctx, stop := a.watch(w, r, o)
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
	err := a.do(ctx, &long, a.job(r, o), func(ctx context.Context, ag *server.Agent) ([]string, string, error) {
		return nil, "", run(ctx, ag, func(item any) error {
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
