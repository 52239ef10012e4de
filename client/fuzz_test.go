package client_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
)

// FuzzAnswer lets a server answer anything: no call panics, and whatever is not
// an answer is an error with a kind.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		``, `{}`, `null`, `{"items":[]}`, `{"items":null,"next":"x"}`, `{"id":"s","session_id":"s","document":1,"deleted":-1,"position":""}`,
		"{\"id\":\"t\"}\n{\"error\":{\"kind\":\"damaged\",\"message\":\"m\"}}\n", "{\"id\":\"t\"}\n{\"id\"", `{"error":{"kind":"shiny"}}`, "\xff", `[[[[[[`,
	} {
		f.Add(200, true, []byte(seed))
		f.Add(404, false, []byte(seed))
	}
	type answer struct {
		status int
		kind   string
		body   []byte
	}
	var now atomic.Pointer[answer]
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		a := now.Load()
		w.Header().Set("Content-Type", a.kind)
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
	}))
	f.Cleanup(srv.Close)
	f.Fuzz(func(t *testing.T, status int, lines bool, body []byte) {
		a := &answer{status: 200 + (status%400+400)%400, kind: "application/json", body: body}
		if lines {
			a.kind = "application/x-ndjson"
		}
		now.Store(a)
		s := contracts(t, client.Options{URL: srv.URL, Attempts: 1})
		for name, do := range calls {
			if err := do(t.Context(), s); err != nil && amber.KindOf(err) == amber.KindInternal && !bytes.Contains(body, []byte("internal")) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if turns, err := amber.LastTurns(t.Context(), s.Turns, "s", amber.MaxPageSize+1); err == nil && turns == nil {
			t.Error("no turns and no error")
		}
	})
}
