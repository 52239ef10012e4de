package httpapi

import (
	"cmp"
	"context"
	"strconv"

	"github.com/amber-memory/amber/server"
)

// respond makes the answer to an operation as the caller is told it: a caller that may
// change something and may not read gets a receipt without stored text. A tag
// that is no number is a digest, by which a text can be guessed: a receipt has
// none.
func respond[T any](ctx context.Context, o *operation, out answer[T]) (response, error) {
	status := cmp.Or(o.status, out.status)
	_, none := any(out.body).(nothing)
	if !o.mutates || none || server.CallerOf(ctx).MayRead() {
		return newResponse(status, out.etag, out.body)
	}
	if _, err := strconv.ParseInt(out.etag, 10, 64); err != nil {
		out.etag = ""
	}
	receipt, err := server.Receipt(out.body, o.echo...)
	if err != nil {
		return response{}, err
	}
	return newResponse(status, out.etag, receipt)
}
