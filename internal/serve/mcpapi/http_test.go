package mcpapi_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/mcpapi"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/race"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// callers are who asks, by the token of a request.
var callers = map[string]op.Caller{
	"root":  everything,
	"acme":  holder("acme", "bot", wire.TokenRead, wire.TokenWrite),
	"alien": holder("acme", "bot", wire.TokenScopes()...),
	"look":  holder("default", "default", wire.TokenRead),
}

// listen serves a rig over HTTP as the server would mount it.
func (r *rig) listen(o mcpapi.Options) *httptest.Server {
	r.t.Helper()
	h := must.Get(mcpapi.NewHandler(o))(r.t)
	mux := http.NewServeMux()
	serve := func(w http.ResponseWriter, q *http.Request) {
		h(w, q, callers[strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ")])
	}
	mux.HandleFunc("/mcp", serve)
	mux.HandleFunc("/tenants/{tenant}/agents/{agent}/mcp", serve)
	s := httptest.NewServer(mux)
	r.t.Cleanup(s.Close)
	return s
}

// bearer sends a token with every request.
type bearer struct {
	token string
	base  http.RoundTripper
}

func (b bearer) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+b.token)
	return b.base.RoundTrip(q)
}

// dial connects a client that speaks a version of the protocol; "" is the
// newest.
func (r *rig) dial(s *httptest.Server, path, token, version string) *client {
	r.t.Helper()
	transport := &mcp.StreamableClientTransport{
		Endpoint: s.URL + path, HTTPClient: &http.Client{Transport: bearer{token, s.Client().Transport}}, DisableStandaloneSSE: true,
	}
	var o *mcp.ClientSessionOptions
	if version != "" {
		o = &mcp.ClientSessionOptions{ProtocolVersion: version}
	}
	cs := must.Get(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), transport, o))(r.t)
	r.t.Cleanup(func() { cs.Close() })
	return &client{t: r.t, cs: cs}
}

func TestHTTPServesEveryVersionOfTheProtocol(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("default,chatgpt"))
	for _, version := range append(mcp.SupportedProtocolVersions(), "") {
		c := r.dial(s, "/mcp", "root", version)
		saved, _ := c.call("memory_save", object{"content": "over HTTP " + version})
		got, _ := c.call("memory_get", object{"id": saved["id"]})
		has(t, version, got, object{"content": "over HTTP " + version})
		must.Equal(t, "tools", len(c.tools()), 12)
		c.failsAs(version, amber.KindNotFound, "memory_get", object{"id": someID})
		_, err := c.cs.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: "amber://memory/" + someID})
		want := int64(amber.KindNotFound.MCPCode())
		if version == "" || version >= "2026-07-28" {
			want = int64(amber.KindInvalid.MCPCode())
		}
		must.Equal(t, version, wireError(t, err).Code, want)
		if _, err := c.cs.CallTool(context.Background(), &mcp.CallToolParams{Name: "nonsense"}); int(wireError(t, err).Code) != amber.KindInvalid.MCPCode() {
			t.Errorf("%q: %v", version, err)
		}
	}
}

// TestHTTPBindsTheAgent finds the agent in the path, else in the grant, and leads no caller to the agent of
// another.
func TestHTTPBindsTheAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("all"))
	mine := r.dial(s, "/mcp", "acme", "")
	mine.call("memory_save", object{"content": "ours", "project": "p"})
	for path, reached := range map[string]bool{"/mcp": true, "/tenants/acme/agents/bot/mcp": true, "/tenants/default/agents/default/mcp": false, "/tenants/acme/agents/other/mcp": false, "/tenants/-/agents/b/mcp": false} {
		c := r.dial(s, path, "acme", "")
		if reached {
			must.Equal(t, path, c.count("hits", "memory_recall", object{"query": "ours", "project": "p"}), 1)
			continue
		}
		if kind, text := c.fails("memory_recall", object{"query": "ours"}); kind != amber.KindNotFound && !strings.Contains(text, "parse tenant id") {
			t.Errorf("%s: %s: %s", path, kind, text)
		}
	}
	must.Equal(t, "memories of the other agent", must.Get(r.store().Stats.Stats(context.Background()))(t).Memories, 0)
	look := r.dial(s, "/mcp", "look", "")
	must.Equal(t, "a reader is shown how to write", slices.Contains(look.tools(), "memory_save"), false)
	// A caller without a name may do nothing, and learns nothing.
	nobody := r.dial(s, "/mcp", "", "")
	must.Equal(t, "what nobody is shown", len(nobody.tools()), 0)
	nobody.failsAs("nobody", amber.KindRefused, "memory_recall", object{"query": "x"})
}

// TestManyCallersAtOnceStayApart has two callers write at the same time: each
// finds what is theirs and nothing else.
func TestManyCallersAtOnceStayApart(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	r := newRig(t)
	s := r.listen(r.options("default"))
	var wg sync.WaitGroup
	for _, token := range []string{"root", "acme"} {
		for _, version := range []string{"", "2025-06-18"} {
			c := r.dial(s, "/mcp", token, version)
			wg.Go(func() {
				for i := range 20 {
					c.call("memory_save", object{"content": fmt.Sprintf("of %s %s %d", token, version, i)})
				}
			})
		}
	}
	wg.Wait()
	for name, token := range map[string]string{"default/default": "root", "acme/bot": "acme"} {
		p := must.Get(r.agents[name].Store.Memories.List(context.Background(), amber.ListQuery{All: true}))(t)
		must.Equal(t, "memories of "+name, len(p.Items), 40)
		for _, m := range p.Items {
			if !strings.HasPrefix(m.Content, "of "+token) {
				t.Errorf("%s has %q", name, m.Content)
			}
		}
	}
}

// post sends one message by hand.
func post(t *testing.T, s *httptest.Server, body string, header ...string) (int, string) {
	t.Helper()
	return postBody(t, s, strings.NewReader(body), header...)
}

// posts is post of what must be answered with a status.
func posts(t *testing.T, what string, want int, s *httptest.Server, body string, header ...string) (answer string) {
	t.Helper()
	status, answer := post(t, s, body, header...)
	if status != want {
		t.Errorf("%s: got status %d, want %d: %.300s", what, status, want, answer)
	}
	return answer
}

func postBody(t *testing.T, s *httptest.Server, body io.Reader, header ...string) (int, string) {
	t.Helper()
	q := must.Get(http.NewRequest(http.MethodPost, s.URL+"/mcp", body))(t)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	q.Header.Set("Authorization", "Bearer root")
	for i := 0; i < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			q.Host = header[i+1]
		}
	}
	res := must.Get(s.Client().Do(q))(t)
	defer res.Body.Close()
	b := must.Get(io.ReadAll(res.Body))(t)
	return res.StatusCode, string(b)
}

func TestHTTPRefusesWhatItShould(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	o := r.options("")
	o.MaxBytes = 1000
	s := r.listen(o)
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, test := range map[string]struct {
		body   string
		header []string
		status int
	}{
		"fine":                    {ping, nil, 200},
		"too large":               {strings.Repeat(" ", 1001) + ping, nil, 413},
		"garbage":                 {"garbage", nil, 400},
		"a session of nobody":     {ping, []string{"Mcp-Session-Id", "guessed"}, 200}, // there are none, so it means nothing
		"a name of somebody else": {ping, []string{"Host", "evil.example"}, 403},
		"not JSON":                {ping, []string{"Content-Type", "text/plain"}, 415},
		"a version of the future": {ping, []string{"Mcp-Protocol-Version", "2020-01-01"}, 400},
	} {
		posts(t, name, test.status, s, test.body, test.header...)
	}
	o.AnyHost = true
	posts(t, "behind a proxy", 200, r.listen(o), ping, "Host", "amber.example")
	// A text that is not UTF-8 is not mended silently.
	bad := "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"memory_save\",\"arguments\":{\"content\":\"a\xffb\"}}}"
	_, body := post(t, s, bad)
	must.Says(t, "the answer", body, "not valid UTF-8")
	// Several messages at once are for the one version that has them.
	batch := "[" + ping + "," + message(2, "tools/list", "") + "]"
	must.Says(t, "a batch", posts(t, "a batch", 200, s, batch, "Mcp-Protocol-Version", "2025-03-26"), `"id":1`, `"id":2`)
	posts(t, "a batch in a version that has none", 400, s, batch, "Mcp-Protocol-Version", "2025-06-18")
	must.Kind(t, "a handler without a desk", must.Err(mcpapi.NewHandler(mcpapi.Options{})), amber.KindInvalid)
}
