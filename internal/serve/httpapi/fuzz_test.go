package httpapi_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// unserved is an API without a listener.
func unserved(t testing.TB) *httpapi.API {
	t.Helper()
	r := &rig{agents: map[string]*op.Agent{}, opened: map[string]int{}}
	pool := server.NewPool(r.open, server.PoolOptions{Clock: time.Now})
	api := must.Get(httpapi.New(httpapi.Options{
		Desk: &server.Desk{Agents: pool}, Authenticator: newKeyring(), Clock: time.Now, Random: rand.Reader, MaxBody: 4 << 10,
		Hosts: []string{"localhost"}, Origins: []string{"https://app.example"},
	}))(t)
	t.Cleanup(api.Close)
	return api
}

// wantInvalid checks that an error is the caller's, and that its message is one line.
func wantInvalid(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if k := amber.KindOf(err); k != amber.KindInvalid && k != amber.KindUnreachable {
		t.Errorf("kind %s: %v", k, err)
	}
	if m := wire.FailureOf(err).Error.Message; strings.ContainsAny(m, "\r\n") || len(m) > 4096 {
		t.Errorf("told %q", m)
	}
}

// FuzzDecode: no body makes a decoder of any operation do worse than say no.
func FuzzDecode(f *testing.F) {
	for _, s := range steps {
		f.Add([]byte(s.body))
	}
	for _, s := range []string{`null`, `{"a":1,"A":2}`, `{"metadata":{"a":"1","A":"2"}}`, `[{"`, "\xff", `{"extra":{"a":[{"b":"\\\""}]},"extra":1}`, strings.Repeat("[", 200), `{"\u0061":"\ud800"}`} {
		f.Add([]byte(s))
	}
	api := unserved(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, err := range api.DecodeAll(b) {
			wantInvalid(t, err)
		}
		var w amber.WriteRequest
		if httpapi.Decode(b, &w) != nil {
			return
		}
		again := must.Get(json.Marshal(w))(t)
		if err := httpapi.Decode(again, new(amber.WriteRequest)); err != nil {
			t.Errorf("%q is read, %q is not: %v", b, again, err)
		}
	})
}

// FuzzBind: no query, header or body makes the binding of any operation do
// worse than say no.
func FuzzBind(f *testing.F) {
	f.Add("limit=1&cursor=x", `"1"`, "application/json", "", []byte(`{}`))
	f.Add("limit=-1&kind=a&kind=b&since=2020-01-01T00:00:00Z", "*", "", "gzip", []byte{0x1f, 0x8b})
	f.Add("a=%zz&all=maybe", "W/\"1\"", "text/plain; charset=\"", "identity", []byte("\xff"))
	f.Add(strings.Repeat("a=1&", 100), "", "application/json;;", "br", []byte(`{"content":"x"} {}`))
	api := unserved(f)
	f.Fuzz(func(t *testing.T, query, match, kind, encoding string, body []byte) {
		errs := api.Bind(func() *http.Request {
			return &http.Request{
				Method: "POST", URL: &url.URL{Path: "/x", RawQuery: query}, Body: io.NopCloser(bytes.NewReader(body)),
				Header: http.Header{"If-Match": {match}, "Content-Type": {kind}, "Content-Encoding": {encoding}, "Last-Event-Id": {match}, "Idempotency-Key": {match}},
			}
		})
		for _, err := range errs {
			wantInvalid(t, err)
		}
	})
}

// FuzzRequest: whatever is asked, the answer has the headers that every answer
// has, and an error is JSON in its shape.
func FuzzRequest(f *testing.F) {
	for _, p := range tricks {
		f.Add("GET", adaPath+"/memories/"+p, "localhost", "", "Bearer root", "id")
	}
	f.Add("OPTIONS", "/mcp", "localhost:1", "https://app.example", "Basic x", "a b")
	f.Add("CONNECT", "//x", "[::1]", "null", "Bearer", "\r\nX: 1")
	f.Add("HEAD", "/docs", "localhost", "http://localhost", "bearer  root ", strings.Repeat("a", 65))
	api := unserved(f)
	handler := api.Handler()
	f.Fuzz(func(t *testing.T, method, target, host, origin, auth, id string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || strings.HasSuffix(u.Path, "/events") {
			return // net/http refuses it; a stream has no end
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, &http.Request{
			Method: method, URL: u, Host: host, Body: http.NoBody, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RequestURI: target,
			Header: http.Header{"Origin": {origin}, "Authorization": {auth}, "X-Request-Id": {id}, "Accept-Encoding": {auth}, "If-None-Match": {id}},
		})
		got := w.Header().Get("X-Request-Id")
		if got == "" || len(got) > 64 || strings.ContainsAny(got, "\r\n \t\"<") || w.Code >= 300 && w.Code < 400 && w.Code != http.StatusNotModified {
			t.Errorf("%d, request id %q", w.Code, got)
		}
		if w.Code >= 500 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if w.Code >= 400 && w.Header().Get("Content-Encoding") == "" {
			var failure wire.Failure
			if err := json.Unmarshal(w.Body.Bytes(), &failure); err != nil || statusFor(failure.Error.Kind, w.Header()) != w.Code {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
	})
}

// FuzzPlace: what is read as the id of an event is one line and is written as
// it was.
func FuzzPlace(f *testing.F) {
	for _, s := range []string{"", ",", "a/1,b/2", "a/1", "a/1,b/2,c/3", "a\n/1,b/2", "/1,/2", "a/9223372036854775808,b/1", "a/+1,b/01"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := httpapi.ParsePlace(s)
		wantInvalid(t, err)
		if err != nil || s == "" {
			return
		}
		if got != s || strings.ContainsAny(got, "\r\n") || !utf8.ValidString(got) {
			t.Errorf("%q is read as %q", s, got)
		}
	})
}

// FuzzPath: a path that is accepted has no NUL of its own, and what is renamed
// can be read back.
func FuzzPath(f *testing.F) {
	for _, p := range tricks {
		f.Add("/" + p)
	}
	f.Add("/a/%2F/%2f/b")
	f.Fuzz(func(t *testing.T, target string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || u.Host != "" || u.Opaque != "" {
			return
		}
		before := strings.Count(u.EscapedPath(), "/")
		if err := httpapi.CheckPath(u); err != nil {
			wantInvalid(t, err)
			return
		}
		must.Equal(t, "elements of "+target, strings.Count(u.EscapedPath(), "/"), before)
		must.Hides(t, "the path", strings.ReplaceAll(u.Path, "\x00slash", ""), "\x00")
	})
}
