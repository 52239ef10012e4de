package s3_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestReaderGoesOnAfterABreak(t *testing.T) {
	t.Parallel()
	data := noise(300_000)
	faults := []struct {
		name  string
		fault fault
	}{
		{"connection breaks at once", breaks(0)},
		{"connection breaks in the middle", breaks(70_000)},
		{"answer ends early and says so", cuts(70_000)},
		{"server stands still", stalls(70_000)},
		{"server stands still at once", stalls(0)},
	}
	ranges := []struct{ offset, length int64 }{{0, 300_000}, {1000, 250_000}, {1000, -1}, {0, -1}}
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			// Many attempts: a busy computer may be as slow as that, too.
			target := s.open(t, func(o *s3.Options) { o.Attempts = 50 })
			put(t, target, "a", data)
			target.SetStall(100 * time.Millisecond)
			for _, tt := range ranges {
				if f.name == "answer ends early and says so" && tt.offset == 0 && tt.length < 0 {
					continue // the object could be as short as that
				}
				s.set(first(3, objects, f.fault))
				want := data[tt.offset:]
				if tt.length >= 0 {
					want = want[:tt.length]
				}
				r := must.Get(target.Get(t.Context(), "a", tt.offset, tt.length))(t)
				got, err := io.ReadAll(r)
				if err := errors.Join(err, r.Close()); err != nil || string(got) != want {
					t.Errorf("%d bytes from %d: got %d, %v", tt.length, tt.offset, len(got), err)
				}
			}
		})
	}
}

// TestReaderMayTakeItsTime waits longer between two reads than the server may
// in one.
func TestReaderMayTakeItsTime(t *testing.T) {
	t.Parallel()
	s, target := served(t)
	data := noise(8 << 20) // more than connections hold
	put(t, target, "a", data)
	const stall = 300 * time.Millisecond
	target.SetStall(stall)
	s.forget()
	r := must.Get(target.Get(t.Context(), "a", 0, -1))(t)
	start := make([]byte, 1000)
	must.Get(io.ReadFull(r, start))(t)
	<-time.After(2 * stall)
	rest, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || string(start)+string(rest) != data {
		t.Errorf("got %d bytes, %v", len(rest), err)
	}
	must.Equal(t, "requests", s.asked("GET"), 1)
}

func TestReaderGivesUp(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		fault fault
	}{
		{"breaks", breaks(10)},
		{"ends early", cuts(10)},
		{"stands still", stalls(10)},
		{"drips", stalls(1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, target := served(t)
			put(t, target, "a", noise(10_000))
			target.SetStall(200 * time.Millisecond)
			s.forget()
			s.set(always(objects, tt.fault))
			r := must.Get(target.Get(t.Context(), "a", 0, 10_000))(t)
			got, err := io.ReadAll(r)
			wantKind(t, "read", errors.Join(err, r.Close()), amber.KindUnreachable)
			must.Hold(t, strings.HasPrefix(noise(10_000), string(got)), "the bytes that came are not those of the object")
			// As many to open it and as many to go on, if the computer is slow.
			if n := s.asked("GET"); n < attempts || n > 2*attempts {
				t.Errorf("there were %d requests, want %d", n, attempts)
			}
		})
	}
}

// TestReaderGoesOnForLongObjects has a connection that breaks more often than
// there are attempts, but gives much each time.
func TestReaderGoesOnForLongObjects(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	target := s.open(t, func(o *s3.Options) { o.Attempts = 2 })
	data := noise(4 << 20)
	put(t, target, "a", data)
	s.set(always(objects, breaks(1<<20+1<<18)))
	must.Equal(t, "object", must.Get(get(t, target, "a"))(t), data)
}

func TestObjectIsExchangedWhileItIsRead(t *testing.T) {
	t.Parallel()
	old, other := strings.Repeat("old ", 10_000), strings.Repeat("new ", 10_000)
	tests := []struct {
		name   string
		change func(t *testing.T, s *server)
		after  fault
		want   amber.Kind
	}{
		{"same size", func(t *testing.T, s *server) { s.store(t, "some/prefix/a", other) }, nil, amber.KindDamaged},
		{"same size, and the server heeds If-Match", func(t *testing.T, s *server) { s.store(t, "some/prefix/a", other) }, ifMatch, amber.KindDamaged},
		{"shorter than what was read", func(t *testing.T, s *server) { s.store(t, "some/prefix/a", "x") }, nil, amber.KindDamaged},
		{"deleted", func(t *testing.T, s *server) {
			must.Get(s.backend.DeleteObject("bucket", "some/prefix/a"))(t)
		}, nil, amber.KindNotFound},
		{"server forgets ranges", func(*testing.T, *server) {}, noRanges, amber.KindUnsupported},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, target := served(t)
			put(t, target, "a", old)
			s.set(first(1, objects, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				part(w, r, next, 1000)
				tt.change(t, s)
				s.set(tt.after)
				panic(http.ErrAbortHandler)
			}))
			got, err := get(t, target, "a")
			wantKind(t, "get", err, tt.want)
			must.Hold(t, strings.HasPrefix(old, got), "bytes of the other object came: %d", len(got))
		})
	}
}

// ifMatch answers If-Match as S3 does, which gofakes3 does not.
func ifMatch(w http.ResponseWriter, r *http.Request, next http.Handler) {
	if r.Header.Get("If-Match") == "" {
		next.ServeHTTP(w, r)
		return
	}
	answer(w, http.StatusPreconditionFailed, "PreconditionFailed")
}

func noRanges(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r.Header.Del("Range")
	next.ServeHTTP(w, r)
}

func TestWrongRangesAreNoticed(t *testing.T) {
	t.Parallel()
	for _, header := range []string{"bytes 0-6/10", "bytes 3-6/5", "bytes 3-2/10", "bytes */10", "3-6", "bytes 3-6/99999999999999999999", "bytes -3-6/10"} {
		s, target := served(t)
		put(t, target, "a", "0123456789")
		s.set(always(objects, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Range", header)
			w.Header().Set("ETag", `"x"`)
			w.Header().Set("Last-Modified", "Sat, 15 Nov 2025 12:00:00 GMT")
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, "3456")
		}))
		_, err := target.Get(t.Context(), "a", 3, 4)
		wantKind(t, header, err, amber.KindUnreachable)
	}
}

func TestReaderIsClosed(t *testing.T) {
	t.Parallel()
	_, target := served(t)
	put(t, target, "a", "0123456789")
	r := must.Get(target.Get(t.Context(), "a", 0, -1))(t)
	must.Do(t, errors.Join(r.Close(), r.Close()))
	if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil || err == io.EOF {
		t.Errorf("a closed reader gives %d bytes, %v", n, err)
	}
}
