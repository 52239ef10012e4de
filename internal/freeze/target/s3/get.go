package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

const opGet = "get object"

// Get implements [target.Target]. The reader goes on where it was when the
// connection breaks or stands still, as often as the target's options permit.
// It returns kind damaged when the object was exchanged meanwhile, not_found
// when it was deleted, and kind unreachable once ctx is over. It is not safe
// for concurrent use; Close may be called twice.
func (t *Target) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if err := target.Admit(ctx, opGet, name); err != nil {
		return nil, err
	}
	s, err := t.open(ctx, t.key(name), offset, length)
	switch {
	case isAbsent(err):
		return nil, absent(name)
	case err != nil:
		return nil, failure(ctx, opGet, name, err)
	}
	length, err = target.Within(opGet, name, s.size, offset, length)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	o := &object{target: t, ctx: ctx, name: name, etag: s.etag, size: s.size, offset: offset, left: length, stream: s}
	if s.offset != offset || length == 0 {
		return o, o.drop()
	}
	return o, nil
}

func absent(name string) error {
	return amber.Errorf(amber.KindNotFound, opGet, name, "no such object")
}

// open asks for a range. A range that HTTP cannot express, and one that is not in the object,
// becomes the whole object; the caller then checks the range against the size of the object.
func (t *Target) open(ctx context.Context, key string, offset, length int64) (s *stream, err error) {
	whole := offset <= 0 && length < 0 || length == 0 || offset < 0 || offset > MaxObjectBytes || length > MaxObjectBytes
	if whole {
		offset, length = 0, -1
	}
	for n := 1; ; n++ {
		s, err = t.fetch(ctx, key, offset, length, "")
		if answered(err, http.StatusRequestedRangeNotSatisfiable) && !whole {
			return t.open(ctx, key, 0, -1)
		}
		if err == nil || !again(err) || n == t.attempts {
			return s, err
		}
		if err := t.wait(ctx, n); err != nil {
			return nil, err
		}
	}
}

// stream is the answer to one request for an object.
type stream struct {
	attempt *attempt
	body    io.ReadCloser
	etag    string
	size    int64 // of the object
	offset  int64 // of the first byte that comes
}

// Close ends the attempt.
func (s *stream) Close() error {
	s.attempt.end()
	_ = s.body.Close() // it says that the attempt is over
	return nil
}

// fetch makes one attempt to open a range; a negative length means to the end.
// With an etag it must be that object.
func (t *Target) fetch(ctx context.Context, key string, offset, length int64, etag string) (*stream, error) {
	var o minio.GetObjectOptions
	ranged := offset > 0 || length > 0
	switch {
	case length > 0:
		o.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	case ranged:
		o.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	if etag != "" {
		o.Set("If-Match", `"`+etag+`"`)
	}
	a := t.begin(ctx, expect{streams: true})
	body, info, header, err := t.core.GetObject(a.ctx, t.config.Bucket, key, o)
	if err != nil {
		err = a.cause(err)
		a.end()
		return nil, err
	}
	s := &stream{attempt: a, body: body, etag: info.ETag, size: info.Size, offset: offset}
	if ranged {
		s.size, err = sizeOf(header.Get("Content-Range"), offset)
	}
	if err == nil && s.size < 0 {
		err = errGarbled
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// sizeOf returns the size of the object that a Content-Range speaks of,
// "bytes 3-6/10", which must begin at the offset.
func sizeOf(contentRange string, offset int64) (int64, error) {
	if contentRange == "" {
		return 0, amber.Errorf(amber.KindUnsupported, opGet, "", "the server does not give parts of objects")
	}
	span, total, _ := strings.Cut(strings.TrimPrefix(contentRange, "bytes "), "/")
	first, last, _ := strings.Cut(span, "-")
	from, err1 := strconv.ParseInt(first, 10, 64)
	to, err2 := strconv.ParseInt(last, 10, 64)
	size, err3 := strconv.ParseInt(total, 10, 64)
	if errors.Join(err1, err2, err3) != nil || from != offset || to < from || size <= to {
		return 0, errGarbled
	}
	return size, nil
}
