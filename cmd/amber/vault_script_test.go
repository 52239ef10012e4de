package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/amber-memory/amber/internal/share/colony"
)

// scriptVault is "vault": it serves the folder $WORK/vault as the service does,
// sets $VAULT to its URL and writes its key to the file "key". A file "answer"
// with a line "503" or "PUT 403" is what it then answers to everything, or to
// every PUT, besides asking for an hour of peace.
func scriptVault(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: vault")
	}
	d := &dirVault{dir: ts.MkAbs("vault"), answer: ts.MkAbs("answer")}
	ts.Check(os.MkdirAll(d.dir, 0o700))
	ts.Check(os.WriteFile(ts.MkAbs("key"), []byte(dirVaultKey+"\n"), 0o600))
	s := httptest.NewServer(d)
	ts.Defer(s.Close)
	ts.Setenv("VAULT", s.URL+"/api/v1")
	ts.Setenv("AMBER_VAULT__URL", s.URL+"/api/v1")
	ts.Setenv("AMBER_VAULT__API_KEY_FILE", ts.MkAbs("key"))
}

const (
	dirVaultKey   = "col_script"
	dirVaultToken = "token-of-the-script"
)

// dirVault is a vault of a folder, whose files scripts can look at and change.
type dirVault struct {
	dir, answer string
	mu          sync.Mutex
}

func (d *dirVault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/api/v1")
	name, isFile := strings.CutPrefix(path, "/vault/files/")
	switch {
	case d.fails(w, r):
	case path == "/auth/token":
		var in struct {
			APIKey string `json:"api_key"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.APIKey != dirVaultKey {
			d.fail(w, http.StatusUnauthorized, "AUTH_INVALID_KEY")
			return
		}
		d.write(w, http.StatusOK, map[string]any{"access_token": dirVaultToken, "token_type": "bearer"})
	case r.Header.Get("Authorization") != "Bearer "+dirVaultToken:
		d.fail(w, http.StatusUnauthorized, "AUTH_INVALID_TOKEN")
	case path == "/me/capabilities":
		d.write(w, http.StatusOK, map[string]any{"capabilities": []any{map[string]any{"name": "write_vault", "allowed": true}}})
	case path == "/vault/status":
		d.write(w, http.StatusOK, map[string]any{"quota_bytes": 0, "used_bytes": 0, "available_bytes": 0, "file_count": len(d.list(""))})
	case path == "/vault/files":
		items := d.list(r.URL.Query().Get("prefix"))
		d.write(w, http.StatusOK, map[string]any{"items": items, "total": len(items), "has_more": false})
	case isFile && filepath.IsLocal(name) && !strings.Contains(name, "/"):
		d.file(w, r, name)
	default:
		d.fail(w, http.StatusNotFound, "NOT_FOUND")
	}
}

// fails answers as the script says, if it does.
func (d *dirVault) fails(w http.ResponseWriter, r *http.Request) bool {
	b, err := os.ReadFile(d.answer)
	if err != nil {
		return false
	}
	words := strings.Fields(string(b))
	if len(words) == 2 && words[0] != r.Method {
		return false
	}
	var code int
	if _, err := fmt.Sscan(words[len(words)-1], &code); err != nil {
		return false
	}
	w.Header().Set("Retry-After", "3600")
	d.fail(w, code, "AS_THE_SCRIPT_SAYS")
	return true
}

func (d *dirVault) fail(w http.ResponseWriter, status int, code string) {
	d.write(w, status, map[string]any{"detail": map[string]string{"code": code, "message": "no"}})
}

func (d *dirVault) write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func (d *dirVault) list(prefix string) []map[string]any {
	entries, _ := os.ReadDir(d.dir) // without a folder there are none
	items := []map[string]any{}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), prefix) {
			items = append(items, map[string]any{"filename": e.Name(), "content_size": info.Size()})
		}
	}
	return items
}

func (d *dirVault) file(w http.ResponseWriter, r *http.Request, name string) {
	path := filepath.Join(d.dir, name)
	b, err := os.ReadFile(path)
	absent := errors.Is(err, fs.ErrNotExist)
	switch {
	case r.Method == http.MethodPut:
		d.put(w, r, name, absent, etagOf(b))
	case absent:
		d.fail(w, http.StatusNotFound, "NOT_FOUND")
	case r.Method == http.MethodDelete:
		if err := os.Remove(path); err != nil {
			d.fail(w, http.StatusInternalServerError, "INTERNAL")
			return
		}
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("ETag", etagOf(b))
		d.write(w, http.StatusOK, map[string]any{"filename": name, "content_size": len(b), "content": string(b)})
	}
}

func (d *dirVault) put(w http.ResponseWriter, r *http.Request, name string, absent bool, etag string) {
	if match := r.Header.Get("If-Match"); r.Header.Get("If-None-Match") == "*" && !absent || match != "" && (absent || match != etag) {
		d.fail(w, http.StatusPreconditionFailed, "PRECONDITION_FAILED")
		return
	}
	var in struct{ Content string }
	err := json.NewDecoder(r.Body).Decode(&in)
	if err == nil {
		err = os.WriteFile(filepath.Join(d.dir, name), []byte(in.Content), 0o600)
	}
	if err != nil {
		d.fail(w, http.StatusInternalServerError, "INTERNAL")
		return
	}
	w.Header().Set("ETag", etagOf([]byte(in.Content)))
	d.write(w, http.StatusOK, map[string]any{"filename": name, "content_size": len(in.Content)})
}

func etagOf(b []byte) string {
	sum := sha256.Sum256(b)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

// scriptPlant is "plant LABEL NAME TEXT [NAME TEXT...]": it puts a snapshot into
// the vault that no client of Amber would make; NAME and TEXT are the insides of
// Go string literals.
func scriptPlant(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args)%2 == 0 {
		ts.Fatalf("usage: plant LABEL NAME TEXT [NAME TEXT...]")
	}
	docs := colony.Documents{}
	for i := 1; i < len(args); i += 2 {
		name, err := strconv.Unquote(`"` + args[i] + `"`)
		ts.Check(err)
		docs[name], err = strconv.Unquote(`"` + args[i+1] + `"`)
		ts.Check(err)
	}
	now := time.Now()
	id, err := colony.NewSnapshotID(now, rand.Reader)
	ts.Check(err)
	p, err := colony.Pack(context.Background(), colony.Draft{
		ID: id, Label: args[0], CreatedAt: now, Documents: docs, Random: rand.Reader,
	})
	ts.Check(err)
	for _, f := range append(p.Parts, p.Manifest, colony.Latest(args[0], id, now)) {
		ts.Check(os.WriteFile(filepath.Join(ts.MkAbs("vault"), f.Name), []byte(f.Content), 0o600))
	}
}
