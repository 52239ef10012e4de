package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony/api"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestFarDate has a vault ask the client to wait until the year 9999, with a clock that goes on. Without --wait the
// client does not wait.
func TestFarDate(t *testing.T) {
	t.Parallel()
	for _, wait := range []bool{false, true} {
		v, c, k := prepared(t, func(o *api.Options) {
			stands := o.Clock
			var asked atomic.Int64
			o.Clock = func() time.Time { return stands().Add(time.Duration(asked.Add(1)) * time.Millisecond) }
			o.Wait = wait
		})
		v.forget(at(1, 1, says(503, "", "Retry-After", "Fri, 31 Dec 9999 23:59:59 GMT")))
		_, err := c.Status(t.Context())
		switch waited := k.waited(); {
		case !wait && (len(waited) > 0 || amber.KindOf(err) != amber.KindUnreachable):
			t.Errorf("waited %v, and got %v", waited, err)
		case wait && (total(waited) != time.Hour || err != nil):
			t.Errorf("with --wait: waited %v, and got %v", waited, err)
		}
	}
}

// An error is one line, also when the wait was broken off.
func TestEndedWaitIsOneLine(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	v, c, _ := prepared(t, func(o *api.Options) { o.Sleep = func(context.Context, time.Duration) error { return enough } })
	v.forget(at(1, always, says503))
	_, err := c.Status(t.Context())
	if amber.KindOf(err) != amber.KindUnreachable || !errors.Is(err, enough) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %q", err)
	}
}

// A token that is longer than what is shown of an answer is not shown in part.
func TestLongTokenStaysInside(t *testing.T) {
	t.Parallel()
	token := tokenPrefix + strings.Repeat("0123456789abcdef", 100)
	for name, path := range map[string]string{"refusal": "/vault/status", "capability": "/me/capabilities"} {
		v, c, _ := prepared(t)
		v.forget(func(_ int, w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) bool {
			shown := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			switch {
			case strings.HasSuffix(r.URL.Path, "/auth/token"):
				fmt.Fprintf(w, `{"access_token":%q}`, token)
			case shown != token:
				refuse(w, 401, "AUTH_INVALID_TOKEN", "another one") // so that the client asks for a token anew
			case name == "capability":
				fmt.Fprintf(w, `{"capabilities":[{"name":"write_vault","allowed":false,"reason":"not for %s"}]}`, shown)
			default:
				refuse(w, 403, "NO", "not for "+shown)
			}
			return true
		})
		err := c.MayWrite(t.Context())
		if path == "/vault/status" {
			_, err = c.Status(t.Context())
		}
		must.Kind(t, name, err, amber.KindRefused, "not for ***")
		checkSecrets(t, err)
	}
}

// TestEndlessListings has a vault name more files, or send more bytes, than any
// has: the client gives up before it is out of memory.
func TestEndlessListings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		page  string
		pad   string // after the answer
		pages int    // that are asked for
		why   string
	}{
		"names":      {page: strings.Repeat(`"a",`, 40_000) + `"a"`, pages: 3, why: "more files than a vault can have"},
		"on one":     {page: strings.Repeat(`"a",`, 100_000) + `"a"`, pages: 1, why: "more files than a vault can have"},
		"bytes":      {page: `"a"`, pad: strings.Repeat(" ", 7<<20), pages: 5, why: "too large for a vault"},
		"long names": {page: `"` + strings.Repeat("a", 7<<20) + `"`, pages: 5, why: "too large for a vault"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, c, _ := prepared(t)
			v.forget(func(n int, w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) bool {
				fmt.Fprintf(w, `{"items":[%s],"has_more":true,"next_cursor":"c%d"}%s`, tc.page, n, tc.pad)
				return true
			})
			must.Kind(t, "", must.Err(c.List(t.Context(), "cmem.x.")), amber.KindUnreachable, tc.why)
			must.Equal(t, "pages", len(v.requests()), tc.pages)
		})
	}
}
