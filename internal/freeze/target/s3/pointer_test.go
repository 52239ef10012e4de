package s3_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

const pointerP = "some/prefix/pointers/p"

func TestSwapWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault func(s *server, t *testing.T) fault
		kind  amber.Kind
		value string
	}{
		{"is known by its mark", func(*server, *testing.T) fault { return first(2, method("PUT"), loses) }, "", "two"},
		{"did not happen, and another swapped", func(s *server, t *testing.T) fault {
			return first(1, method("PUT"), func(http.ResponseWriter, *http.Request, http.Handler) {
				s.store(t, pointerP, "the pointer of another")
				panic(http.ErrAbortHandler)
			})
		}, amber.KindUnreachable, ""},
		{"is refused before anything happened, and another swapped", func(s *server, t *testing.T) fault {
			return first(1, method("PUT"), func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				s.store(t, pointerP, "the pointer of another")
				answer(w, 503, "SlowDown")
			})
		}, amber.KindConflict, ""},
	}
	for _, tt := range tests {
		for _, start := range []string{"", "one"} {
			t.Run(fmt.Sprintf("%s, from %q", tt.name, start), func(t *testing.T) {
				t.Parallel()
				s, target := served(t)
				version := ""
				if start != "" {
					version = must.Get(target.SwapPointer(t.Context(), "p", "", []byte(start)))(t)
				} else {
					must.Get(target.SwapPointer(t.Context(), "warm", "", nil))(t)
				}
				s.set(tt.fault(s, t))
				v, err := target.SwapPointer(t.Context(), "p", version, []byte("two"))
				wantKind(t, "swap", err, tt.kind)
				if err != nil {
					return
				}
				value, got, err := target.LoadPointer(t.Context(), "p")
				if string(value) != tt.value || got != v || err != nil {
					t.Errorf("the pointer is %q, version %q instead of %q, %v", value, got, v, err)
				}
			})
		}
	}
}

func TestVersionsDoNotComeAgain(t *testing.T) {
	t.Parallel()
	target := newServer(t).open(t)
	seen := map[string]bool{"": true}
	version := ""
	for _, value := range []string{"a", "b", "a", "a", "", ""} {
		v, err := target.SwapPointer(t.Context(), "p", version, []byte(value))
		if err != nil || seen[v] {
			t.Fatalf("version %q came again, or %v", v, err)
		}
		seen[v] = true
		version = v
	}
}

func TestPointersAreThoseOfAFolder(t *testing.T) {
	t.Parallel()
	s, target := served(t)
	must.Get(target.SwapPointer(t.Context(), "p", "", []byte("value")))(t)
	const want = "amber-pointer 1 1 cd42404d52ad55ccfa9aca4adc828aa5800ad9d385a0671fbcbf724118320619\nvalue"
	must.Equal(t, "pointer", s.stored(t, pointerP), want)
}

func TestPointerThatNoSwapWrote(t *testing.T) {
	t.Parallel()
	const good = "amber-pointer 1 1 cd42404d52ad55ccfa9aca4adc828aa5800ad9d385a0671fbcbf724118320619\nvalue"
	tests := []struct {
		name, data string
		want       amber.Kind
	}{
		{"good", good, ""},
		{"empty", "", amber.KindDamaged},
		{"another value", strings.Replace(good, "value", "valve", 1), amber.KindDamaged},
		{"longer", good + "x", amber.KindDamaged},
		{"shorter", good[:len(good)-1], amber.KindDamaged},
		{"no count", strings.Replace(good, " 1 1 ", " 1 0 ", 1), amber.KindDamaged},
		{"newer", "amber-pointer 2 something else\n", amber.KindTooNew},
		{"huge", "amber-pointer 1 1 " + strings.Repeat("x", 1<<20), amber.KindDamaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			s.store(t, pointerP, tt.data)
			_, _, err := s.open(t).LoadPointer(t.Context(), "p")
			wantKind(t, "load", err, tt.want)
		})
	}
}

func TestPointerWithoutAnETagToCompare(t *testing.T) {
	t.Parallel()
	for _, etag := range []string{"", `W/"weak"`, `"with space "`, `"` + strings.Repeat("x", 200) + `"`} {
		s, target := prepared(t)
		s.set(always(objects, func(w http.ResponseWriter, r *http.Request, next http.Handler) {
			next.ServeHTTP(setETag{w, etag}, r)
		}))
		_, _, err := target.LoadPointer(t.Context(), "old")
		wantKind(t, "load with ETag "+etag, err, amber.KindUnsupported)
	}
}

// setETag answers with another ETag.
type setETag struct {
	http.ResponseWriter
	etag string
}

func (w setETag) Write(p []byte) (int, error) {
	w.Header().Set("ETag", w.etag)
	return w.ResponseWriter.Write(p)
}

func TestPointerBreaksOffAndComesBack(t *testing.T) {
	t.Parallel()
	for _, f := range []fault{breaks(10), breaks(90)} {
		s, target := prepared(t)
		s.set(first(attempts-1, objects, f))
		value, _, err := target.LoadPointer(t.Context(), "old")
		must.Hold(t, string(value) == "value" && err == nil, "got %q, %v", value, err)
	}
}
