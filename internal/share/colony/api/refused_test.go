package api_test

import (
	"errors"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/share/colony/api"
)

// The error of a request says whether the vault refused the key, or asked for fewer requests, or refused this one
// request. In the first two cases other requests with the same key need not try.
func TestWhatHoldsForEveryRequestIsToldApart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		path  string // where it is said
		fault fault
		key   bool // it is about the key
		peace bool // the vault asks for peace
	}{
		"login refused":     {"/auth/token", says401, true, false},
		"login forbidden":   {"/auth/token", says403, true, false},
		"request forbidden": {"/vault/", says403, false, false},
		"login later":       {"/auth/token", saysWait, false, true},
		"later":             {"/vault/", saysWait, false, true},
		"later, some time":  {"/vault/", code(429, "RATE_LIMIT"), false, true},
		"no room":           {"/vault/", code(400, "QUOTA_EXCEEDED"), false, false},
		"away":              {"/vault/", reset, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVault(t)
			c, _ := v.open(t)
			method := "PUT"
			if tc.path == "/auth/token" {
				method = "POST"
			}
			v.forget(on(method, tc.path, always, tc.fault))
			_, err := c.Put(t.Context(), "a", "text")
			var later interface{ RetryAfter() time.Duration }
			if errors.Is(err, api.ErrKeyRefused) != tc.key || errors.As(err, &later) != tc.peace || err == nil {
				t.Errorf("got %v", err)
			}
		})
	}
}
