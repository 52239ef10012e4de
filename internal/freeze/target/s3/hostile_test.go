package s3_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

// calls are the things a target is asked for, on a bucket that has the object
// "old".
var calls = []struct {
	name string
	do   func(ctx context.Context, bucket *s3.Target) error
}{
	{"put", func(ctx context.Context, bucket *s3.Target) error {
		created, err := bucket.Put(ctx, "new", 3, strings.NewReader("new"))
		if err == nil && !created {
			return fmt.Errorf("put of a new object says that it was there")
		}
		return err
	}},
	{"get", func(ctx context.Context, bucket *s3.Target) error {
		r, err := bucket.Get(ctx, "old", 0, -1)
		if err != nil {
			return err
		}
		defer func() { _ = r.Close() }()
		if data, err := io.ReadAll(r); err != nil || string(data) != "old" {
			return fmt.Errorf("got %q, %w", data, err)
		}
		return nil
	}},
	{"list", func(ctx context.Context, bucket *s3.Target) error {
		found := false
		err := bucket.List(ctx, "", func(o target.Object) error {
			found = found || o.Name == "old"
			return nil
		})
		if err == nil && !found {
			return fmt.Errorf("the list lacks an object")
		}
		return err
	}},
	{"delete", func(ctx context.Context, bucket *s3.Target) error { return bucket.Delete(ctx, "old") }},
	{"sweep", func(ctx context.Context, bucket *s3.Target) error {
		return must.Err(bucket.Sweep(ctx, amber.UnixMilli(1)))
	}},
}

// prepared returns a server with what the calls need, and its target, which
// has found out about conditions.
func prepared(t *testing.T, change ...func(*s3.Options)) (*server, *s3.Target) {
	t.Helper()
	s := newServer(t)
	bucket := s.open(t, change...)
	put(t, bucket, "old", "old")
	// Asked for uploads of a bucket that never had one, gofakes3 says that there is no such upload.
	resp := must.Get(http.Post(s.url+"/bucket/some/prefix/upload?uploads", "", nil))(t)
	_ = resp.Body.Close()
	s.forget()
	return s, bucket
}

func TestPassingErrorsAreOvercome(t *testing.T) {
	t.Parallel()
	faults := []struct {
		name  string
		fault fault
	}{
		{"500", answers(500, "InternalError")},
		{"502 of a proxy", func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			http.Error(w, "<html>bad gateway", http.StatusBadGateway)
		}},
		{"503", answers(503, "SlowDown")},
		{"429", answers(429, "TooManyRequests")},
		{"409", answers(409, "ConditionalRequestConflict")},
		{"dropped connection", drops},
	}
	for _, f := range faults {
		for _, c := range calls {
			t.Run(c.name+" after "+f.name, func(t *testing.T) {
				t.Parallel()
				s, target := prepared(t)
				s.set(first(attempts-1, every, f.fault))
				must.Do(t, c.do(t.Context(), target))
			})
		}
	}
}

func TestLastingErrorsHaveAKindAndAnEnd(t *testing.T) {
	t.Parallel()
	faults := []struct {
		name  string
		fault fault
		kind  amber.Kind
		asked int
	}{
		{"500", answers(500, "InternalError"), amber.KindUnreachable, attempts},
		{"dropped connection", drops, amber.KindUnreachable, attempts},
		{"403", answers(403, "AccessDenied"), amber.KindRefused, 1},
		{"401 without a code", func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(401) }, amber.KindRefused, 1},
		{"expired token", answers(400, "ExpiredToken"), amber.KindRefused, 1},
		{"no such bucket", answers(404, "NoSuchBucket"), amber.KindUnreachable, 1},
		{"a web server's 404", func(w http.ResponseWriter, r *http.Request, _ http.Handler) { http.NotFound(w, r) }, amber.KindUnreachable, 1},
		{"redirect", answers(301, "PermanentRedirect"), amber.KindUnreachable, 1},
		{"full", answers(507, "QuotaExceeded"), amber.KindQuota, 1},
		{"not implemented", answers(501, "NotImplemented"), amber.KindUnsupported, 1},
	}
	for _, f := range faults {
		for _, c := range calls {
			t.Run(c.name+" with "+f.name, func(t *testing.T) {
				t.Parallel()
				s, target := prepared(t)
				s.set(f.fault)
				wantKind(t, c.name, c.do(t.Context(), target), f.kind)
				// net/http itself asks once more when a connection that it had kept is closed.
				if n := s.asked(""); n < f.asked || n > f.asked+1 || n > f.asked && f.name != "dropped connection" {
					t.Errorf("there were %d requests, want %d", n, f.asked)
				}
			})
		}
	}
}

func TestServerThatStandsStillIsUnreachable(t *testing.T) {
	t.Parallel()
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, target := prepared(t)
			target.SetStall(50 * time.Millisecond)
			s.set(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
			})
			wantKind(t, c.name, c.do(t.Context(), target), amber.KindUnreachable)
		})
	}
}

func TestContextEndsAWait(t *testing.T) {
	t.Parallel()
	for _, c := range calls {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, target := prepared(t)
			ctx, cancel := context.WithCancel(t.Context())
			s.set(func(_ http.ResponseWriter, r *http.Request, _ http.Handler) {
				_, _ = io.Copy(io.Discard, r.Body)
				cancel()
				<-r.Context().Done()
			})
			wantKind(t, c.name, c.do(ctx, target), amber.KindUnreachable)
			must.Equal(t, "requests", s.asked(""), 1)
		})
	}
}

func TestWaitsGrowAndAreBounded(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var waits []time.Duration
	s := newServer(t)
	bucket := s.open(t, func(o *s3.Options) {
		o.Attempts = 8
		o.Random = zeros{}
		o.Sleep = func(_ context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			waits = append(waits, d)
			return nil
		}
	})
	s.set(answers(503, "SlowDown"))
	wantKind(t, "delete", bucket.Delete(t.Context(), "a"), amber.KindUnreachable)
	const ms = time.Millisecond
	want := []time.Duration{250 * ms, 500 * ms, 1000 * ms, 2000 * ms, 4000 * ms, 8000 * ms, 8000 * ms}
	must.Equal(t, "waits", waits, want)
}

// zeros is chance that never shortens a wait.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestErrorsShowNothingThatAServerMadeUp(t *testing.T) {
	t.Parallel()
	s, target := prepared(t)
	s.set(func(w http.ResponseWriter, r *http.Request, _ http.Handler) {
		echo := r.Header.Get("Authorization")
		w.Header().Set("X-Amz-Bucket-Region", echo)
		w.WriteHeader(301)
		_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message><Region>%s</Region></Error>", accessKey, echo, echo)
	})
	for _, c := range calls {
		err := c.do(t.Context(), target)
		wantKind(t, c.name, err, amber.KindUnreachable)
		if text := err.Error() + amber.HintOf(err); strings.Contains(text, accessKey) || strings.Contains(text, "Signature") {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}

func TestBucketThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	c := s.config(t)
	c.Bucket = "other"
	_, err := s3.Open(t.Context(), c, options())
	wantKind(t, "open", err, amber.KindNotFound)
	must.Hold(t, amber.HintOf(err) != "", "the error has no hint")
}

func TestRegionOfTheBucketIsHinted(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.set(func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("X-Amz-Bucket-Region", "eu-central-1")
		answer(w, 400, "AuthorizationHeaderMalformed")
	})
	_, err := s3.Open(t.Context(), s.config(t), options())
	wantKind(t, "open", err, amber.KindUnreachable)
	must.Equal(t, "hint", amber.HintOf(err), "set AWS_REGION=eu-central-1")
}

func TestOpenWritesNothing(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.open(t)
	must.Equal(t, "requests with GET", s.asked("GET"), s.asked(""))
}

func TestCertificateThatNobodyVouchesForIsNotAskedTwice(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	secure := httptest.NewUnstartedServer(s.handler(http.NotFoundHandler()))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	waits := 0
	o := options()
	o.Sleep = func(context.Context, time.Duration) error { waits++; return nil }
	c := s.config(t)
	c.Endpoint = secure.URL
	wantKind(t, "open", must.Err(s3.Open(t.Context(), c, o)), amber.KindUnreachable)
	must.Equal(t, "requests that were repeated", waits, 0)
}
