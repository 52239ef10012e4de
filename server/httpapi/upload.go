package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net/http"
	"os"
	"reflect"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/server"
)

// MaxUpload bounds a file that is imported.
const MaxUpload = 4 << 30

const (
	maxUploads   = 16        // at one time; one tenant has a quarter of them, one token an eighth
	maxImports   = 2         // of them work at one time, one of a tenant
	uploadChunk  = 256 << 10 // arrives within the time of a request
	uploadSpared = 256 << 20 // bytes of the disk that no upload takes
)

// rawBody is a body that the operation reads itself.
type rawBody struct{}

// checkRaw checks how a raw body comes.
func checkRaw(r *http.Request) error {
	if t := r.Header.Get("Content-Type"); t != "" && t != typeBytes {
		return invalid("the body has type %q, want %s", clip(t), typeBytes)
	}
	if enc := r.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return invalid("the body is encoded as %q, want no encoding", clip(enc))
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

// RemoveAbandoned removes the uploads that a server left which was killed. Those of servers that run stay.
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
			return invalid("the body is empty, want a file")
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

// fill reads until a piece is full. Unlike [io.ReadFull] it tells a body that ends from one that is cut off.
func fill(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = r.Read(b[n:])
		n += m
	}
	return n, err
}

// room checks that a disk has room for more bytes. A system that does not tell has room. Errors: quota.
func (a *API) room(dir string, more int64) error {
	info, err := a.disk(dir)
	if err == nil && info.FreeBytes < uint64(more)+uploadSpared {
		return amber.Errorf(amber.KindQuota, "receive upload", "", "the disk of the server has no room for the upload: %d bytes are free, and %d stay free", info.FreeBytes, uploadSpared)
	}
	return nil
}

// handleUpload adds an operation whose body is a file of any size: the file is received first, and fn is called with it.
func handleUpload[In, Out any](a *API, o operation, fn func(ctx context.Context, ag *server.Agent, in In, u *uploaded) (answer[Out], error)) {
	o.in, o.out, o.upload = reflect.TypeFor[In](), reflect.TypeFor[Out](), true
	o.serve = func(a *API, o *operation, w http.ResponseWriter, r *http.Request) {
		var in In
		_, err := a.bind(r, o, &in)
		if c, ok := any(in).(interface{ check() error }); ok && err == nil {
			err = c.check() // before anything is received
		}
		if err != nil {
			a.fail(w, r, err)
			return
		}
		ctx, stop := a.watch(w, r, o)
		defer stop()
		resp, err := a.answerUpload(w, r.WithContext(ctx), o, o.mayRepeat(in), func(u *uploaded) func(ctx context.Context) (response, error) {
			return perform(a, r, o, in, func(ctx context.Context, ag *server.Agent, in In) (answer[Out], error) { return fn(ctx, ag, in, u) })
		})
		if revoked := revokedError(ctx); err != nil && revoked != nil {
			err = revoked
		}
		if err != nil {
			a.fail(w, r, err)
			return
		}
		a.send(w, r, resp)
	}
	a.add(o)
}

// answerUpload receives a body, does what is to be done with it and removes it.
func (a *API) answerUpload(w http.ResponseWriter, r *http.Request, o *operation, repeatable bool, do func(u *uploaded) func(ctx context.Context) (response, error)) (response, error) {
	leave, err := a.uploads.enter(server.CallerOf(r.Context()).Actor(), amber.TenantID(r.PathValue("tenant")))
	if err != nil {
		return response{}, err
	}
	defer leave()
	u, err := a.receive(r.Context(), w, r)
	if err != nil {
		return response{}, err
	}
	defer func() {
		if err := u.remove(); err != nil {
			a.o.Log.WarnContext(r.Context(), "remove upload", "error", err, "request_id", requestID(w))
		}
	}()
	held, err := a.weigh(r, o, holdsImport)
	if err != nil {
		return response{}, err
	}
	defer held.Leave()
	return a.answerOnce(w, r, o, asked{u.sum.Sum(nil), repeatable}, do(u))
}
