package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/serve/backup"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// TestDoctorTellsHowBackupsAreDoing goes the way of a home that is backed up to
// a vault.
func TestDoctorTellsHowBackupsAreDoing(t *testing.T) {
	p := newSickHome(t)
	if _, found := p.doctor(); found["vault"].Code != "" {
		t.Errorf("without a vault: %+v", found["vault"])
	}
	key := filepath.Join(p.home, "vault.key")
	p.must(os.WriteFile(key, []byte("col_secret\n"), 0o600))
	p.world.Environ = append(p.world.Environ, "AMBER_VAULT__URL=https://vault.example/api", "AMBER_VAULT__API_KEY_FILE="+key)
	tells := func(status wire.FindingStatus, details ...string) {
		t.Helper()
		code, found := p.doctor()
		f := found["vault"]
		if f.Status != status || (code != 0) != (status == wire.FindingFailed) {
			t.Errorf("exit %d, %+v, want %s", code, f, status)
		}
		for _, d := range append(details, "") {
			if !strings.Contains(f.Detail+f.Hint, d) || strings.Contains(f.Detail, "col_secret") {
				t.Errorf("%+v, want %q", f, d)
			}
		}
	}
	tells(wire.FindingOK, "https://vault.example/api", "no automatic backups are configured")
	p.world.Environ = append(p.world.Environ, "AMBER_VAULT__SCHEDULE=1d")
	tells(wire.FindingWarning, "no automatic backup yet", "the schedule is 1d", "amber serve")

	records, me := backup.In(p.home), server.AgentName{Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent}
	at := amber.At(time.Date(2096, 3, 1, 12, 0, 0, 0, time.UTC))
	after := func(d time.Duration) { p.world.Clock = func() time.Time { return at.Time().Add(d) } }
	after(48*time.Hour - time.Second)
	st := backup.State{Vault: backup.VaultName(config.Vault{URL: "https://vault.example/api", Label: "default"})}.Succeeded(at, false)
	p.must(records.Write(me, st))
	tells(wire.FindingOK, "last backup by a server 2096-03-01T12:00:00")
	after(48 * time.Hour) // no server runs any more
	tells(wire.FindingWarning, "last backup by a server 2096-03-01T12:00:00", "no server has looked since 2096-03-01T12:00:00", "amber serve")
	after(time.Hour)
	st.DueSince = amber.At(at.Time().Add(time.Hour))
	p.must(records.Write(me, st))
	tells(wire.FindingWarning, "2096-03-01T12:00:00", "due since 2096-03-01T13:00:00", "amber serve")
	st = st.Failed(amber.At(at.Time().Add(2*time.Hour)), at, errors.New("nobody is there"))
	p.must(records.Write(me, st))
	tells(wire.FindingWarning, "failing since 2096-03-01T14:00:00", "due since 2096-03-01T13:00:00", "nobody is there", "amber vault status")
	strange := amber.Errorf(amber.KindConflict, "look", "", "the vault was never seen from here").WithHint("amber vault restore")
	p.must(records.Write(me, st.Failed(at, at, strange)))
	tells(wire.FindingWarning, "the vault was never seen from here", "amber vault restore")

	if runtime.GOOS != "windows" {
		p.must(os.Chmod(key, 0o644))
		tells(wire.FindingFailed, "0644", "chmod 600 "+key)
	}
	p.must(os.Remove(key))
	tells(wire.FindingFailed, "the file does not exist")
	p.must(os.WriteFile(key, nil, 0o600))
	p.must(os.WriteFile(records.Path(me), []byte("?"), 0o600))
	tells(wire.FindingFailed, "remove the file")
	// No server can back up without a key, whatever was known before.
	p.world.Environ = append(p.world.Environ, "AMBER_VAULT__API_KEY_FILE=")
	tells(wire.FindingFailed, "vault.api_key_file is not set", "name that in vault.api_key_file")
}

// TestDoctorFindsDamageInTheVaultItKeeps has a server's vault with a file that is
// no more what was put.
func TestDoctorFindsDamageInTheVaultItKeeps(t *testing.T) {
	p := newSickHome(t)
	if _, found := p.doctor(); found[vaultFilesCode].Code != "" {
		t.Errorf("without files: %+v", found[vaultFilesCode])
	}
	h, _, err := home.Open(p.home, home.Options{Clock: time.Now, Random: rand.Reader})
	p.must(err)
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	p.must(err)
	v, err := shelf.Open(agent, shelf.Options{Clock: time.Now})
	p.must(err)
	for _, name := range []string{"good.md", "notes/a.md", "notes/b.md"} {
		_, err := v.Put(t.Context(), name, "text")
		p.must(err)
	}
	p.finds(0, vaultFilesCode, wire.FindingOK, "3 files, all of them whole")
	spoil := func(name string, content func([]byte) []byte) string {
		sum := sha256.Sum256([]byte(name))
		digits := hex.EncodeToString(sum[:])
		path := p.agent("gen", "1", "state", "vault", digits[:2], digits)
		b, err := os.ReadFile(path)
		p.must(err)
		p.must(os.WriteFile(path, content(b), 0o600))
		return path
	}
	path := spoil("notes/a.md", func(b []byte) []byte { return append(b, "more"...) })
	p.finds(5, vaultFilesCode, wire.FindingFailed, path, `put or delete "notes/a.md"`)
	p.must(v.Delete(t.Context(), "notes/a.md"))
	path = spoil("notes/b.md", func([]byte) []byte { return nil })
	p.finds(5, vaultFilesCode, wire.FindingFailed, path, "move the file out")
	p.must(os.Remove(path))
	p.finds(0, vaultFilesCode, wire.FindingOK)
}
