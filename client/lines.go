package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

const typeLines = "application/x-ndjson"

// lines reads a listing that comes with one item on each line, however long it
// is. Errors: that of the last line where the server could not go on; damaged
// for a line that is not valid.
func lines[T any](ctx context.Context, a *Agent, query url.Values, elements ...string) ([]T, error) {
	r := request{method: http.MethodGet, path: a.path(elements...), query: query}
	return insist(ctx, a.c, r, func() ([]T, error) {
		// However long it is, the next line comes in time.
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		silent := time.AfterFunc(a.c.o.Patience, func() { cancel(errSilent) })
		defer silent.Stop()
		resp, err := a.c.send(ctx, r, nil, typeLines)
		if err != nil {
			return nil, err
		}
		defer drain(resp.Body)
		if resp.StatusCode/100 != 2 {
			return nil, failure(resp)
		}
		if err := answerType(resp, typeLines); err != nil {
			return nil, err
		}
		return readLines[T](ctx, resp.Body, func() { silent.Reset(a.c.o.Patience) })
	})
}

// readLines reads every line, and tells of each that came.
func readLines[T any](ctx context.Context, body io.Reader, came func()) ([]T, error) {
	all := []T{}
	s := bufio.NewScanner(body)
	s.Buffer(nil, maxAnswer)
	for s.Scan() {
		came()
		item, err := readLine[T](s.Bytes())
		if err != nil && s.Err() == nil {
			return nil, err
		}
		if err != nil {
			break // half a line: the rest did not come
		}
		all = append(all, item)
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, tooLarge(maxAnswer)
	case err != nil:
		return nil, brokenOff(ctx, err)
	}
	return all, nil
}

// readLine reads one line: an item, or why there are no more.
func readLine[T any](b []byte) (item T, err error) {
	var f wire.Failure
	if bytes.HasPrefix(b, []byte(`{"error":`)) && json.Unmarshal(b, &f) == nil && f.Error.Kind != "" {
		return item, f.Err()
	}
	if !utf8.Valid(b) { // JSON would mend it
		return item, amber.Errorf(amber.KindDamaged, "read answer", "", "the answer is not UTF-8")
	}
	if err := json.Unmarshal(b, &item); err != nil {
		return item, &amber.Error{Op: "read answer", Kind: amber.KindDamaged, Err: err}
	}
	return item, nil
}
