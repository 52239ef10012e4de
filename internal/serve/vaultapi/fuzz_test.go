package vaultapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// FuzzRequest: the answer to any request has a status of the API and, but for an archive, a body of JSON. An error
// has its shape, and a file that was put can be got as it was.
func FuzzRequest(f *testing.F) {
	w := newWorld(f)
	token := w.login(ada)
	f.Add("PUT", "/vault/files/a.md", "*", "", "k", []byte(`{"content":"x"}`))
	f.Add("GET", "/vault/files/a%2Fb", "", `"x"`, "", []byte{})
	f.Add("POST", "/vault/files/a.md/move", "", "", "", []byte(`{"destination":"../x","overwrite":true}`))
	f.Add("POST", "/vault/files/a.md/append", "", "", "\x00", []byte(`{"content":"\ud800"}`))
	f.Add("POST", "/auth/token", "", "", "", []byte(`{"api_key":"x"}`))
	f.Add("GET", "/vault/search?q=aa&limit=%31&offset=", "", "", "", []byte{})
	f.Add("GET", "/vault/export?prefix=%ff", "", "", "", []byte{})
	f.Add("DELETE", "/vault/files/..", "", `W/"`, "", []byte("\xff"))
	f.Add("PATCH", "/me/capabilities", "", "", "", []byte("{"))
	f.Fuzz(func(t *testing.T, method, path, none, match, key string, body []byte) {
		u, err := url.ParseRequestURI("/api/v1/" + strings.TrimPrefix(path, "/"))
		if err != nil {
			return // net/http refuses it
		}
		r := &http.Request{
			Method: method, URL: u, Host: "127.0.0.1", Body: io.NopCloser(strings.NewReader(string(body))), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Authorization": {"Bearer " + token}},
		}
		for name, v := range map[string]string{"If-None-Match": none, "If-Match": match, "Idempotency-Key": key} {
			if v != "" {
				r.Header.Set(name, v)
			}
		}
		got := httptest.NewRecorder()
		w.handler.ServeHTTP(got, r.WithContext(t.Context()))
		checkShape(t, got)
		if method == http.MethodPut && got.Code == http.StatusOK && key == "" {
			checkPut(t, w, token, u, body)
		}
	})
}

// checkShape looks whether an answer is one of the API.
func checkShape(t *testing.T, got *httptest.ResponseRecorder) {
	t.Helper()
	b := got.Body.Bytes()
	switch {
	case got.Code >= 500, got.Code >= 300 && got.Code < 400 && got.Code != http.StatusNotModified:
		t.Errorf("%d %s", got.Code, b)
	case got.Code >= 400:
		var e struct{ Detail json.RawMessage }
		if err := json.Unmarshal(b, &e); err != nil || len(e.Detail) == 0 {
			t.Errorf("%d %s: %v", got.Code, b, err)
		}
	case got.Code == http.StatusOK && got.Header().Get("Content-Type") != "application/zip":
		must.Equal(t, "the answer is JSON", json.Valid(b), true)
	}
}

// checkPut looks whether a file that was put is there.
func checkPut(t *testing.T, w *world, token string, u *url.URL, body []byte) {
	t.Helper()
	var sent struct{ Content string }
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		t.Fatalf("%q was taken: %v", body, err)
	}
	if err := json.Unmarshal(members["content"], &sent.Content); err != nil {
		t.Fatalf("%q was taken: %v", body, err)
	}
	got := httptest.NewRecorder()
	r := &http.Request{Method: "GET", URL: u, Host: "127.0.0.1", Body: http.NoBody, Header: http.Header{"Authorization": {"Bearer " + token}}}
	w.handler.ServeHTTP(got, r.WithContext(t.Context()))
	var there file
	if err := json.Unmarshal(got.Body.Bytes(), &there); err != nil || got.Code != http.StatusOK || there.Content != sent.Content {
		t.Errorf("%q is %d %s", sent.Content, got.Code, got.Body)
	}
}
