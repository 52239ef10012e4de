package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/test/must"
)

// noWait goes on at once.
func noWait(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// contracts is every contract of an agent at a URL, whatever is there.
func contracts(t *testing.T, o client.Options) amber.Store {
	t.Helper()
	if o.Wait == nil {
		o.Wait = noWait
	}
	c := must.Get(client.New(o))(t)
	t.Cleanup(func() { _ = c.Close() })
	a := must.Get(c.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	return a.Everything()
}

// calls is one call of each sort.
var calls = map[string]func(context.Context, amber.Store) error{
	"remember": func(ctx context.Context, s amber.Store) error {
		return must.Err(s.LongTerm.Write(ctx, amber.WriteRequest{Content: "x"}))
	},
	"recall": func(ctx context.Context, s amber.Store) error {
		return must.Err(s.LongTerm.Recall(ctx, amber.Query{Text: "x"}))
	},
	"get":  func(ctx context.Context, s amber.Store) error { return must.Err(s.Memories.Get(ctx, someID)) },
	"turn": func(ctx context.Context, s amber.Store) error { return must.Err(s.Turns.AppendTurn(ctx, turn(""))) },
	"read": func(ctx context.Context, s amber.Store) error { return must.Err(s.Sessions.Session(ctx, "s")) },
	"list": func(ctx context.Context, s amber.Store) error { return must.Err(s.Notes.ListNotes(ctx)) },
	"page": func(ctx context.Context, s amber.Store) error {
		return must.Err(s.Memories.List(ctx, amber.ListQuery{}))
	},
	"write": func(ctx context.Context, s amber.Store) error {
		return must.Err(s.States.SaveState(ctx, "s", []byte(`1`), 0))
	},
	"count":    func(ctx context.Context, s amber.Store) error { return must.Err(s.Turns.DeleteTurns(ctx, "s")) },
	"position": func(ctx context.Context, s amber.Store) error { return must.Err(s.Changes.Head(ctx)) },
	"delete":   func(ctx context.Context, s amber.Store) error { return s.Notes.DeleteNote(ctx, "n", amber.NoteBy{}) },
}

// says answers everything in the same way.
func says(status int, kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// reset sends the beginning of an answer and cuts the connection.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"items\":[")
	_ = conn.(*net.TCPConn).SetLinger(0)
	_ = conn.Close()
}

// mangled is a packed answer in which one byte was changed.
func mangled(w http.ResponseWriter, _ *http.Request) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, `{"items":[]}`)
	_ = z.Close()
	b.Bytes()[b.Len()-6]++ // in the checksum
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(b.Bytes())
}

// endless sends more than any answer may have.
func endless(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	piece := bytes.Repeat([]byte(" "), 1<<20)
	for range 66 {
		if _, err := w.Write(piece); err != nil {
			return
		}
	}
	_, _ = io.WriteString(w, `{"items":[]}`)
}

func failed(kind amber.Kind) http.HandlerFunc {
	return says(kind.HTTPStatus(), "application/json", fmt.Sprintf(`{"error":{"kind":%q,"message":"it is so"}}`, kind))
}

func TestFourAnswersStayFour(t *testing.T) {
	t.Parallel()
	const page = "<html><body>Welcome to the hotel</body></html>"
	tests := map[string]struct {
		answer http.HandlerFunc
		want   amber.Kind
		except map[string]amber.Kind // calls to which it is another answer
	}{
		"cut in the middle":            {answer: reset, want: amber.KindUnreachable},
		"a page, 200":                  {answer: says(200, "text/html", page), want: amber.KindUnreachable},
		"a page, 404":                  {answer: says(404, "text/html", page), want: amber.KindUnreachable},
		"a page, 500":                  {answer: says(500, "text/html", page), want: amber.KindUnreachable},
		"a page that says JSON":        {answer: says(404, "application/json", page), want: amber.KindUnreachable},
		"no kind":                      {answer: says(500, "application/json", `{"error":{}}`), want: amber.KindUnreachable},
		"another error":                {answer: says(404, "application/json", `{"error":"not found"}`), want: amber.KindUnreachable},
		"nothing, 404":                 {answer: says(404, "", ""), want: amber.KindUnreachable},
		"refused":                      {answer: failed(amber.KindRefused), want: amber.KindRefused},
		"absent":                       {answer: failed(amber.KindNotFound), want: amber.KindNotFound},
		"damaged there":                {answer: failed(amber.KindDamaged), want: amber.KindDamaged},
		"shutting down":                {answer: failed(amber.KindUnreachable), want: amber.KindUnreachable},
		"a kind of later":              {answer: failed("shiny"), want: "shiny"},
		"half a document":              {answer: says(200, "application/json", `{"items":[`), want: amber.KindDamaged, except: map[string]amber.Kind{"delete": amber.KindUnreachable}},
		"another document":             {answer: says(200, "application/json", `"items"`), want: amber.KindDamaged, except: map[string]amber.Kind{"delete": amber.KindUnreachable}},
		"an empty document":            {answer: says(200, "application/json", `{}`), want: amber.KindDamaged, except: map[string]amber.Kind{"delete": amber.KindUnreachable}},
		"null":                         {answer: says(200, "application/json", `null`), want: amber.KindDamaged, except: map[string]amber.Kind{"delete": amber.KindUnreachable}},
		"two documents":                {answer: says(200, "application/json", `{"items":[]} {}`), want: amber.KindDamaged, except: map[string]amber.Kind{"delete": amber.KindUnreachable}},
		"no UTF-8":                     {answer: says(200, "application/json", "{\"id\":\"s\",\"session_id\":\"s\",\"document\":1,\"items\":[],\"deleted\":1,\"position\":\"\xff\"}"), want: amber.KindDamaged, except: map[string]amber.Kind{"delete": amber.KindUnreachable}},
		"a checksum that is not valid": {answer: mangled, want: amber.KindDamaged, except: map[string]amber.Kind{"delete": amber.KindUnreachable}},
		"too large":                    {answer: endless, want: amber.KindDamaged, except: map[string]amber.Kind{"delete": amber.KindUnreachable}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(tt.answer)
			defer srv.Close()
			s := contracts(t, client.Options{URL: srv.URL, Attempts: 1})
			for call, do := range calls {
				want := tt.want
				if k, ok := tt.except[call]; ok {
					want = k
				}
				must.Kind(t, call, do(t.Context(), s), want)
			}
		})
	}
}

// A caller that wants a small answer reads no large one.
func TestAnAnswerIsBounded(t *testing.T) {
	t.Parallel()
	sent := atomic.Int64{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"items":[]`)
		for piece := bytes.Repeat([]byte(" "), 64<<10); sent.Load() < 32<<20; sent.Add(int64(len(piece))) {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	s := contracts(t, client.Options{URL: srv.URL, Attempts: 1, MaxAnswer: 1 << 10})
	must.Kind(t, "list", must.Err(s.Notes.ListNotes(t.Context())), amber.KindDamaged, "more than 1024 bytes")
	srv.CloseClientConnections()
	must.Hold(t, sent.Load() < 32<<20, "all of it was read")
}

// An agent's contracts can be had before the server is there.
func TestPartsTouchNoNetwork(t *testing.T) {
	t.Parallel()
	c := must.Get(client.New(client.Options{URL: "http://127.0.0.1:1", Attempts: 1}))(t)
	s := amber.NewStore(must.Get(c.Agent(amber.DefaultTenant, amber.DefaultAgent))(t).Parts())
	must.Hold(t, s.Capabilities().Ingest && s.Capabilities().Control && s.Capabilities().Notes, "contracts are missing: %+v", s.Capabilities())
	for name, do := range calls {
		must.Kind(t, name, do(t.Context(), s), amber.KindUnreachable)
	}
}

func TestNobodyThereIsUnreachable(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	url := "http://" + l.Addr().String()
	must.Do(t, l.Close())
	s := contracts(t, client.Options{URL: url})
	for name, do := range calls {
		err := do(t.Context(), s)
		if amber.KindOf(err) != amber.KindUnreachable || amber.HintOf(err) == "" {
			t.Errorf("%s: got %q (%v) with hint %q, want unreachable and a hint", name, amber.KindOf(err), err, amber.HintOf(err))
		}
	}
	must.Equal(t, "health", must.Get(s.LongTerm.Health(t.Context()))(t).Status, amber.Unavailable)
}

// The client gives up a server that listens and never answers, and does not claim that nothing was done.
func TestASilentServerIsUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer l.Close() // the system accepts connections, and nothing reads them
	s := contracts(t, client.Options{URL: "http://" + l.Addr().String(), Patience: 20 * time.Millisecond, Attempts: 2, Backoff: time.Millisecond})
	_, err = s.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "x"})
	must.Kind(t, "write", err, amber.KindUnreachable, "may have carried out the request")
	must.Fail(s.Memories.Get(t.Context(), someID))(t, "get", amber.KindUnreachable)
	must.Fail(amber.LastTurns(t.Context(), s.Turns, "s", amber.MaxPageSize+1))(t, "lines", amber.KindUnreachable)
}

func TestEndedContextIsUnreachable(t *testing.T) {
	t.Parallel()
	hang := make(chan struct{})
	asked := make(chan struct{}, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		asked <- struct{}{}
		<-hang
	}))
	defer srv.Close()
	defer close(hang)
	s := contracts(t, client.Options{URL: srv.URL})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	must.Kind(t, "", calls["read"](ctx, s), amber.KindUnreachable)
}

func TestTokenIsForItsServerAlone(t *testing.T) {
	t.Parallel()
	var elsewhere, tokens atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") == "Bearer amber_secret" {
				tokens.Add(1)
			}
			http.Redirect(w, r, other.URL+r.URL.Path, status)
		}))
		for _, own := range []*http.Client{nil, {}} { // one that would follow, too
			s := contracts(t, client.Options{URL: srv.URL, Token: "amber_secret", Attempts: 1, HTTP: own})
			for name, do := range calls {
				must.Kind(t, fmt.Sprint(name, " after ", status), do(t.Context(), s), amber.KindUnreachable)
			}
		}
		srv.Close()
	}
	must.Equal(t, "requests to the server redirected to", elsewhere.Load(), 0)
	if tokens.Load() == 0 {
		t.Error("the server itself never got the token")
	}
}

func TestTokenNeverCrossesANetworkInTheClear(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		url   string
		token client.Token
		want  amber.Kind // "": it is taken
	}{
		"this machine":           {url: "http://127.0.0.1:7411", token: "amber_x"},
		"its whole network":      {url: "http://127.8.9.1", token: "amber_x"},
		"by name":                {url: "http://LocalHost:7411", token: "amber_x"},
		"of the new sort":        {url: "http://[::1]:7411", token: "amber_x"},
		"mapped":                 {url: "http://[::ffff:127.0.0.1]:7411", token: "amber_x"},
		"encrypted":              {url: "https://memory.example.org/amber", token: "amber_x"},
		"no token":               {url: "http://memory.example.org"},
		"elsewhere":              {url: "http://memory.example.org", token: "amber_x", want: amber.KindRefused},
		"a name like an address": {url: "http://127.0.0.1.example.org", token: "amber_x", want: amber.KindRefused},
		"a name like localhost":  {url: "http://localhost.example.org", token: "amber_x", want: amber.KindRefused},
		"the network here":       {url: "http://192.168.0.1", token: "amber_x", want: amber.KindRefused},
		"every address":          {url: "http://0.0.0.0", token: "amber_x", want: amber.KindRefused},
		"user in the URL":        {url: "http://amber_x@127.0.0.1", want: amber.KindInvalid},
		"token in the URL":       {url: "https://h/?token=amber_x", want: amber.KindInvalid},
		"no URL":                 {url: "127.0.0.1:7411", want: amber.KindInvalid},
		"another scheme":         {url: "ftp://127.0.0.1", want: amber.KindInvalid},
		"nothing":                {want: amber.KindInvalid},
		"a line in the token":    {url: "http://127.0.0.1", token: "amber_x\r\nHost: y", want: amber.KindInvalid},
	}
	for name, tt := range tests {
		_, err := client.New(client.Options{URL: tt.url, Token: tt.token})
		must.Kind(t, name, err, tt.want)
		if err != nil && strings.Contains(err.Error(), "amber_x") {
			t.Errorf("%s: the error tells the token: %v", name, err)
		}
	}
}
