//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/amber-memory/amber/internal/serve/daemon"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

func vaultEffects() map[string]effect {
	backup := func(s *setting) colony.BackupReport {
		s.does("note", "write", "plan", "the harbour opens at dawn")
		return told[colony.BackupReport](s, "vault", "backup")
	}
	return map[string]effect{
		"vault.url": {func(s *setting) string {
			s.set("AMBER_VAULT__API_KEY_FILE", s.file("vault.key", "any"))
			return s.vault()
		}, func(s *setting) string { return s.exit("vault", "status") }, "exit 2", "exit 0"},
		"vault.api_key_file": {func(s *setting) string {
			keeper := newSetting(s.T, false)
			keeper.does("remember", "x")
			secret := keeper.token("--agent", "default", "--scope", "read,write")
			s.set("AMBER_VAULT__URL", keeper.serve().url+"/api/v1")
			return s.file("vault.key", secret)
		}, func(s *setting) string { return s.exit("vault", "status") }, "exit 2", "exit 0"},
		"vault.label": {inVault("tool"), func(s *setting) string { return backup(s).Label }, "default", "tool"},
		"vault.sign":  {inVault("true"), func(s *setting) string { return fmt.Sprint(backup(s).Signed) }, "false", "true"},
		"vault.recipients": {func(s *setting) string {
			s.useVault()
			return s.identity("ada")
		}, func(s *setting) string { return fmt.Sprint(backup(s).Encrypted) }, "false", "true"},
		"vault.schedule": {inVault("1h"), func(s *setting) string {
			s.does("note", "write", "plan", "x")
			return s.backsUpBy()
		}, "0", "1"},
		"vault.after_session": {inVault("true"), func(s *setting) string {
			s.does("note", "write", "plan", "x")
			s.does("session", "start", "s1")
			s.does("session", "end", "s1")
			return s.backsUpBy()
		}, "0", "1"},
		"vault.keep": {inVault("1"), func(s *setting) string {
			s.set("AMBER_VAULT__SCHEDULE", "1h")
			backup(s)
			s.does("note", "write", "plan", "x")
			return s.backsUpBy()
		}, "2", "1"},
	}
}

// inVault is value where there is a vault.
func inVault(v string) func(*setting) string {
	return func(s *setting) string {
		s.useVault()
		return v
	}
}

// vault is the URL of a vault that another home serves.
func (s *setting) vault() string {
	s.Helper()
	keeper := newSetting(s.T, false)
	keeper.does("remember", "x")
	return keeper.serve().url + "/api/v1"
}

// useVault configures one.
func (s *setting) useVault() {
	s.Helper()
	s.set("AMBER_VAULT__URL", s.vault())
	s.set("AMBER_VAULT__API_KEY_FILE", s.file("vault.key", "any"))
}

// backsUpBy lets a server look once which agents are due, and counts what is in the vault
// then.
func (s *setting) backsUpBy() string {
	s.Helper()
	w := s.serve()
	await(s.T, func() bool { return w.rounds(daemon.BackupWorker) > 0 })
	return s.items("vault", "list")
}

// serverVaultEffects are those of every rule that a vault which is served has,
// for all and for one tenant.
func serverVaultEffects() map[string]effect {
	again := func(method, path, body string) func(vaultDoor) int {
		return func(d vaultDoor) int {
			d.ask(method, path, body)
			return d.ask(method, path, body)
		}
	}
	text := func(n int) string { return `{"content":"` + strings.Repeat("x", n) + `"}` }
	all := map[string]effect{}
	for rule, of := range map[string]struct {
		value         string
		see           func(vaultDoor) int
		without, with int
	}{
		"enabled": {"false", func(d vaultDoor) int { return d.ask("PUT", "/vault/files/a.md", text(1)) }, 200, 403},
		"quota": {"1MiB", func(d vaultDoor) int {
			d.ask("PUT", "/vault/files/a.md", text(600_000))
			return d.ask("PUT", "/vault/files/b.md", text(600_000))
		}, 200, 400},
		"provisioned": {"true", vaultDoor.room, 0, 10 << 20},
		"max_file":    {"2MiB", func(d vaultDoor) int { return d.ask("PUT", "/vault/files/a.md", text(1<<20+1)) }, 400, 200},
		"max_files": {"1", func(d vaultDoor) int {
			d.ask("PUT", "/vault/files/a.md", text(1))
			return d.ask("PUT", "/vault/files/b.md", text(1))
		}, 200, 400},
		"extensions":          {".json,.md", func(d vaultDoor) int { return d.ask("PUT", "/vault/files/a.txt", text(1)) }, 200, 400},
		"operations_per_hour": {"1", again("PUT", "/vault/files/a.md", text(1)), 200, 429},
		"requests_per_minute": {"1", again("GET", "/vault/status", ""), 200, 429},
		"searches_per_hour":   {"1", again("GET", "/vault/search?q=xy", ""), 200, 429},
		"exports_per_hour":    {"1", again("GET", "/vault/export", ""), 200, 429},
	} {
		see := func(secret func(*setting) string) func(*setting) string {
			return func(s *setting) string {
				key := secret(s)
				return fmt.Sprint(of.see(s.serve().vaultDoor(key)))
			}
		}
		all["server.vault."+rule] = effect{value(of.value), see(func(s *setting) string {
			s.does("remember", "x")
			return "any"
		}), fmt.Sprint(of.without), fmt.Sprint(of.with)}
		all["server.vault.tenants.<name>."+rule] = effect{value(of.value), see(func(s *setting) string {
			s.does("--tenant", "tool", "--agent", "a", "--new-agent", "remember", "x")
			return s.token("--tenant", "tool", "--agent", "a", "--scope", "read,write")
		}), fmt.Sprint(of.without), fmt.Sprint(of.with)}
	}
	return all
}

// vaultDoor is a client that may use a vault.
type vaultDoor struct {
	*waiter
	bearer string
}

// vaultDoor exchanges an API key.
func (w *waiter) vaultDoor(key string) vaultDoor {
	w.Helper()
	var token struct {
		Access string `json:"access_token"`
	}
	answer := w.expect("POST", "/api/v1/auth/token", fmt.Sprintf(`{"api_key":%q}`, key))
	if err := json.Unmarshal([]byte(answer), &token); err != nil {
		w.Fatalf("%v in %s", err, answer)
	}
	return vaultDoor{w, token.Access}
}

// ask returns the status of an answer.
func (d vaultDoor) ask(method, path, body string) int {
	d.Helper()
	status, _ := d.answer(method, path, body)
	return status
}

// room returns the quota that the vault tells.
func (d vaultDoor) room() int {
	d.Helper()
	var s struct {
		Quota int `json:"quota_bytes"`
	}
	if _, body := d.answer("GET", "/vault/status", ""); json.Unmarshal(body, &s) != nil {
		d.Fatalf("the status is %s", body)
	}
	return s.Quota
}

func (d vaultDoor) answer(method, path, body string) (int, []byte) {
	d.Helper()
	req := must.Get(http.NewRequestWithContext(d.Context(), method, d.url+"/api/v1"+path, strings.NewReader(body)))(d)
	req.Header.Set("Authorization", "Bearer "+d.bearer)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp := must.Get(d.client.Do(req))(d)
	defer resp.Body.Close()
	b := must.Get(io.ReadAll(resp.Body))(d)
	return resp.StatusCode, b
}
