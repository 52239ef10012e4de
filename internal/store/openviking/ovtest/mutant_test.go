package ovtest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber/internal/store/openviking/ovtest"
	"github.com/amber-memory/amber/internal/test/must"
)

type object = map[string]any

// wrap changes what a server does.
type wrap func(next http.Handler) http.Handler

// asked changes the bodies of requests to a path.
func asked(path string, change func(body object)) wrap {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == path {
				doc := object{}
				_ = json.NewDecoder(r.Body).Decode(&doc)
				change(doc)
				raw, _ := json.Marshal(doc)
				r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
			}
			next.ServeHTTP(w, r)
		})
	}
}

// told changes the answers to requests for a path, or for a path that begins so; it
// returns the status.
func told(path string, change func(status int, doc object) int) wrap {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, path) {
				next.ServeHTTP(w, r)
				return
			}
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, r)
			doc := object{}
			if json.Unmarshal(rec.Body.Bytes(), &doc) != nil {
				_, _ = w.Write(rec.Body.Bytes())
				return
			}
			answer(w, change(rec.Code, doc), doc)
		})
	}
}

func answer(w http.ResponseWriter, status int, doc object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(doc)
}

// also sends another request first. It returns the status.
func also(next http.Handler, r *http.Request, method, path string, body object) int {
	raw, _ := json.Marshal(body)
	other := httptest.NewRequest(method, path, bytes.NewReader(raw))
	other.Header = r.Header.Clone()
	rec := httptest.NewRecorder()
	next.ServeHTTP(rec, other)
	return rec.Code
}

// result returns the result of an answer, empty where it is not an object.
func result(doc object) object {
	if r, ok := doc["result"].(object); ok {
		return r
	}
	return object{}
}

func drop(fields ...string) func(object) {
	return func(body object) {
		for _, f := range fields {
			delete(body, f)
		}
	}
}

// mutants are servers that break one promise, and the check that must notice.
var mutants = []struct {
	name, check string
	wrap        wrap
}{
	{"ignores unknown fields", "write/unknown-field", asked("/api/v1/content/write", drop("timeout", "zork"))},
	{"creates once", "write/create-overwrites", createsOnce},
	{"keeps white space", "write/trailer-and-white-space", told("/api/v1/content/read", func(status int, doc object) int {
		if text, ok := doc["result"].(string); ok {
			doc["result"] = text + "\n"
		}
		return status
	})},
	{"tells the name that was asked for", "write/names-are-rewritten", told("/api/v1/content/write", func(status int, doc object) int {
		uri, _ := result(doc)["uri"].(string)
		result(doc)["uri"] = strings.ReplaceAll(uri, "_", " ")
		return status
	})},
	{"does not compare", "batch/compare-and-swap", asked("/api/v1/content/batch-write", func(body object) {
		for _, op := range body["operations"].([]any) {
			delete(op.(object), "expected_sha256")
		}
	})},
	{"makes the folder of a batch", "batch/root-is-missing", func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked("/api/v1/content/batch-write", func(body object) {
				also(next, r, "POST", "/api/v1/fs/mkdir", object{"uri": body["root_uri"]})
			})(next).ServeHTTP(w, r)
		})
	}},
	{"finds everywhere", "find/targets", asked("/api/v1/search/find", drop("target_uri"))},
	{"shows folders on level 2", "find/level-2-has-files-only", asked("/api/v1/search/find", drop("level"))},
	{"takes the first tag of a key", "find/last-tag-of-a-key", asked("/api/v1/search/find", func(body object) {
		if tags, ok := body["tags"].([]any); ok {
			body["tags"] = tags[:1]
		}
	})},
	{"answers empty questions", "find/empty-query", asked("/api/v1/search/find", func(body object) {
		if q, _ := body["query"].(string); strings.TrimSpace(q) == "" {
			body["query"] = "x"
		}
	})},
	{"does not know what was deleted", "delete/is-idempotent", func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete && also(next, r, "GET", "/api/v1/fs/stat?"+r.URL.RawQuery, nil) == http.StatusNotFound {
				answer(w, http.StatusNotFound, object{"status": "error", "error": object{"code": "NOT_FOUND"}})
				return
			}
			next.ServeHTTP(w, r)
		})
	}},
	{"hides a wall", "walls/users", told("/api/v1/content/read", func(status int, _ object) int {
		if status == http.StatusForbidden {
			return http.StatusNotFound
		}
		return status
	})},
	{"takes every key", "keys/new-key-refuses-the-old", told("/api/v1/system/status", func(int, object) int { return http.StatusOK })},
	{"does not tell the user", "health/key-tells-user", told("/health", func(status int, doc object) int {
		delete(doc, "user_id")
		return status
	})},
	{"never has more", "list/pages", told("/api/v1/fs/ls", func(status int, doc object) int {
		doc["has_more"] = false
		return status
	})},
	{"finds nothing amiss", "outage/what-failed-stays-unindexed", told("/api/v1/system/consistency", func(status int, doc object) int {
		result(doc)["ok"], result(doc)["missing_record_count"] = true, 0
		return status
	})},
	{"mends nothing", "reindex/mends", func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/v1/content/reindex" {
				answer(w, http.StatusOK, object{"status": "ok", "result": object{"status": "completed", "rebuilt_records": 2}})
				return
			}
			next.ServeHTTP(w, r)
		})
	}},
	{"says that a busy file is taken", "batch/files-are-busy-until-indexed", told("/api/v1/", func(status int, doc object) int {
		if e, ok := doc["error"].(object); ok && status == http.StatusConflict {
			e["details"] = object{}
		}
		return status
	})},
	{"forgets who failed", "outage/overwritten-file-keeps-its-vector", told("/api/v1/tasks/", func(status int, doc object) int {
		result(doc)["status"] = "completed"
		return status
	})},
}

// createsOnce refuses to create a file that it has seen, as 0.4.16 did.
func createsOnce(next http.Handler) http.Handler {
	var mu sync.Mutex
	seen := map[string]bool{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/content/write" {
			raw, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(raw))
			mu.Lock()
			again := seen[uriOf(raw)]
			seen[uriOf(raw)] = true
			mu.Unlock()
			if again {
				answer(w, http.StatusConflict, object{"status": "error", "error": object{"code": "ALREADY_EXISTS"}})
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// uriOf returns the URI in the body of a request.
func uriOf(raw []byte) string {
	var body struct{ URI string }
	_ = json.Unmarshal(raw, &body)
	return body.URI
}

func TestChecksNoticeMutants(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s, target := fake(t)
			broken := httptest.NewServer(m.wrap(s.Handler()))
			t.Cleanup(broken.Close)
			target.URL = broken.URL
			err := named(t, m.check).Run(t.Context(), target)
			must.Error(t, "check "+m.check, err)
			t.Log(err)
		})
	}
}

// named returns a check by its name.
func named(t *testing.T, name string) ovtest.Check {
	for _, c := range ovtest.Checks() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no check %s", name)
	return ovtest.Check{}
}
