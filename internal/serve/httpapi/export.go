package httpapi

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/op"
)

// exportTrailer is the trailer after the last byte of an export. It has the report of what is in the export.
const exportTrailer = "Amber-Export"

// download answers with a file. An error before its first byte is an answer as any other; one after it cuts the answer off, so that a
// caller cannot take a part for the whole.
func (q *request) download() {
	a, w, r := q.api, q.w, q.r
	ctx, stop := q.watch()
	defer stop()
	out := &fileAnswer{api: a, w: w, packed: acceptsGzip(r)}
	var report any
	err := q.do(ctx, q.job(), func(ctx context.Context, c *op.Call) (err error) {
		c.House, c.Writer, c.Head = a.house, out, r.Method == http.MethodHead
		report, err = q.Answer(ctx, c, q.in)
		return err
	})
	if err == nil {
		err = out.end(report)
	}
	if revoked := revokedError(ctx); err != nil && revoked != nil {
		err = revoked
	}
	switch {
	case err == nil:
	case errors.Is(err, errGone):
		a.failure(w, r, err)
	case out.begun:
		a.failure(w, r, err)
		panic(http.ErrAbortHandler)
	default:
		a.fail(w, r, err)
	}
}

// fileAnswer is a file that is answered as it is made.
type fileAnswer struct {
	api    *API
	w      http.ResponseWriter
	zip    bool
	packed bool // the caller takes gzip
	begun  bool
	out    io.Writer
	gzip   *gzip.Writer
}

// Folder implements [op.FileWriter].
func (f *fileAnswer) Folder() { f.zip = true }

// begin writes the header.
func (f *fileAnswer) begin() {
	f.begun, f.out = true, f.w
	h := f.w.Header()
	shared(h)
	h.Set("Trailer", exportTrailer)
	h.Set("Content-Type", typeBytes)
	switch {
	case f.zip:
		h.Set("Content-Type", typeZip)
	case f.packed:
		h.Set("Content-Encoding", "gzip")
		f.gzip = gzip.NewWriter(f.w)
		f.out = f.gzip
	}
	f.w.WriteHeader(http.StatusOK)
}

// Write implements [io.Writer]. A caller that does not take what is written within the time of a request is cut off.
func (f *fileAnswer) Write(p []byte) (int, error) {
	if !f.begun {
		f.begin()
	}
	defer hurry(f.w, f.api.o.Timeout)()
	n, err := f.out.Write(p)
	if err != nil {
		return n, gone(err)
	}
	return n, nil
}

// end completes the file and puts the report of what is in it into the trailer.
func (f *fileAnswer) end(report any) error {
	if !f.begun {
		f.begin()
	}
	b, err := json.Marshal(report)
	if err != nil {
		return &amber.Error{Op: "write answer", Kind: amber.KindInternal, Err: err}
	}
	f.w.Header().Set(exportTrailer, string(b))
	defer hurry(f.w, f.api.o.Timeout)()
	if f.gzip != nil {
		err = f.gzip.Close()
	}
	if err = errors.Join(err, http.NewResponseController(f.w).Flush()); err != nil {
		return gone(err)
	}
	return nil
}
