package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net/http"
	"os"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/op"
)

// MaxUpload bounds a file that is imported.
const MaxUpload = 4 << 30

const (
	maxUploads   = 16        // at one time; one tenant has a quarter of them, one token an eighth
	maxImports   = 2         // of them work at one time, one of a tenant
	uploadChunk  = 256 << 10 // arrives within the time of a request
	uploadSpared = 256 << 20 // bytes of the disk that no upload takes
)

// checkRaw checks how a raw body comes.
func checkRaw(r *http.Request) error {
	if t := r.Header.Get("Content-Type"); t != "" && t != typeBytes {
		return op.Invalid("the body has type %q, want %s", clip.Name(t), typeBytes)
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return op.Invalid("the body is encoded as %q, want no encoding", clip.Name(enc))
	}
	return nil
}

// uploadPrefix begins the names of files that bodies are received into.
const uploadPrefix = "amber-upload-"

// uploaded is a body in a file of this machine. The file stays open: it is in use.
type uploaded struct {
	file *os.File
	path string
	size int64
	sum  hash.Hash
}

// remove removes the file.
func (u *uploaded) remove() error {
	err := u.file.Close()
	if gone := os.Remove(u.path); !errors.Is(gone, os.ErrNotExist) { // another server may have taken it for abandoned
		err = errors.Join(err, gone)
	}
	return err
}

// RemoveAbandoned removes the uploads of servers that were killed. Those of servers that run stay.
func (a *API) RemoveAbandoned() {
	removed, err := fsx.RemoveScratch(os.TempDir(), uploadPrefix)
	if err != nil {
		a.o.Log.Warn("remove abandoned uploads", "error", err)
	}
	if removed > 0 {
		a.o.Log.Info("removed abandoned uploads", "files", removed)
	}
}

// receive reads a body into a file, which the caller removes; after an error there is none. Errors: invalid for a body that is
// too large, empty or cut off; quota where the disk has no room.
func (a *API) receive(ctx context.Context, w http.ResponseWriter, r *http.Request) (*uploaded, error) {
	dir := os.TempDir()
	if r.ContentLength > a.maxUpload {
		return nil, tooLarge(a.maxUpload)
	}
	if err := a.room(dir, max(r.ContentLength, 0)); err != nil {
		return nil, err
	}
	f, err := fsx.CreateScratch(dir, uploadPrefix)
	if err != nil {
		return nil, &amber.Error{Op: "receive upload", Kind: amber.KindInternal, Err: err}
	}
	if c, ok := r.Body.(*counter); ok {
		c.ReadCloser = http.MaxBytesReader(w, c.raw, a.maxUpload)
	}
	u := &uploaded{file: f, path: f.Name(), sum: sha256.New()}
	ctx, cancel := context.WithTimeout(ctx, LongTimeout)
	defer cancel()
	if err := a.copyBody(ctx, w, r.Body, f, u); err != nil {
		return nil, errors.Join(err, u.remove())
	}
	return u, nil
}

// copyBody copies a body piece by piece. Each piece has as long to arrive as the whole of any other request.
func (a *API) copyBody(ctx context.Context, w http.ResponseWriter, body io.Reader, f *os.File, u *uploaded) error {
	rc := http.NewResponseController(w)
	chunk := make([]byte, uploadChunk)
	for {
		if err := ctx.Err(); err != nil {
			return &amber.Error{Op: bindOp, Kind: amber.KindUnreachable, Err: context.Cause(ctx)}
		}
		_ = rc.SetReadDeadline(inRealTime(a.o.Timeout)) // a recorder of a test has none
		n, rerr := fill(body, chunk)
		u.sum.Write(chunk[:n])
		if _, err := f.Write(chunk[:n]); err != nil {
			return &amber.Error{Op: "receive upload", Kind: amber.KindInternal, Err: err}
		}
		u.size += int64(n)
		switch {
		case errors.Is(rerr, io.EOF) && u.size == 0:
			return op.Invalid("the body is empty, want a file")
		case errors.Is(rerr, io.EOF):
			return nil
		case rerr != nil:
			return readError(rerr)
		}
		if err := a.room(os.TempDir(), 0); err != nil {
			return err
		}
	}
}

// fill reads until a piece is full. Unlike [io.ReadFull] it distinguishes a body that ends from one that is cut
// off.
func fill(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = r.Read(b[n:])
		n += m
	}
	return n, err
}

// room checks that a disk has room for more bytes. Where the system does not say how much is free, there is room.
// Errors: quota.
func (a *API) room(dir string, more int64) error {
	info, err := a.disk(dir)
	if err == nil && info.FreeBytes < uint64(more)+uploadSpared {
		return amber.Errorf(amber.KindQuota, "receive upload", "", "the disk of the server has no room for the upload: %d bytes are free, and %d stay free", info.FreeBytes, uploadSpared)
	}
	return nil
}

// upload receives the body into a file, does the operation with it and removes it.
func (q *request) upload() {
	ctx, stop := q.watch()
	defer stop()
	resp, err := q.answerUpload(ctx)
	if revoked := revokedError(ctx); err != nil && revoked != nil {
		err = revoked
	}
	if err != nil {
		q.api.fail(q.w, q.r, err)
		return
	}
	q.api.send(q.w, q.r, resp)
}

func (q *request) answerUpload(ctx context.Context) (response, error) {
	a := q.api
	leave, err := a.uploads.enter(q.who.Actor(), amber.TenantID(q.r.PathValue("tenant")))
	if err != nil {
		return response{}, err
	}
	defer leave()
	u, err := a.receive(ctx, q.w, q.r)
	if err != nil {
		return response{}, err
	}
	defer func() {
		if err := u.remove(); err != nil {
			a.o.Log.WarnContext(ctx, "remove upload", "error", err, "request_id", requestID(q.w))
		}
	}()
	held, err := q.weigh(holdsImport)
	if err != nil {
		return response{}, err
	}
	defer held.Leave()
	return q.answerOnce(ctx, u.sum.Sum(nil), func(ctx context.Context, again bool) (response, error) {
		return q.perform(ctx, again, &op.File{Path: u.path, Size: u.size})
	})
}
