package api_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony/api"
	"github.com/amber-memory/amber/internal/test/must"
)

// exchange is a request of the real client and its answer, as they were
// recorded.
type exchange struct {
	Method, Path, Body string
	Headers            map[string]string
	Status             int
	Resp               json.RawMessage
	RespHeaders        map[string]string `json:"resp_headers"`
}

// seen is what a server sees of a request.
type seen struct {
	Method, Path, Auth string
	Body               any
}

func (e exchange) seen(t *testing.T) seen {
	return seen{e.Method, e.Path, e.Headers["Authorization"], jsonOf(t, e.Body)}
}

func jsonOf(t *testing.T, body string) (v any) {
	t.Helper()
	if body == "" {
		return nil
	}
	must.Do(t, json.Unmarshal([]byte(body), &v))
	return v
}

// TestRecordedExchanges makes the calls behind each recorded request: the client
// sends what the real one sent, and understands what it got.
func TestRecordedExchanges(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/wire/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	kinds := map[string]amber.Kind{"restore_missing.json": amber.KindNotFound, "put_429_twice_retried.json": amber.KindQuota}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			b := must.Get(os.ReadFile(file))(t)
			var recorded []exchange
			must.Do(t, json.Unmarshal(b, &recorded))
			replay(t, recorded, kinds[filepath.Base(file)])
		})
	}
}

// replay makes the calls, one after another. The last one ends with the kind.
func replay(t *testing.T, recorded []exchange, kind amber.Kind) {
	var got, want []seen
	for _, e := range recorded {
		want = append(want, e.seen(t))
	}
	next := 0
	login := recorded[0].Method != http.MethodPost // it was done before the recording
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		if login {
			login = false
			token := strings.TrimPrefix(recorded[0].Headers["Authorization"], "Bearer ")
			_ = json.NewEncoder(w).Encode(map[string]string{"access_token": token, "token_type": "bearer"})
			return
		}
		e := recorded[min(next, len(recorded)-1)] // the last one goes on for ever
		if next++; next <= len(recorded) {
			got = append(got, seen{r.Method, r.URL.EscapedPath(), r.Header.Get("Authorization"), jsonOf(t, string(body))})
		}
		for name, value := range e.RespHeaders {
			w.Header().Set(name, value)
		}
		w.WriteHeader(e.Status)
		if string(e.Resp) != "null" {
			_, _ = w.Write(e.Resp)
		}
	}))
	t.Cleanup(s.Close)
	v := &vault{url: s.URL + "/api/v1"}
	c, _ := v.open(t, func(o *api.Options) { o.Key = func(context.Context) (string, error) { return "col_testkey", nil } })
	for next < len(recorded) {
		before := next
		err := ask(t, c, recorded[next:])
		if last := next >= len(recorded); err != nil && !last || last && amber.KindOf(err) != kind {
			t.Fatalf("request %d: %v", before, err)
		}
	}
	must.Equal(t, "requests", got, want)
}

// ask makes the call behind the first of the requests.
func ask(t *testing.T, c *api.Client, rest []exchange) error {
	e := rest[0]
	if e.Method == http.MethodPost { // the login before another
		e = rest[1]
	}
	path := strings.TrimPrefix(e.Path, "/api/v1")
	name := strings.TrimPrefix(path, "/vault/files/")
	var err error
	switch {
	case path == "/vault/status":
		_, err = c.Status(t.Context())
	case path == "/me/capabilities":
		err = c.MayWrite(t.Context())
	case path == "/vault/files":
		listed, listErr := c.List(t.Context(), "")
		var answer struct{ Items []struct{ Filename string } }
		if json.Unmarshal(e.Resp, &answer) != nil || len(listed) != len(answer.Items) {
			t.Errorf("listed %v", listed)
		}
		err = listErr
	case e.Method == http.MethodGet:
		f, getErr := c.Get(t.Context(), name)
		var answer struct{ Content, ETag string }
		if json.Unmarshal(e.Resp, &answer) != nil || f.Content != answer.Content || f.Version != answer.ETag {
			t.Errorf("got %+v", f)
		}
		err = getErr
	case e.Method == http.MethodDelete:
		err = c.Delete(t.Context(), name)
	case e.Method == http.MethodPut:
		var body struct{ Content string }
		must.Do(t, json.Unmarshal([]byte(e.Body), &body))
		_, err = c.Put(t.Context(), name, body.Content)
	default:
		t.Fatalf("no call for %s %s", e.Method, e.Path)
	}
	return err
}

// FuzzAnswers has a server answer anything: no call panics, nothing is said to
// be absent but by a 404 with JSON, and a list is empty only where there is
// one.
func FuzzAnswers(f *testing.F) {
	for _, body := range []string{`{"items":[]}`, `{"result":{"files":["o"]}}`, `["o\ud800"]`, `{"detail":"x"}`, `{"filename":"old","content":"x","etag":"y"}`, "<html>", ""} {
		for _, status := range []int{200, 204, 404, 429} {
			f.Add(status, body, `"etag"`, "1")
		}
	}
	f.Fuzz(func(t *testing.T, status int, body, tag, after string) {
		if status < 200 || status > 599 {
			return
		}
		h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/auth/token") {
				_, _ = io.WriteString(w, `{"access_token":"t"}`)
				return
			}
			w.Header()["Etag"], w.Header()["Retry-After"] = []string{tag}, []string{after}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
		v := &vault{url: "https://vault.example/api/v1"}
		for _, name := range slices.Sorted(maps.Keys(calls)) {
			c, _ := v.open(t, func(o *api.Options) { o.HTTP = &http.Client{Transport: inside{h}} })
			err := calls[name](t.Context(), c)
			if amber.KindOf(err) == amber.KindNotFound && (status != 404 || !json.Valid([]byte(body))) {
				t.Errorf("%s: %v for %d %q", name, err, status, body)
			}
			if name == "list" && err == nil && (status > 201 || !strings.Contains(body, "[")) {
				t.Errorf("a list of %d %q", status, body)
			}
		}
	})
}
