package s3_test

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/johannesboyne/gofakes3"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestPutWhoseAnswerIsLostKnowsItsOwnObject(t *testing.T) {
	t.Parallel()
	foreign := func(data string) func(*testing.T, *server) fault {
		return func(t *testing.T, s *server) fault {
			return first(1, method("PUT"), func(http.ResponseWriter, *http.Request, http.Handler) {
				s.store(t, "some/prefix/a", data)
				panic(http.ErrAbortHandler)
			})
		}
	}
	tests := []struct {
		name    string
		fault   func(*testing.T, *server) fault
		created bool
		kind    amber.Kind
	}{
		{"own object", func(*testing.T, *server) fault { return first(2, method("PUT"), loses) }, true, ""},
		{"same bytes of another", foreign("mine"), false, ""},
		{"other bytes of another", foreign("other"), false, amber.KindDamaged},
		{"stored and deleted", func(t *testing.T, s *server) fault {
			return first(1, method("PUT"), answers(412, "PreconditionFailed"))
		}, false, amber.KindConflict},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, target := served(t)
			s.set(tt.fault(t, s))
			created, err := target.Put(t.Context(), "a", 4, strings.NewReader("mine"))
			must.Equal(t, "created", created, tt.created)
			wantKind(t, "put", err, tt.kind)
		})
	}
}

func TestBytesThatChangeOnTheWayAreNotStored(t *testing.T) {
	t.Parallel()
	s, target := served(t)
	put(t, target, "before", "x")
	s.set(always(method("PUT"), flips))
	wantKind(t, "put", must.Err(target.Put(t.Context(), "a", 4, strings.NewReader("mine"))), amber.KindUnreachable)
	must.Equal(t, "the object is there", s.has("some/prefix/a"), false)
	s.set(first(1, method("PUT"), flips))
	put(t, target, "a", "mine")
	must.Equal(t, "what is stored", s.stored(t, "some/prefix/a"), "mine")
}

// TestRequestsAreSignedWithTheirDigests looks at what is sent, over https too.
func TestRequestsAreSignedWithTheirDigests(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	fake := gofakes3.New(s.backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	secure := httptest.NewTLSServer(s.handler(fake))
	t.Cleanup(secure.Close)
	for _, url := range []string{s.url, secure.URL} {
		o := options()
		o.Transport = secure.Client().Transport
		c := s.config(t)
		c.Endpoint = url
		target := must.Get(s3.Open(t.Context(), c, o))(t)
		s.set(always(method("PUT"), func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			must.Equal(t, "SHA-256", r.Header.Get("X-Amz-Content-Sha256"), fmt.Sprintf("%x", sha256.Sum256([]byte("mine"))))
			must.Equal(t, "MD5", r.Header.Get("Content-Md5"), base64.StdEncoding.EncodeToString(md5Sum("mine")))
			if got := r.Header.Get("Authorization"); !strings.Contains(got, "x-amz-content-sha256") {
				t.Errorf("the SHA-256 is not signed: %q", got)
			}
			next.ServeHTTP(w, r)
		}))
		must.Do(t, target.Delete(t.Context(), "a"))
		put(t, target, "a", "mine")
		s.set(nil)
		if got, err := get(t, target, "a"); got != "mine" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
}

func md5Sum(s string) []byte {
	sum := md5.Sum([]byte(s))
	return sum[:]
}

func TestPutSendsNothingOfAWrongReader(t *testing.T) {
	t.Parallel()
	s, target := served(t)
	s.forget()
	for name, r := range map[string]io.Reader{"short": strings.NewReader("123"), "long": strings.NewReader("12345"), "idle": idle{}} {
		if created, err := target.Put(t.Context(), "a", 4, r); created || err == nil {
			t.Errorf("%s: got %v, %v", name, created, err)
		}
	}
	wantKind(t, "too large", must.Err(target.Put(t.Context(), "a", s3.MaxObjectBytes+1, strings.NewReader(""))), amber.KindInvalid)
	must.Equal(t, "requests", s.asked(""), 0)
}

// idle is a reader that never gives anything.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }
