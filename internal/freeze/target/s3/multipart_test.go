package s3_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target/s3"
	"github.com/amber-memory/amber/internal/test/must"
)

// partSize is that of the targets of these tests; big has three parts then.
const partSize = 256 << 10

var big = noise(2*partSize + 5)

// inParts opens a target that sends small parts.
func (s *server) inParts(t *testing.T) *s3.Target {
	t.Helper()
	target := s.open(t)
	target.SetPartSize(partSize)
	return target
}

// isPart matches requests that send a part, isComplete those that make parts
// an object.
func isPart(r *http.Request) bool {
	return r.Method == http.MethodPut && r.URL.Query().Has("partNumber")
}

func isComplete(r *http.Request) bool {
	return r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}

// checkParts stores an object that is larger than a part ever is, twice.
func checkParts(t *testing.T, target *s3.Target) {
	t.Helper()
	big := noise(16<<20 + 5)
	must.Equal(t, "put of a new object", put(t, target, "bundles/big", big), true)
	must.Equal(t, "put of the same object", put(t, target, "bundles/big", big), false)
	if got, err := get(t, target, "bundles/big"); err != nil || got != big {
		t.Errorf("%d bytes come back, %v", len(got), err)
	}
	_, err := target.Put(t.Context(), "bundles/big", int64(len(big))-1, strings.NewReader(big))
	wantKind(t, "put with another size", err, amber.KindDamaged)
	if n, err := target.Sweep(t.Context(), amber.UnixMilli(1<<50)); n != 0 || err != nil {
		t.Errorf("%d uploads are left, %v", n, err)
	}
}

func TestLargeObjectsGoInParts(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	checkParts(t, s.open(t))
	must.Equal(t, "parts that were sent", s.asked("partNumber="), 2)
}

func TestLargeObjectAppearsWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	away := errors.New("away")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		reader io.Reader
		fault  fault
		check  func(error) bool
	}{
		{"too few bytes", t.Context(), strings.NewReader(big[:len(big)-1]), nil, isKind(amber.KindInvalid)},
		{"too many bytes", t.Context(), strings.NewReader(big + "x"), nil, isKind(amber.KindInvalid)},
		{
			"reader fails", t.Context(), io.MultiReader(strings.NewReader(big[:partSize]), failing{away}), nil,
			func(err error) bool { return errors.Is(err, away) },
		},
		{
			"context ends", ctx, io.MultiReader(strings.NewReader(big[:partSize]), trigger(cancel), strings.NewReader(big[partSize:])), nil,
			isKind(amber.KindUnreachable),
		},
		{"parts are refused", t.Context(), strings.NewReader(big), always(isPart, answers(403, "AccessDenied")), isKind(amber.KindRefused)},
		{"the end fails", t.Context(), strings.NewReader(big), always(isComplete, answers(500, "InternalError")), isKind(amber.KindUnreachable)},
		{
			"the end fails with status 200", t.Context(), strings.NewReader(big),
			always(isComplete, says("<Error><Code>AccessDenied</Code></Error>")), isKind(amber.KindRefused),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			target := s.inParts(t)
			s.set(tt.fault)
			created, err := target.Put(tt.ctx, "big", int64(len(big)), tt.reader)
			must.Hold(t, !created && tt.check(err), "got %v, %v", created, err)
			s.set(nil)
			_, err = get(t, target, "big")
			wantKind(t, "get", err, amber.KindNotFound)
			if n, err := target.Sweep(t.Context(), amber.UnixMilli(1<<50)); n != 0 || err != nil {
				t.Errorf("%d uploads are left, %v", n, err)
			}
		})
	}
}

func isKind(k amber.Kind) func(error) bool {
	return func(err error) bool { return amber.KindOf(err) == k }
}

// failing is a reader that fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// trigger is an empty reader that calls a function when its turn comes.
type trigger func()

func (f trigger) Read([]byte) (int, error) {
	f()
	return 0, io.EOF
}

func TestLargeObjectSurvivesPassingErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault fault
	}{
		{"parts are dropped", first(3, isPart, drops)},
		{"answers to parts are lost", first(3, isPart, loses)},
		{"parts are changed on the way", first(3, isPart, flips)},
		{"the answer to the end is lost", first(1, isComplete, loses)},
		{"the answer to the end is lost, without conditions", func() fault {
			lost := first(1, isComplete, loses)
			return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
				lost(w, r, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { heedless(w, r, next) }))
			}
		}()},
		{"the end fails with status 200", first(2, isComplete, says("<Error><Code>InternalError</Code></Error>"))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			target := s.inParts(t)
			s.set(tt.fault)
			must.Equal(t, "put of a new object", put(t, target, "big", big), true)
			if got := s.stored(t, "some/prefix/big"); got != big {
				t.Errorf("%d other bytes are stored", len(got))
			}
		})
	}
}

// TestLargeObjectOfAnotherWriterStays has another writer come in between.
func TestLargeObjectOfAnotherWriterStays(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	target := s.inParts(t)
	s.set(first(1, isComplete, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		s.store(t, "some/prefix/big", big)
		next.ServeHTTP(w, r)
	}))
	must.Equal(t, "put of the object of another", put(t, target, "big", big), false)
	if n, err := target.Sweep(t.Context(), amber.UnixMilli(1<<50)); n != 0 || err != nil {
		t.Errorf("%d uploads are left, %v", n, err)
	}
}

func TestSweepRemovesOldParts(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	target := s.inParts(t)
	// Nothing may be removed at the end either: as if the writer had been killed.
	s.set(func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if isComplete(r) || r.Method == http.MethodDelete {
			answer(w, 403, "AccessDenied")
			return
		}
		next.ServeHTTP(w, r)
	})
	_, err := target.Put(t.Context(), "big", int64(len(big)), strings.NewReader(big))
	wantKind(t, "put", err, amber.KindRefused)
	wantKind(t, "sweep", must.Err(target.Sweep(t.Context(), amber.UnixMilli(1<<50))), amber.KindRefused)
	s.set(nil)
	if n, err := target.Sweep(t.Context(), amber.UnixMilli(1)); n != 0 || err != nil {
		t.Errorf("%d young uploads were swept, %v", n, err)
	}
	if n, err := target.Sweep(t.Context(), amber.UnixMilli(1<<50)); n != 1 || err != nil {
		t.Errorf("%d old uploads were swept, want 1, %v", n, err)
	}
}
