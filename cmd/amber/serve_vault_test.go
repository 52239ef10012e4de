//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// toVault exchanges a key for a token and shows it from now on.
func (r *running) toVault(key string) {
	r.t.Helper()
	var got struct {
		Token string `json:"access_token"`
	}
	r.token = ""
	r.answer(http.MethodPost, "/api/v1/auth/token", fmt.Sprintf(`{"api_key":%q}`, key), &got)
	r.token = got.Token
}

// vaultHolds returns every file of the vault with its content.
func (r *running) vaultHolds() map[string]string {
	r.t.Helper()
	var list struct {
		Items []struct {
			Name string `json:"filename"`
		}
	}
	r.get("/api/v1/vault/files", &list)
	all := map[string]string{}
	for _, f := range list.Items {
		var file struct{ Content string }
		r.get("/api/v1/vault/files/"+f.Name, &file)
		all[f.Name] = file.Content
	}
	return all
}

func (r *running) vaultPut(name, content string) {
	r.t.Helper()
	r.answer(http.MethodPut, "/api/v1/vault/files/"+name, fmt.Sprintf(`{"content":%q}`, content), nil)
}

// unlimited lifts the bound on changes.
const unlimited = "server:\n  vault:\n    operations_per_hour: 0\n    requests_per_minute: 0\n"

// TestAKilledServerKeepsItsVaults: what was acknowledged is there after kill -9,
// a token from before is not taken, and a key is again.
func TestAKilledServerKeepsItsVaults(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.configure(unlimited)
	r := u.serve()
	r.toVault("any key, before there is a token")
	r.vaultPut("notes/first.md", "before")
	const clients, each = 3, 4
	var acked sync.Map
	enough := make(chan struct{})
	var left sync.WaitGroup
	left.Add(clients * each)
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := 0; ; i++ {
				name := fmt.Sprintf("c%d-%d.md", c, i)
				status, b, err := r.ask(http.MethodPut, "/api/v1/vault/files/"+name, fmt.Sprintf(`{"content":%q}`, name))
				if err != nil {
					return // it was killed
				}
				if status != http.StatusOK {
					t.Errorf("%d %s", status, b)
				}
				acked.Store(name, true)
				if i < each {
					left.Done()
				}
			}
		})
	}
	go func() { left.Wait(); close(enough) }()
	<-enough
	r.kill()
	wg.Wait()
	old := r.token
	r = u.serve()
	r.token = old
	if status, b, err := r.ask(http.MethodGet, "/api/v1/vault/status", ""); err != nil || status != http.StatusUnauthorized || !strings.Contains(string(b), "AUTH_INVALID_TOKEN") {
		t.Errorf("%d %s %v", status, b, err)
	}
	r.toVault("another key")
	there := r.vaultHolds()
	acked.Range(func(name, _ any) bool {
		if there[name.(string)] != name {
			t.Errorf("%s was acknowledged and is %q", name, there[name.(string)])
		}
		return true
	})
	if there["notes/first.md"] != "before" {
		t.Errorf("%v", there)
	}
	u.must("", "audit", "verify")
}

// TestSnapshotsHoldTheVault: a restore brings the vault back as it was then.
func TestSnapshotsHoldTheVault(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.serve()
	r.toVault("x")
	r.vaultPut("kept.md", "as it was")
	var taken wire.SnapshotMeta
	must.Do(t, json.Unmarshal([]byte(u.must("", "--json", "snapshot", "create")), &taken))
	r.vaultPut("kept.md", "changed")
	r.vaultPut("later.md", "new")
	u.must("", "snapshot", "restore", string(taken.ID), "--yes")
	if got := r.vaultHolds(); len(got) != 1 || got["kept.md"] != "as it was" {
		t.Errorf("%v", got)
	}
	r.vaultPut("after.md", "goes on")
}

// TestKeysOfAVault: from the first token on only tokens of one agent are keys, and
// one that is revoked ends what it was exchanged for.
func TestKeysOfAVault(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.serve()
	r.toVault("anything")
	r.vaultPut("a.md", "x")
	var one, all wire.NewToken
	decode(t, u.must("", "--json", "token", "create", "one", "--scope", "read,write"), &one)
	decode(t, u.must("", "--json", "token", "create", "all", "--all-agents", "--scope", "read,write"), &all)
	refused := func(code, method, path, body string) {
		t.Helper()
		if status, b, err := r.ask(method, "/api/v1"+path, body); err != nil || status/100 != 4 || !strings.Contains(string(b), code) {
			t.Errorf("%s: %d %s %v, want %s", path, status, b, err, code)
		}
	}
	refused("AUTH_TOKEN_REVOKED", http.MethodGet, "/vault/status", "")
	r.token = one.Secret
	refused("AUTH_INVALID_TOKEN", http.MethodGet, "/vault/status", "")
	refused("AUTH_INVALID_TOKEN", http.MethodPost, "/auth/token", `{"api_key":"anything"}`)
	refused("AUTH_AGENT_ONLY", http.MethodPost, "/auth/token", fmt.Sprintf(`{"api_key":%q}`, all.Secret))
	r.toVault(one.Secret)
	if got := r.vaultHolds(); got["a.md"] != "x" {
		t.Errorf("%v", got)
	}
	checkVaultAnswers(t, r)
	u.must("", "token", "revoke", string(one.ID), "--yes")
	refused("AUTH_TOKEN_REVOKED", http.MethodGet, "/vault/status", "")
	trail := u.must("", "audit", "list", "--jsonl", "--action", "vault.put")
	if !strings.Contains(trail, `"subject":"a.md"`) {
		t.Errorf("%s", trail)
	}
}

// checkVaultAnswers asks for what only the parts of the program know together.
func checkVaultAnswers(t *testing.T, r *running) {
	t.Helper()
	keyed := func(body string) (int, string) {
		req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/api/v1/vault/files/log.md/append", strings.NewReader(body)))(t)
		req.Header.Set("Authorization", "Bearer "+r.token)
		req.Header.Set("Idempotency-Key", "k1")
		resp := must.Get(r.client.Do(req))(t)
		defer resp.Body.Close()
		var got struct{ Detail struct{ Code string } }
		_ = json.NewDecoder(resp.Body).Decode(&got) // an answer has no code
		return resp.StatusCode, got.Detail.Code
	}
	for range 2 {
		if status, code := keyed(`{"content":"line"}`); status != http.StatusOK {
			t.Errorf("%d %s", status, code)
		}
	}
	if status, code := keyed(`{"content":"other"}`); status != http.StatusConflict || code != "idempotency_payload_mismatch" {
		t.Errorf("%d %s", status, code)
	}
	var found struct {
		Total int
		Items []struct{ Filename, Snippet string }
	}
	r.get("/api/v1/vault/search?q=line", &found)
	if found.Total != 1 || found.Items[0].Snippet != "[[hl]]line[[/hl]]" {
		t.Errorf("%+v", found)
	}
	var folders struct {
		Items []struct {
			Folder string
			Files  int `json:"file_count"`
		}
	}
	r.get("/api/v1/vault/folders", &folders)
	if len(folders.Items) != 1 || folders.Items[0].Folder != "(root)" || folders.Items[0].Files != 2 {
		t.Errorf("%+v", folders)
	}
}

// TestAServerTellsOfFilesThatFitIntoNoRequest: when it starts, the server reports a bound that no file can
// reach, and does not report one that fits into a request.
func TestAServerTellsOfFilesThatFitIntoNoRequest(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.configure("server:\n  max_body: 2MiB\n  vault:\n    quota: 100MiB\n    tenants: {acme: {max_file: 2MiB}, other: {max_file: 1MiB}}\n")
	r := u.serve()
	r.stop()
	log := r.log.String()
	if strings.Count(log, "fit into a request") != 1 || !strings.Contains(log, "setting=server.vault.tenants.acme.max_file") {
		t.Errorf("the log:\n%s", log)
	}
}
