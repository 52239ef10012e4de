package vaultapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/internal/serve/vaultapi"
	"github.com/amber-memory/amber/internal/test/must"
)

// exchange is a request that the original client made, and what it was answered.
type exchange struct {
	Method, Path string
	Headers      map[string]string
	Body         string
	Status       int
	Resp         any
	RespHeaders  map[string]string `json:"resp_headers"`
}

func transcript(t *testing.T, name string) (list []exchange) {
	t.Helper()
	must.Do(t, json.Unmarshal(must.Get(os.ReadFile(filepath.Join("testdata", "wire", name+".json")))(t), &list))
	if len(list) == 0 {
		t.Fatalf("%s has no requests", name)
	}
	return list
}

// replay sends the requests of a transcript and compares the answers. Tokens is
// what the recorded tokens are here, and learns.
func (w *world) replay(t *testing.T, name string, tokens map[string]string) {
	t.Helper()
	for i, x := range transcript(t, name) {
		got, header := w.send(t, x, tokens)
		want := x.Resp
		if m, ok := want.(map[string]any); ok && m["access_token"] != nil {
			given, _ := got.(map[string]any)["access_token"].(string)
			tokens[m["access_token"].(string)] = given
		}
		withoutFiles(t, got)
		must.Equal(t, fmt.Sprintf("%s %d: %s %s", name, i, x.Method, x.Path), blurred(got, x.Status), blurred(want, x.Status))
		for h, v := range x.RespHeaders {
			if g := header.Get(h); g == "" || h != "Retry-After" && g != v {
				t.Errorf("%s %d: header %s is %q, was %q", name, i, h, g, v)
			}
		}
	}
}

// withoutFiles leaves out of a listing what the service does not answer: the items
// once more, where the first version of the client looks for them.
func withoutFiles(t *testing.T, got any) {
	t.Helper()
	m, _ := got.(map[string]any)
	files, ok := m["files"].([]any)
	items, _ := m["items"].([]any)
	var want []any
	for _, item := range items {
		want = append(want, item.(map[string]any)["filename"])
	}
	if diff := cmp.Diff(want, files); ok && diff != "" {
		t.Errorf("files are not the names of the items (-items +files):\n%s", diff)
	}
	delete(m, "files")
}

// send sends a request as it was recorded, with the token that it has here.
func (w *world) send(t *testing.T, x exchange, tokens map[string]string) (body any, header http.Header) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), x.Method, w.url+x.Path, strings.NewReader(x.Body)))(t)
	for k, v := range x.Headers {
		if k == "Authorization" {
			v = "Bearer " + tokens[strings.TrimPrefix(v, "Bearer ")]
		}
		if k != "Content-Length" && k != "Connection" {
			r.Header.Set(k, v)
		}
	}
	r.Close = x.Headers["Connection"] == "close"
	resp := must.Get(w.client.Do(r))(t)
	defer resp.Body.Close()
	b := must.Get(io.ReadAll(resp.Body))(t)
	if resp.StatusCode != x.Status {
		t.Fatalf("%s %s: %d %s, was %d", x.Method, x.Path, resp.StatusCode, b, x.Status)
	}
	if len(b) > 0 {
		must.Do(t, json.Unmarshal(b, &body))
	}
	return body, resp.Header
}

// blurred leaves the type of what differs from one server to the next: times,
// tokens, and the words about a rate.
func blurred(v any, status int) any {
	switch v := v.(type) {
	case map[string]any:
		out := maps.Clone(v)
		for name, x := range v {
			switch {
			case name == "created_at", name == "updated_at":
				_, err := time.Parse(time.RFC3339, fmt.Sprint(x))
				out[name] = fmt.Sprintf("a time (%v)", err)
			case name == "access_token", name == "message" && status == http.StatusTooManyRequests:
				out[name] = fmt.Sprintf("%T", x)
			default:
				out[name] = blurred(x, status)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = blurred(v[i], status)
		}
		return out
	}
	return v
}

// TestTranscriptsOfTheOriginalClient goes through what was recorded, in the order
// it was.
func TestTranscriptsOfTheOriginalClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rates = vaultapi.Rates{RequestsPerMinute: 120, OperationsPerHour: 60, SearchesPerHour: 120, ExportsPerHour: 10}
	tokens := map[string]string{}
	for _, name := range []string{"status_first_contact", "backup", "restore"} {
		w.replay(t, name, tokens)
	}
	secondBackup(t, w, tokens["tok1"])
	for _, name := range []string{"list_two", "latest", "prune_keep1"} {
		w.replay(t, name, tokens)
	}
	w.clock.Forward(25 * time.Hour) // the token has ended
	for _, name := range []string{"token_expired_then_status", "can_write"} {
		w.replay(t, name, tokens)
	}
	w.set(func() { w.rates.OperationsPerHour = 1 })
	w.do(ask{method: "DELETE", path: "/vault/files/not-there.md", token: tokens["tok2"]}).fails(404, "NOT_FOUND")
	w.replay(t, "put_429_twice_retried", tokens)
	w.replay(t, "restore_missing", tokens)
}

// secondBackup is one that was made and not recorded: its files are known from
// when they were read, all but the part, of which the size is.
func secondBackup(t *testing.T, w *world, token string) {
	t.Helper()
	read := transcript(t, "latest")
	for _, x := range read {
		f, _ := x.Resp.(map[string]any)
		w.put(token, f["filename"].(string), f["content"].(string)).want(200)
	}
	w.put(token, "cmem.my-label.20261115T014713835526Z-97c0b2.p0.json", strings.Repeat("p", 138)).want(200)
}
