//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/documents"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestVaultOfAServer backs up from one home to a served one and restores into a
// third: all that the third has is a token.
func TestVaultOfAServer(t *testing.T) {
	t.Parallel()
	host, writer, reader := newUser(t), newUser(t), newUser(t)
	key := filepath.Join(t.TempDir(), "key")
	var token struct{ ID string }
	decode(t, host.must("", "--json", "token", "create", "ada", "--agent", "default", "--scope", "read,write", "--secret-file", key), &token)
	server := host.serve()
	at := []string{"--url", server.url + "/api/v1", "--api-key-file", key}
	vault := func(args ...string) []string { return append(append([]string{"--json", "vault"}, args...), at...) }

	writer.must("", "note", "write", "plan", "the harbour plan")
	var made colony.BackupReport
	decode(t, writer.must("", vault("backup", "--sign")...), &made)
	if made.Unchanged || len(made.Uploaded) != 3 || !made.Signed {
		t.Fatalf("backup: %+v", made)
	}
	var status colony.Status
	decode(t, writer.must("", vault("status")...), &status)
	if status.FileCount != 3 || status.UsedBytes == 0 || status.QuotaBytes != 10<<20 {
		t.Errorf("status: %+v", status)
	}
	var again colony.BackupReport
	decode(t, writer.must("", vault("backup", "--sign")...), &again)
	if !again.Unchanged || again.ID != made.ID {
		t.Errorf("again: %+v", again)
	}

	// A server that begins anew has forgotten every token it gave out.
	server.stop()
	server = host.serve()
	at[1] = server.url + "/api/v1"
	var got struct {
		colony.Restored
		documents.Plan
	}
	decode(t, reader.must("", vault("restore", "--require-signed", "--trust", string(made.Issuer))...), &got)
	if got.ID != made.ID || got.Checks.Signature != colony.SignatureVerified || len(got.Written) != 1 {
		t.Errorf("restored: %+v", got)
	}
	must.Equal(t, "note", reader.must("", "note", "show", "plan"), "the harbour plan\n")
	// The server has another address now, under which the writer has never seen the snapshot. Amber keeps such
	// a snapshot once, so the first backup sees it and the second one removes it.
	writer.must("", vault("backup", "--sign")...)
	writer.must("", vault("backup", "--force", "--keep", "1")...)
	var left struct{ Items []colony.Listed }
	decode(t, reader.must("", vault("list")...), &left)
	if len(left.Items) != 1 || left.Items[0].ID == made.ID || !left.Items[0].Latest {
		t.Errorf("left: %+v", left)
	}

	// A revoked token is refused, which is not the same as not found.
	host.must("", "token", "revoke", token.ID, "--yes")
	if _, stderr, code := reader.amber("", vault("latest")...); code != 6 {
		t.Errorf("revoked: %d %s", code, stderr)
	}
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
}
