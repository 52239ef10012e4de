package ovtest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// world is a server as one check sees it: an account with an administrator.
type world struct {
	ctx     context.Context
	target  Target
	account string
	key     string // of the user "u1"
}

const (
	mine     = "viking://user/u1/memories/" // what the user may write
	maxBytes = 8 << 20                      // of an answer
)

// object is a JSON object.
type object = map[string]any

// answer is what a server said.
type answer struct {
	Status  int             `json:"-"`
	Said    string          `json:"status"`
	Result  json.RawMessage `json:"result"`
	HasMore bool            `json:"has_more"`
	Error   struct {
		Code    string
		Message string
		Details struct {
			Conflict  string `json:"conflict_type"`
			Retryable bool
			Flaws     []json.RawMessage `json:"validation_errors"`
		}
	}

	request string
	raw     []byte
}

// begin makes the account.
func (w *world) begin() {
	w.account = "t" + strings.ToLower(rand.Text()[:12])
	w.key = w.newAccount(w.account, "u1")
}

// newAccount returns the key of its administrator.
func (w *world) newAccount(account, admin string) string {
	var made struct {
		Key string `json:"user_key"`
	}
	w.as(w.target.RootKey, "POST", "/api/v1/admin/accounts", object{"account_id": account, "admin_user_id": admin}).into(&made)
	return made.Key
}

// newUser returns the key of another user of the account.
func (w *world) newUser(name string) string {
	var made struct {
		Key string `json:"user_key"`
	}
	w.send("POST", "/api/v1/admin/accounts/"+w.account+"/users", object{"user_id": name, "role": "user"}).into(&made)
	return made.Key
}

// send sends a request of the account's user.
func (w *world) send(method, path string, body any) answer { return w.as(w.key, method, path, body) }

// as sends a request with a key; "" for none.
func (w *world) as(key, method, path string, body any) answer {
	header := http.Header{}
	if key != "" {
		header.Set("X-API-Key", key)
	}
	return w.with(header, method, path, body)
}

// with sends a request with headers.
func (w *world) with(header http.Header, method, path string, body any) answer {
	var payload io.Reader
	if body != nil {
		payload = bytes.NewReader(must(json.Marshal(body)))
		header.Set("Content-Type", "application/json")
	}
	r := must(http.NewRequestWithContext(w.ctx, method, w.target.URL+path, payload))
	r.Header = header
	resp := must(http.DefaultClient.Do(r))
	defer func() { _ = resp.Body.Close() }()
	a := answer{Status: resp.StatusCode, request: method + " " + path}
	a.raw = must(io.ReadAll(io.LimitReader(resp.Body, maxBytes)))
	if resp.Header.Get("Content-Type") == "application/json" {
		must0(json.Unmarshal(a.raw, &a))
	}
	return a
}

// uri returns a path with its parameter uri, and others as they are.
func uri(path, u, more string) string { return path + "?uri=" + url.QueryEscape(u) + more }

// put writes a file and waits for its vector.
func (w *world) put(name, content string) answer {
	return w.write(object{"uri": mine + name, "content": content, "mode": "create", "wait": true}).ok()
}

func (w *world) write(body object) answer { return w.send("POST", "/api/v1/content/write", body) }

func (w *world) mkdir(name string) {
	w.send("POST", "/api/v1/fs/mkdir", object{"uri": mine + name}).ok()
}

func (w *world) stat(name string) answer {
	return w.send("GET", uri("/api/v1/fs/stat", mine+name, ""), nil)
}

func (w *world) read(name string) answer {
	return w.send("GET", uri("/api/v1/content/read", mine+name, ""), nil)
}

// download returns the bytes of a file.
func (w *world) download(name string) []byte {
	return w.send("GET", uri("/api/v1/content/download", mine+name, ""), nil).ok().raw
}

// holds ends the check unless a file says text.
func (w *world) holds(name, text string) {
	var got string
	w.read(name).into(&got)
	same(got, text, name)
}

func (w *world) remove(name, more string) answer {
	return w.send("DELETE", uri("/api/v1/fs", mine+name, more), nil)
}

// settle waits for the server's queues.
func (w *world) settle() { w.send("POST", "/api/v1/system/wait", object{"timeout": 60}).ok() }

// batch writes files and waits until the folder is free.
func (w *world) batch(root string, wait bool, operations ...object) answer {
	body := object{"root_uri": mine + root, "operations": operations, "wait": wait}
	var a answer
	w.until("the folder is free", func() bool {
		a = w.send("POST", "/api/v1/content/batch-write", body)
		return !a.Error.Details.Retryable
	})
	return a
}

// upsert is an operation of a batch.
func upsert(name, content string) object {
	return object{"uri": mine + name, "content": content, "mode": "upsert"}
}

const (
	patience = 3 * time.Minute // an embedder that failed is not asked again for minutes
	between  = 100 * time.Millisecond
)

// until asks again and again, and ends the check when the answer stays no.
func (w *world) until(what string, yes func() bool) {
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	for !yes() {
		timer := time.NewTimer(between)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			hold(false, "%s: not within %v", what, patience)
		}
	}
}

// hit is a file that was found.
type hit struct {
	URI      string
	Level    int
	Score    float64
	Abstract string
	Tags     []string
}

// find returns the answer to a question about the user's memories.
func (w *world) find(query string, more object) answer {
	body := object{"query": query, "limit": 10, "level": 2, "context_type": "memory"}
	for k, v := range more {
		body[k] = v
	}
	return w.send("POST", "/api/v1/search/find", body)
}

// hits returns what find finds.
func (w *world) hits(query string, more object) []hit {
	var found struct {
		Memories []hit
		Total    int
	}
	w.find(query, more).into(&found)
	return found.Memories
}

// names returns the URIs of what find finds, without what they have in common.
func (w *world) names(query string, more object) (names []string) {
	for _, h := range w.hits(query, more) {
		names = append(names, strings.TrimPrefix(h.URI, mine))
	}
	return names
}

// lack is what consistency says.
type lack struct {
	OK       bool
	Expected int `json:"expected_count"`
	Missing  int `json:"missing_record_count"`
	Records  []struct {
		URI   string
		Level int
	} `json:"missing_records"`
	Truncated bool `json:"missing_records_truncated"`
}

func (w *world) consistency(name string) (l lack) {
	w.send("POST", "/api/v1/system/consistency", object{"uri": mine + name}).into(&l)
	return l
}

// reindexed is what came of making vectors again.
type reindexed struct {
	Status  string
	Rebuilt int `json:"rebuilt_records"`
	Failed  int `json:"failed_records"`
}

func (w *world) reindex(name string) (r reindexed) {
	w.until("there is no other reindex", func() bool {
		a := w.send("POST", "/api/v1/content/reindex", object{"uri": mine + name, "mode": "vectors_only", "wait": true})
		if a.Status == http.StatusConflict {
			return false
		}
		a.into(&r)
		return true
	})
	return r
}
