package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// TestOnlyTheVaultSaysNotFound has each file missing here that a verb may need:
// whatever else that is, it is not "there is no memory".
func TestOnlyTheVaultSaysNotFound(t *testing.T) {
	t.Parallel()
	const id = "20260813T101112131415Z-a1b2c3"
	verbs := map[string]struct {
		args  []string
		empty int // the exit code for an empty vault
	}{
		"restore":         {[]string{"restore"}, 3},
		"restore dir":     {[]string{"restore", "--dir", "out"}, 3},
		"restore by name": {[]string{"restore", id}, 3},
		"restore dry":     {[]string{"restore", "--dry-run"}, 3},
		"latest":          {[]string{"latest"}, 3},
		"export-merge":    {[]string{"export-merge"}, 3},
		"delete":          {[]string{"delete", id, "--yes"}, 3},
		"list":            {[]string{"list"}, 0},
		"status":          {[]string{"status"}, 0},
		"prune":           {[]string{"prune", "--yes"}, 0},
		"backup dir":      {[]string{"backup", "--dir", "docs"}, 0},
	}
	missing := [][]string{{"--api-key-file", "none"}, {"--identity", "none"}, {"--config", "none"}}
	for name, verb := range verbs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newVaultUser(t)
			put(t, "text", u.dir, "docs", "a.md")
			for _, flags := range missing {
				u.amber(append(append([]string{"vault"}, verb.args...), flags...)...).exits(2, 6)
			}
			for _, environ := range []string{"AMBER_VAULT__API_KEY_FILE=" + u.dir + "/none", "AMBER_SNAPSHOT__ENCRYPTION__IDENTITY=" + u.dir + "/none"} {
				here := *u
				here.environ = append(append([]string{}, u.environ...), environ)
				here.amber(append([]string{"vault"}, verb.args...)...).exits(2, 6)
			}
			if got := below(t, u.vault); len(got) > 0 {
				t.Errorf("in the vault: %v", got)
			}
			u.amber(append([]string{"vault"}, verb.args...)...).exits(verb.empty)
		})
	}
}

// TestBackupsOfNothingAreInvalid has what is to be backed up missing.
func TestBackupsOfNothingAreInvalid(t *testing.T) {
	t.Parallel()
	u := newVaultUser(t)
	put(t, "text", u.dir, "docs", "a.md")
	for _, args := range [][]string{
		{"--dir", "none"},
		{"--dir", "none", "--dry-run"},
		{"--dir", "docs", "--sign=none"},
		{"--dir", "home"},
		{},
		{"--dry-run"},
		{"--agent", "nobody"},
	} {
		u.amber(append([]string{"vault", "backup"}, args...)...).exits(2, 6)
	}
}

// TestAKeyThatVanishes is gone when the vault asks for it again.
func TestAKeyThatVanishes(t *testing.T) {
	t.Parallel()
	u := newVaultUser(t)
	put(t, "text", u.dir, "docs", "a.md")
	u.must("vault", "backup", "--dir", "docs")
	u.answer = func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/auth/token") {
			os.Remove(filepath.Join(u.dir, "key"))
			r.Header.Set("Authorization", "Bearer of another day")
		}
	}
	u.amber("vault", "restore", "--dir", "out").exits(2, 6)
}

// TestVerbsThatOnlyReadMakeNoKeys has a new home whose configuration asks for
// signatures and encryption: the old keys may still be on their way to it.
func TestVerbsThatOnlyReadMakeNoKeys(t *testing.T) {
	t.Parallel()
	u := newVaultUser(t)
	put(t, "text", u.dir, "docs", "a.md")
	id := strings.Fields(u.must("vault", "backup", "--dir", "docs"))[0]
	u.environ[0] = "AMBER_HOME=" + filepath.Join(u.dir, "new")
	u.environ = append(u.environ, "AMBER_VAULT__SIGN=true",
		"AMBER_VAULT__RECIPIENTS=age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p")
	for _, args := range [][]string{
		{"list"},
		{"latest"},
		{"status"},
		{"export-merge"},
		{"restore", "--dry-run"},
		{"restore", "--dir", "out", "--dry-run"},
		{"restore", "--dir", "out"},
		{"prune", "--yes"},
		{"delete", id, "--dry-run"},
	} {
		u.must(append([]string{"vault"}, args...)...)
		for _, name := range below(t, filepath.Join(u.dir, "new")) {
			if strings.HasPrefix(name, "keys") {
				t.Errorf("%v made %s", args, name)
			}
		}
	}
}

// TestAKeyByAnotherNameStays has the key file a second time below the folder, as
// a hard link.
func TestAKeyByAnotherNameStays(t *testing.T) {
	t.Parallel()
	u := newVaultUser(t)
	put(t, "text", u.dir, "docs", "a.md")
	must.Do(t, os.Link(filepath.Join(u.dir, "key"), filepath.Join(u.dir, "docs", "notes.txt")))
	var plan struct {
		DocNames []string       `json:"doc_names"`
		Skipped  []wire.Skipped `json:"skipped"`
	}
	must.Do(t, json.Unmarshal([]byte(u.must("--json", "vault", "backup", "--dir", "docs", "--dry-run")), &plan))
	if len(plan.DocNames) != 1 || len(plan.Skipped) != 1 || plan.Skipped[0].Path != "notes.txt" {
		t.Errorf("plan: %+v", plan)
	}
}
