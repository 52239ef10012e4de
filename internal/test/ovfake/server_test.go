package ovfake_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// client speaks to a fake with one key.
type client struct {
	t        *testing.T
	url, key string
}

// send returns the status and the answer of a request.
func (c client) send(method, path string, body any) (int, map[string]any) {
	c.t.Helper()
	raw := must.Get(json.Marshal(body))(c.t)
	r := must.Get(http.NewRequestWithContext(c.t.Context(), method, c.url+path, bytes.NewReader(raw)))(c.t)
	r.Header.Set("X-API-Key", c.key)
	resp := must.Get(http.DefaultClient.Do(r))(c.t)
	defer func() { _ = resp.Body.Close() }()
	text := must.Get(io.ReadAll(resp.Body))(c.t)
	var doc map[string]any
	must.Do(c.t, json.Unmarshal(text, &doc))
	return resp.StatusCode, doc
}

// result is send for requests that succeed.
func (c client) result(method, path string, body any) any {
	c.t.Helper()
	status, doc := c.send(method, path, body)
	must.Equal(c.t, path, status, http.StatusOK)
	return doc["result"]
}

// start returns a fake and a user of it.
func start(t *testing.T, o ovfake.Options) (*ovfake.Server, client) {
	s := ovfake.New(o)
	t.Cleanup(s.Close)
	c := client{t, s.Start(), s.RootKey()}
	made := c.result("POST", "/api/v1/admin/accounts", map[string]any{"account_id": "a", "admin_user_id": "u"})
	c.key = made.(map[string]any)["user_key"].(string)
	return s, c
}

const memories = "viking://user/u/memories/"

func (c client) write(name, content string, wait bool) (int, map[string]any) {
	c.t.Helper()
	return c.send("POST", "/api/v1/content/write", map[string]any{"uri": memories + name, "content": content, "mode": "create", "wait": wait})
}

func (c client) find(query string) (int, map[string]any) {
	c.t.Helper()
	return c.send("POST", "/api/v1/search/find", map[string]any{"query": query, "level": 2})
}

// code is the code of an error.
func code(doc map[string]any) string { return doc["error"].(map[string]any)["code"].(string) }

func TestContentLiesInTheWorkspace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, c := start(t, ovfake.Options{Workspace: dir})
	c.write("notes/a.md", "purple elephants", true)
	file := filepath.Join(dir, "viking", "a", "user", "u", "memories", "notes", "a.md")
	must.Says(t, "file", string(must.Get(os.ReadFile(file))(t)), "purple elephants", "MEMORY_FIELDS")
	c.result("DELETE", "/api/v1/fs?uri="+memories+"notes/a.md", nil)
	_, err := os.Stat(file)
	must.Is(t, "file", err, os.ErrNotExist)
}

func TestEmbedderDown(t *testing.T) {
	t.Parallel()
	s, c := start(t, ovfake.Options{})
	s.EmbedderDown(true)
	status, doc := c.write("notes/a.md", "purple", true)
	must.Equal(t, "write that waits", status, http.StatusInternalServerError)
	must.Equal(t, "code", code(doc), "PROCESSING_ERROR")
	for _, want := range []int{503, 503, 503, 500, 500} {
		status, _ := c.find("purple")
		must.Equal(t, "find", status, want)
	}
	s.EmbedderDown(false)
	status, _ = c.find("purple")
	must.Equal(t, "find afterwards", status, http.StatusOK)
	check := c.result("POST", "/api/v1/system/consistency", map[string]any{"uri": memories + "notes"}).(map[string]any)
	must.Equal(t, "missing", check["missing_record_count"], any(1.0))
	must.Equal(t, "calls", s.Calls("find"), 6)
}

func TestMoods(t *testing.T) {
	t.Parallel()
	s, c := start(t, ovfake.Options{})
	s.Busy(1)
	status, doc := c.write("notes/a.md", "x", false)
	must.Equal(t, "busy", status, http.StatusConflict)
	must.Equal(t, "details", doc["error"].(map[string]any)["details"].(map[string]any)["retryable"], any(true))
	s.FullDisk(true)
	status, _ = c.write("notes/a.md", "x", false)
	must.Equal(t, "full disk", status, http.StatusInternalServerError)
	s.Fail(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "/api/v1/search/")
	status, _ = c.find("x")
	must.Equal(t, "find", status, http.StatusTooManyRequests)
	s.Version("0.6.0")
	_, doc = c.send("GET", "/health", nil)
	must.Equal(t, "version", doc["version"], any("0.6.0"))
	s.Calm()
	status, _ = c.write("notes/a.md", "x", false)
	must.Equal(t, "calm", status, http.StatusOK)
	must.Equal(t, "lost", s.LoseVectors(5), []string{memories + "notes/a.md"})
	s.Revoke(c.key)
	status, doc = c.find("x")
	must.Equal(t, "revoked key", status, http.StatusUnauthorized)
	must.Equal(t, "code", code(doc), "UNAUTHENTICATED")
}

func TestServerThatIsDownOrNotItself(t *testing.T) {
	t.Parallel()
	s, c := start(t, ovfake.Options{})
	s.Down(true)
	_, err := http.Get(c.url + "/health")
	must.Error(t, "down", err)
	s.Down(false)
	s.HTML(true)
	resp := must.Get(http.Get(c.url + "/health"))(t)
	defer func() { _ = resp.Body.Close() }()
	must.Equal(t, "type", resp.Header.Get("Content-Type"), "text/html")
	s.HTML(false)
	s.Slow(20 * time.Millisecond)
	began := time.Now()
	c.send("GET", "/health", nil)
	must.Hold(t, time.Since(began) >= 20*time.Millisecond, "the answer came after %v", time.Since(began))
}

func TestUserOfTheDevelopmentMode(t *testing.T) {
	t.Parallel()
	s := ovfake.New(ovfake.Options{Mode: ovfake.ModeDev})
	t.Cleanup(s.Close)
	c := client{t, s.Start(), ""}
	must.Equal(t, "status", c.result("GET", "/api/v1/system/status", nil), any(map[string]any{"initialized": true, "user": "default"}))
	c.result("POST", "/api/v1/content/write", map[string]any{"uri": "viking://user/other/memories/a/b.md", "content": "x"})
}

func TestGatewayVouchesForUsers(t *testing.T) {
	t.Parallel()
	s := ovfake.New(ovfake.Options{Mode: ovfake.ModeTrusted})
	t.Cleanup(s.Close)
	c := client{t, s.Start(), s.RootKey()}
	status, _ := c.send("GET", "/api/v1/system/status", nil)
	must.Equal(t, "status without headers", status, http.StatusBadRequest)
	r := must.Get(http.NewRequestWithContext(t.Context(), "GET", c.url+"/health", nil))(t)
	r.Header.Set("X-API-Key", c.key)
	r.Header.Set("X-OpenViking-Account", "a")
	r.Header.Set("X-OpenViking-User", "u")
	resp := must.Get(http.DefaultClient.Do(r))(t)
	defer func() { _ = resp.Body.Close() }()
	must.Says(t, "health", string(must.Get(io.ReadAll(resp.Body))(t)), `"account_id":"a"`, `"user_id":"u"`)
}
