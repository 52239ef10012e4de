package s3_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// unconditional are the ways in which servers do not take conditions of
// writes.
var unconditional = []struct {
	name  string
	fault fault
}{
	{"ignored", heedless},
	{"not implemented", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("If-None-Match") != "" {
			answer(w, 501, "NotImplemented")
			return
		}
		next.ServeHTTP(w, r)
	}},
	{"bad request", func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if r.Header.Get("If-None-Match") != "" {
			answer(w, 400, "InvalidArgument")
			return
		}
		next.ServeHTTP(w, r)
	}},
}

func TestServerWithoutConditionsHoldsObjects(t *testing.T) {
	t.Parallel()
	for _, tt := range unconditional {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.set(tt.fault)
			target := s.inParts(t)
			for name, data := range map[string]string{"small": "small", "big": big} {
				must.Hold(t, put(t, target, name, data) && !put(t, target, name, data), "put does not know what was there")
				must.Equal(t, "stored", s.stored(t, "some/prefix/"+name), data)
			}
			s.store(t, "some/prefix/c", "another")
			wantKind(t, "put of another size", must.Err(target.Put(t.Context(), "c", 4, strings.NewReader("mine"))), amber.KindDamaged)
			must.Equal(t, "what was there", s.stored(t, "some/prefix/c"), "another")
		})
	}
}

func TestConditionsAreFoundOutOnce(t *testing.T) {
	t.Parallel()
	s, target := served(t)
	put(t, target, "a", "x")
	must.Equal(t, "probes of the first target", s.asked(".amber-probe"), 2)
	put(t, target, "b", "x")
	must.Equal(t, "probes", s.asked(".amber-probe"), 2)
	s.forget()
	target = s.open(t)
	put(t, target, "c", "x")
	must.Equal(t, "probes of the next target", s.asked(".amber-probe"), 1)
}

func TestProbeThatFailsIsMadeAgain(t *testing.T) {
	t.Parallel()
	s, target := served(t)
	s.set(answers(403, "AccessDenied"))
	_, err := target.Put(t.Context(), "p", 1, strings.NewReader("x"))
	wantKind(t, "put", err, amber.KindRefused)
	s.set(nil)
	put(t, target, "p", "x")
}
