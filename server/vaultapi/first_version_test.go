package vaultapi_test

import (
	"encoding/json"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server/vaultapi"
)

// TestFirstVersionOfTheClient answers so that colony-memory 0.1.0 can begin: it
// looks only at what is available, and for files where there are items.
func TestFirstVersionOfTheClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *vaultapi.Options) {
		o.Room = func(amber.TenantID) int64 { return 1234 }
	})
	token := w.login(bob)
	if got, want := string(w.do(ask{method: "GET", path: "/vault/status", token: token}).want(200).body),
		`{"quota_bytes":1234,"used_bytes":0,"available_bytes":1234,"file_count":0}`; got != want {
		t.Errorf("nobody has written: %s, want %s", got, want)
	}
	w.put(token, "a.md", "text").want(200)
	var s struct {
		Quota     int64 `json:"quota_bytes"`
		Available int64 `json:"available_bytes"`
	}
	if err := json.Unmarshal(w.do(ask{method: "GET", path: "/vault/status", token: token}).want(200).body, &s); err != nil || s.Quota == 0 || s.Available != s.Quota-4 {
		t.Errorf("after a write: %+v, %v", s, err)
	}
	var l struct {
		Files []string
	}
	if err := json.Unmarshal(w.do(ask{method: "GET", path: "/vault/files", token: token}).want(200).body, &l); err != nil || len(l.Files) != 1 || l.Files[0] != "a.md" {
		t.Errorf("files: %+v, %v", l, err)
	}
}
