package client_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/test/must"
)

// A page of the largest memories is more than an answer may hold; the client reads it in smaller pages.
func TestAPageThatIsTooLargeIsReadInSmallerOnes(t *testing.T) {
	t.Parallel()
	asked := make(chan int, 10)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.URL.Query().Get("limit"))
		must.Kind(t, "limit", err, "")
		asked <- n
		if n > 100 {
			endless(w, r)
			return
		}
		says(200, "application/json", `{"items":[{"id":"`+string(someID)+`"}],"next":"more"}`)(w, r)
	}))
	defer srv.Close()
	s := contracts(t, client.Options{URL: srv.URL})
	p, err := s.Memories.List(t.Context(), amber.ListQuery{Limit: 1000})
	if err != nil || len(p.Items) != 1 || p.Next != "more" {
		t.Errorf("got %+v, %v", p, err)
	}
	close(asked)
	var limits []int
	for n := range asked {
		limits = append(limits, n)
	}
	must.Equal(t, "asked for", limits, []int{1000, 125, 15})
}

// A server whose memory is switched off is still asked, so that reads
// find nothing and writes are refused with its reason, as at a local store.
func TestSwitchedOffIsNotUnsupported(t *testing.T) {
	t.Parallel()
	s := must.Get(serveStore(t, amber.Disabled("memory.enabled is false")).agent.Store(t.Context()))(t)
	must.Equal(t, "items", len(must.Get(s.Memories.List(t.Context(), amber.ListQuery{}))(t).Items), 0)
	must.Kind(t, "note", must.Err(s.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "n", Content: "x"})), amber.KindRefused, "memory.enabled is false")
}

func TestNoWayOfPrintingShowsTheToken(t *testing.T) {
	t.Parallel()
	const secret = "amber_k7q2m4xa_secret"
	o := client.Options{URL: "http://127.0.0.1:7411", Token: secret}
	c := must.Get(client.New(o))(t)
	a := must.Get(c.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	encoded := must.Get(json.Marshal(map[string]any{"token": o.Token}))(t)
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "token", o.Token, "options", o)
	shown := []string{string(encoded), log.String()}
	for _, v := range []any{o.Token, o, &o, *c, c, *a} {
		shown = append(shown, fmt.Sprintf("%v %+v %#v %s %q", v, v, v, v, v))
	}
	for _, text := range shown {
		must.Hides(t, "what is printed", text, "secret")
	}
}
