package api_test

import (
	"bufio"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"syscall"
	"testing/iotest"
)

// fault is something that goes wrong with a request: what is answered in place
// of the vault, or of what it answered.
type fault func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc)

// says answers with a status and a body, after pairs of header names and values.
func says(status int, body string, headers ...string) fault {
	return func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		_, _ = io.Copy(io.Discard, r.Body)
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// says401 and the others have bodies as the service writes them.
var (
	says401  = says(401, `{"detail":{"code":"AUTH_TOKEN_REVOKED","message":"revoked"}}`)
	says403  = says(403, `{"detail":{"code":"KARMA_TOO_LOW","message":"karma"}}`)
	saysWait = says(429, `{"detail":{"code":"RATE_LIMITED","message":"slow down"}}`, "Retry-After", "3600")
	says500  = says(500, "Internal Server Error")
	says503  = says(503, `{"detail":"maintenance"}`)
	wrong    = says(200, `{"status":"ok"}`)
	page     = says(200, "<html><body>Log in to the network</body></html>", "Content-Type", "text/html")
)

// reset ends the connection before anything is done.
func reset(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { cut(w) }

// resetAfter ends it when the vault has done what it was asked for.
func resetAfter(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	next(httptest.NewRecorder(), r)
	cut(w)
}

// half sends the first half of an answer, and nothing was done.
func half(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, `{"items": [{"filename": "`)
	panic(http.ErrAbortHandler)
}

// halfAfter sends the first half of the answer to what was done.
func halfAfter(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	rec := httptest.NewRecorder()
	next(rec, r)
	maps.Copy(w.Header(), rec.Header())
	w.Header().Set("Content-Length", strconv.Itoa(rec.Body.Len()+10))
	w.WriteHeader(max(rec.Code, 200))
	if rec.Code != http.StatusNoContent {
		_, _ = w.Write(rec.Body.Bytes()[:rec.Body.Len()/2])
	}
	panic(http.ErrAbortHandler)
}

// wrongAfter answers what makes no sense to what was done.
func wrongAfter(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
	next(httptest.NewRecorder(), r)
	w.WriteHeader(200)
	_, _ = io.WriteString(w, "done!")
}

// cut ends a connection the hard way.
func cut(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// at has a fault happen to the requests from the first to the last, which count
// from 1.
func at(first, last int, f fault) func(int, http.ResponseWriter, *http.Request, http.HandlerFunc) bool {
	return func(n int, w http.ResponseWriter, r *http.Request, next http.HandlerFunc) bool {
		if n < first || n > last {
			return false
		}
		f(w, r, next)
		return true
	}
}

// on has a fault happen to requests of a method to a path that holds a text, as
// often as times says.
func on(method, part string, times int, f fault) func(int, http.ResponseWriter, *http.Request, http.HandlerFunc) bool {
	left := make(chan struct{}, times)
	for range times {
		left <- struct{}{}
	}
	return func(_ int, w http.ResponseWriter, r *http.Request, next http.HandlerFunc) bool {
		if r.Method != method || !strings.Contains(r.URL.Path, part) {
			return false
		}
		select {
		case <-left:
			f(w, r, next)
			return true
		default:
			return false
		}
	}
}

const always = 1 << 16

// inside brings requests to a handler without a network, which is much faster,
// and ends connections as a network does.
type inside struct{ h http.Handler }

func (i inside) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := httptest.NewRequest(r.Method, r.URL.String(), r.Body)
	in.Header = r.Header
	w := &recorder{ResponseRecorder: httptest.NewRecorder()}
	aborted := w.serve(i.h, in)
	if w.gone {
		return nil, syscall.ECONNRESET
	}
	resp := w.Result()
	if aborted {
		resp.Body = io.NopCloser(io.MultiReader(resp.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
	}
	return resp, nil
}

// recorder is an answer whose connection can be ended.
type recorder struct {
	*httptest.ResponseRecorder
	gone bool
}

// serve reports whether the handler broke off.
func (w *recorder) serve(h http.Handler, r *http.Request) (aborted bool) {
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler {
				panic(p)
			}
			aborted = true
		}
	}()
	h.ServeHTTP(w, r)
	return false
}

func (w *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.gone = true
	here, _ := net.Pipe()
	return here, nil, nil
}
