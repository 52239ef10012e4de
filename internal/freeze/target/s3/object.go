package s3

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// enough is how much a stream must have given for its break not to count.
const enough = 1 << 20

var errEarly = errors.New("the answer ended before the object did")

// object reads a range of an object through as many streams as it takes.
type object struct {
	target *Target
	ctx    context.Context // of the Get it belongs to
	name   string
	etag   string
	size   int64
	offset int64
	left   int64
	stream *stream // nil: the next read opens one
	given  int64   // by the stream
	breaks int     // in a row, without enough between
	err    error   // the last one, which stays
}

// Read implements [io.Reader].
func (o *object) Read(p []byte) (int, error) {
	if err := target.Alive(o.ctx, opGet, o.name); err != nil {
		return 0, err
	}
	for o.err == nil {
		if o.left == 0 {
			return 0, io.EOF
		}
		if len(p) == 0 {
			return 0, nil
		}
		if n := o.read(p[:min(int64(len(p)), o.left)]); n > 0 {
			return n, nil
		}
	}
	return 0, o.err
}

// read reads what comes next, and after a break nothing.
func (o *object) read(p []byte) int {
	var err error
	if o.stream == nil {
		err = o.resume()
	}
	n := 0
	if err == nil {
		n, err = o.stream.body.Read(p)
		o.offset, o.left, o.given = o.offset+int64(n), o.left-int64(n), o.given+int64(n)
		switch {
		case n > 0, err == nil:
			return n // an error comes again
		case err == io.EOF:
			err = errEarly
		default:
			err = o.stream.attempt.why(err)
		}
	}
	o.mend(err)
	return 0
}

// mend gets ready for another stream, or gives up.
func (o *object) mend(err error) {
	_ = o.drop()
	if o.given >= enough {
		o.breaks = 0
	}
	o.given = 0
	o.breaks++
	if !again(err) || o.breaks >= o.target.attempts || o.etag == "" {
		o.err = failure(o.ctx, opGet, o.name, err)
		return
	}
	if err := o.target.wait(o.ctx, o.breaks); err != nil {
		o.err = failure(o.ctx, opGet, o.name, err)
	}
}

// resume opens a stream where the last one broke.
func (o *object) resume() error {
	s, err := o.target.fetch(o.ctx, o.target.key(o.name), o.offset, o.left, o.etag)
	switch {
	case isAbsent(err):
		return absent(o.name)
	case answered(err, http.StatusPreconditionFailed), answered(err, http.StatusRequestedRangeNotSatisfiable):
		return o.exchanged()
	case err != nil:
		return err
	}
	o.stream = s
	if s.etag != o.etag || s.size != o.size { // not every server heeds If-Match here
		return o.exchanged()
	}
	return nil
}

func (o *object) exchanged() error {
	return amber.Errorf(amber.KindDamaged, opGet, o.name, "the object was replaced while it was read")
}

// drop closes the stream, if there is one.
func (o *object) drop() error {
	if o.stream == nil {
		return nil
	}
	s := o.stream
	o.stream = nil
	return s.Close()
}

// Close implements [io.Closer].
func (o *object) Close() error {
	if o.err == nil {
		o.err = amber.Errorf(amber.KindInvalid, opGet, o.name, "the reader is closed")
	}
	return o.drop()
}
