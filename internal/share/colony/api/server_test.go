package api_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/share/colony/api"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	secretKey   = "col_secret-key-0123456789"
	tokenPrefix = "jwt.secret-token."
)

// vault is a server that behaves as the live service, or as the fields say.
type vault struct {
	url   string
	wrap  bool   // answers are in "result"
	shape string // of lists: "items", "files", "strings", "objects", "names"
	bare  bool   // it knows neither versions nor conditions
	page  int    // files on a page; 0: all
	karma bool   // the key may not write, and the vault says so

	mu     sync.Mutex
	files  map[string]string
	issued int    // tokens so far
	token  string // the one that is good
	log    []string
	// intercept may answer in place of the vault; n counts from 1.
	intercept func(n int, w http.ResponseWriter, r *http.Request, next http.HandlerFunc) bool
}

func newVault(t *testing.T, change ...func(*vault)) *vault {
	t.Helper()
	v := &vault{shape: "items", files: map[string]string{}}
	for _, c := range change {
		c(v)
	}
	s := httptest.NewUnstartedServer(v)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // aborts are part of the tests
	s.Start()
	t.Cleanup(s.Close)
	v.url = s.URL + "/api/v1"
	return v
}

// clock is a time that passes only while the client sleeps.
type clock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.slept = append(c.slept, d)
	return ctx.Err()
}

// waited returns the pauses so far.
func (c *clock) waited() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.slept)
}

// open returns a client and its time. It uses every connection once, so that
// nothing is sent again behind the back of a test.
func (v *vault) open(t *testing.T, change ...func(*api.Options)) (*api.Client, *clock) {
	t.Helper()
	k := newClock()
	o := api.Options{
		URL: v.url, Clock: k.Now, Sleep: k.Sleep, Jitter: func() float64 { return 1 },
		Key:  func(context.Context) (string, error) { return secretKey, nil },
		HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
	for _, c := range change {
		c(&o)
	}
	c := must.Get(api.New(o))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c, k
}

// requests returns what was asked so far, as "GET /vault/status".
func (v *vault) requests() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.log)
}

// forget empties the list of requests and sets the interceptor.
func (v *vault) forget(intercept func(n int, w http.ResponseWriter, r *http.Request, next http.HandlerFunc) bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.log, v.intercept = nil, intercept
}

func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	v.log = append(v.log, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v1"))
	n, intercept := len(v.log), v.intercept
	v.mu.Unlock()
	if intercept == nil || !intercept(n, w, r, v.serve) {
		v.serve(w, r)
	}
}

func (v *vault) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/api/v1")
	if path == "/auth/token" {
		v.login(w, r, body)
		return
	}
	if r.Header.Get("Authorization") != "Bearer "+v.token || v.token == "" {
		refuse(w, 401, "AUTH_INVALID_TOKEN", "Invalid token")
		return
	}
	name, isFile := strings.CutPrefix(path, "/vault/files/")
	switch {
	case isFile:
		v.file(w, r, name, body)
	case path == "/vault/files":
		v.list(w, r)
	case path == "/vault/status":
		used, quota := 0, 0
		for _, f := range v.files {
			used, quota = used+len(f), 10<<20
		}
		v.answer(w, map[string]any{"quota_bytes": quota, "used_bytes": used, "available_bytes": max(quota-used, 0), "file_count": len(v.files)})
	case path == "/me/capabilities":
		v.answer(w, map[string]any{"karma": 50, "capabilities": []any{
			map[string]any{"name": "post", "allowed": false},
			map[string]any{"name": "write_vault", "allowed": !v.karma, "reason": "karma 2 of 10"},
		}})
	default:
		w.WriteHeader(404)
		_, _ = io.WriteString(w, `{"detail":"Not Found"}`)
	}
}

func (v *vault) login(w http.ResponseWriter, r *http.Request, body []byte) {
	var login struct {
		Key string `json:"api_key"`
	}
	if json.Unmarshal(body, &login) != nil || login.Key != secretKey || r.Method != http.MethodPost {
		refuse(w, 401, "AUTH_INVALID_KEY", "no such key: "+login.Key)
		return
	}
	v.issued++
	v.token = fmt.Sprint(tokenPrefix, v.issued)
	v.answer(w, map[string]any{"access_token": v.token, "token_type": "bearer"})
}

func (v *vault) file(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	content, there := v.files[name]
	switch r.Method {
	case http.MethodPut:
		if !v.bare && (there && r.Header.Get("If-None-Match") == "*" ||
			r.Header.Get("If-Match") != "" && (!there || r.Header.Get("If-Match") != etag(content))) {
			refuse(w, 412, "PRECONDITION_FAILED", "changed")
			return
		}
		var put struct {
			Content *string `json:"content"`
		}
		if json.Unmarshal(body, &put) != nil || put.Content == nil {
			refuse(w, 422, "", "")
			return
		}
		v.files[name] = *put.Content
		v.describe(w, name, false)
	case http.MethodGet, http.MethodDelete:
		if !there {
			refuse(w, 404, "NOT_FOUND", "File not found.")
			return
		}
		if r.Method == http.MethodGet {
			v.describe(w, name, true)
			return
		}
		delete(v.files, name)
		w.WriteHeader(204)
	default:
		refuse(w, 405, "", "Method Not Allowed")
	}
}

func (v *vault) describe(w http.ResponseWriter, name string, content bool) {
	m := info(name, v.files[name])
	if content {
		m["content"] = v.files[name]
	}
	if !v.bare {
		w.Header().Set("ETag", etag(v.files[name]))
		if content {
			m["etag"] = etag(v.files[name])
		}
	}
	v.answer(w, m)
}

func (v *vault) list(w http.ResponseWriter, r *http.Request) {
	items := []any{}
	names := slices.Sorted(maps.Keys(v.files))
	names = slices.DeleteFunc(names, func(n string) bool {
		return !strings.HasPrefix(n, r.URL.Query().Get("prefix")) || n < r.URL.Query().Get("cursor")
	})
	page := map[string]any{"total": len(names), "has_more": false, "next_cursor": nil}
	if v.page > 0 && len(names) > v.page {
		page["has_more"], page["next_cursor"] = true, names[v.page]
		names = names[:v.page]
	}
	for _, n := range names {
		switch v.shape {
		case "strings":
			items = append(items, n)
		case "names":
			items = append(items, map[string]any{"name": n})
		default:
			items = append(items, info(n, v.files[n]))
		}
	}
	if v.shape == "items" || v.shape == "files" {
		page[v.shape] = items
		v.answer(w, page)
		return
	}
	v.answer(w, items)
}

func (v *vault) answer(w http.ResponseWriter, value any) {
	if v.wrap {
		value = map[string]any{"result": value}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

func info(name, content string) map[string]any {
	return map[string]any{
		"filename": name, "content_size": len(content),
		"created_at": "2026-08-21T00:00:00Z", "updated_at": "2026-08-21T00:00:01.250000+00:00",
	}
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"detail": map[string]any{"code": code, "message": message}})
}

func etag(content string) string {
	return fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(content))))
}
