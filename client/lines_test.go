package client_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/must"
)

// A session of more turns than a page holds is read whole.
func TestMoreTurnsThanAPage(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	const n = amber.MaxPageSize + 7
	for i := range n {
		must.Get(store.Turns.AppendTurn(t.Context(), amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: fmt.Sprint("turn ", i)}))(t)
	}
	s := contracts(t, client.Options{URL: serveStore(t, store).url})
	for limit, want := range map[int]int{amber.MaxPageSize: amber.MaxPageSize, amber.MaxPageSize + 1: amber.MaxPageSize + 1, 1 << 30: n} {
		got, err := s.Turns.LoadTurns(t.Context(), "s", limit)
		if err != nil || len(got) != want {
			t.Errorf("limit %d: %d turns, %v; want %d", limit, len(got), err, want)
			continue
		}
		if first, last := got[0].Content, got[want-1].Content; first != fmt.Sprint("turn ", n-want) || last != fmt.Sprint("turn ", n-1) {
			t.Errorf("limit %d: from %q to %q", limit, first, last)
		}
	}
	if got, err := s.Turns.LoadTurns(t.Context(), "nobody", 1<<30); err != nil || got == nil || len(got) != 0 {
		t.Errorf("an unknown session: %v, %v", got, err)
	}
}

// Half of a listing is never taken for the whole.
func TestLinesThatAreNotWhole(t *testing.T) {
	t.Parallel()
	const line = `{"id":"t1","session_id":"s","role":"user","content":"x"}` + "\n"
	for name, c := range map[string]struct {
		body, kind string
		cut        bool // the connection breaks
		want       amber.Kind
		tries      int64
	}{
		"an error at the end":      {body: line + `{"error":{"kind":"damaged","message":"a page is missing"}}` + "\n", want: amber.KindDamaged, tries: 1},
		"broken off":               {body: line, cut: true, want: amber.KindUnreachable, tries: 3},
		"broken off in a line":     {body: line + line[:20], cut: true, want: amber.KindUnreachable, tries: 3},
		"a line that is not valid": {body: line + "x\n", want: amber.KindDamaged, tries: 1},
		"a line that is mended":    {body: strings.Replace(line, `"x"`, "\"\xff\"", 1), want: amber.KindDamaged, tries: 1},
		"not lines":                {body: line, kind: "application/json", want: amber.KindUnreachable, tries: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int64
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Accept") != "application/x-ndjson" {
					http.NotFound(w, r)
					return
				}
				tries.Add(1)
				w.Header().Set("Content-Type", "application/x-ndjson")
				if c.kind != "" {
					w.Header().Set("Content-Type", c.kind)
				}
				_, _ = w.Write([]byte(c.body))
				if c.cut {
					_ = http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
			}))
			defer srv.Close()
			s := contracts(t, client.Options{URL: srv.URL, HTTP: unkept(), Attempts: 3})
			got, err := s.Turns.LoadTurns(t.Context(), "s", 5000)
			if amber.KindOf(err) != c.want || got != nil || tries.Load() != c.tries {
				t.Errorf("got %d turns, %v after %d tries; want %s after %d", len(got), err, tries.Load(), c.want, c.tries)
			}
		})
	}
}
