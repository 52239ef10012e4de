package ovtest

import (
	"encoding/json"
	"net/http"
)

func accessChecks() []check {
	return []check{
		{"envelope/result", func(w *world) {
			a := w.send("GET", "/api/v1/system/status", nil).ok()
			same(a.Said, "ok", "status")
			var doc map[string]json.RawMessage
			must0(json.Unmarshal(a.raw, &doc))
			same(string(doc["error"]), "null", "error")
		}},
		{"envelope/error", func(w *world) {
			a := w.stat("none/a.md").refused(404, "NOT_FOUND")
			same(a.Said, "error", "status")
			hold(a.Error.Message != "", "the error has no message: %s", a.raw)
		}},
		{"envelope/no-such-call", func(w *world) {
			w.send("GET", "/api/v1/nothing", nil).refused(404, "NOT_FOUND")
			w.send("GET", "/api/v1/content/write", nil).refused(405, "UNKNOWN")
		}},
		{"health/without-a-key", func(w *world) {
			h := w.health("")
			same(h.Status, "ok", "status")
			hold(h.Version != "", "there is no version")
			same(h.Mode, "api_key", "mode")
			same(h.Account+h.User, "", "account and user")
		}},
		{"health/key-tells-user", func(w *world) {
			h := w.health(w.key)
			same(h.Account, w.account, "account")
			same(h.User, "u1", "user")
			same(h.Role, "admin", "role")
			w.as("nonsense", "GET", "/health", nil).refused(401, "UNAUTHENTICATED")
		}},
		{"ready/is-ready", func(w *world) {
			a := w.as("", "GET", "/ready", nil)
			same(a.Status, 200, "status")
			same(a.Said, "ready", "said")
		}},
		{"status/tells-user", func(w *world) {
			var status struct{ User string }
			w.send("GET", "/api/v1/system/status", nil).into(&status)
			same(status.User, "u1", "user")
		}},
		{"keys/missing-or-wrong", func(w *world) {
			w.as("", "GET", "/api/v1/system/status", nil).refused(401, "UNAUTHENTICATED")
			w.as("nonsense", "GET", "/api/v1/system/status", nil).refused(401, "UNAUTHENTICATED")
		}},
		{"keys/bearer", func(w *world) {
			w.with(http.Header{"Authorization": {"Bearer " + w.key}}, "GET", "/api/v1/system/status", nil).ok()
		}},
		{"keys/root-reads-no-tenant-data", rootReadsNothing},
		{"keys/new-key-refuses-the-old", func(w *world) {
			old := w.newUser("u2")
			var made struct {
				Key string `json:"user_key"`
			}
			w.send("POST", "/api/v1/admin/accounts/"+w.account+"/users/u2/key", object{}).into(&made)
			w.as(old, "GET", "/api/v1/system/status", nil).refused(401, "UNAUTHENTICATED")
			w.as(made.Key, "GET", "/api/v1/system/status", nil).ok()
		}},
		{"keys/account-header-is-ignored", func(w *world) {
			a := w.with(http.Header{"X-Api-Key": {w.key}, "X-Openviking-Account": {"default"}, "X-Openviking-User": {"u9"}}, "GET", "/health", nil)
			same(a.Status, 200, "status")
			var h health
			must0(json.Unmarshal(a.raw, &h))
			same(h.Account+" "+h.User, w.account+" u1", "account and user")
		}},
		{"walls/users", func(w *world) {
			w.put("notes/a.md", "gateway port")
			w.newUser("u2")
			w.foreign(w.newUser("u3"), mine)
			w.foreign(w.key, "viking://user/u2/memories/")
		}},
		{"walls/accounts", func(w *world) {
			w.put("notes/a.md", "gateway port")
			mineToo := w.newAccount(w.account+"x", "u1")
			w.as(mineToo, "GET", uri("/api/v1/content/read", mine+"notes/a.md", ""), nil).refused(404, "NOT_FOUND")
			var found struct{ Memories []hit }
			w.as(mineToo, "POST", "/api/v1/search/find", object{"query": "gateway port", "level": 2}).into(&found)
			same(len(found.Memories), 0, "hits in the other account")
			w.foreign(w.newAccount(w.account+"y", "u7"), mine)
		}},
		{"admin/account-twice", func(w *world) {
			again := object{"account_id": w.account, "admin_user_id": "u1"}
			w.as(w.target.RootKey, "POST", "/api/v1/admin/accounts", again).refused(409, "ALREADY_EXISTS")
			w.send("POST", "/api/v1/admin/accounts", object{"account_id": w.account + "z", "admin_user_id": "u1"}).refused(403, "PERMISSION_DENIED")
		}},
		{"admin/users", func(w *world) {
			key := w.newUser("u2")
			users := "/api/v1/admin/accounts/" + w.account + "/users"
			w.send("POST", users, object{"user_id": "u2", "role": "user"}).refused(409, "ALREADY_EXISTS")
			w.as(key, "POST", users, object{"user_id": "u3", "role": "user"}).refused(403, "PERMISSION_DENIED")
			w.send("POST", "/api/v1/admin/accounts/default/users", object{"user_id": "u3", "role": "user"}).refused(403, "PERMISSION_DENIED")
			w.send("POST", users+"/u9/key", object{}).refused(404, "NOT_FOUND")
		}},
	}
}

// health is what a server says of itself, and of who asks.
type health struct {
	Status  string
	Version string
	Mode    string `json:"auth_mode"`
	Account string `json:"account_id"`
	User    string `json:"user_id"`
	Role    string
}

func (w *world) health(key string) (h health) {
	a := w.as(key, "GET", "/health", nil)
	same(a.Status, 200, "status of health")
	must0(json.Unmarshal(a.raw, &h))
	return h
}

// foreign ends the check unless every access to a folder is refused.
func (w *world) foreign(key, folder string) {
	file := folder + "notes/a.md"
	for _, a := range []answer{
		w.as(key, "POST", "/api/v1/content/write", object{"uri": file, "content": "x"}),
		w.as(key, "POST", "/api/v1/content/batch-write", object{"root_uri": folder + "notes", "operations": []object{{"uri": file, "content": "x"}}}),
		w.as(key, "POST", "/api/v1/fs/mkdir", object{"uri": folder + "other"}),
		w.as(key, "POST", "/api/v1/search/find", object{"query": "gateway", "target_uri": []string{folder}}),
		w.as(key, "POST", "/api/v1/system/consistency", object{"uri": folder}),
		w.as(key, "POST", "/api/v1/content/reindex", object{"uri": folder, "mode": "vectors_only"}),
		w.as(key, "GET", uri("/api/v1/content/read", file, ""), nil),
		w.as(key, "GET", uri("/api/v1/content/download", file, ""), nil),
		w.as(key, "GET", uri("/api/v1/fs/stat", file, ""), nil),
		w.as(key, "GET", uri("/api/v1/fs/ls", folder, ""), nil),
		w.as(key, "DELETE", uri("/api/v1/fs", file, ""), nil),
	} {
		a.refused(403, "PERMISSION_DENIED")
	}
}

func rootReadsNothing(w *world) {
	w.put("notes/a.md", "gateway")
	root := w.target.RootKey
	for _, a := range []answer{
		w.as(root, "POST", "/api/v1/content/write", object{"uri": mine + "notes/a.md", "content": "x"}),
		w.as(root, "POST", "/api/v1/search/find", object{"query": "gateway"}),
		w.as(root, "GET", uri("/api/v1/content/read", mine+"notes/a.md", ""), nil),
		w.as(root, "GET", uri("/api/v1/fs/ls", mine, ""), nil),
		w.as(root, "DELETE", uri("/api/v1/fs", mine+"notes/a.md", ""), nil),
	} {
		a.refused(403, "PERMISSION_DENIED")
	}
}
