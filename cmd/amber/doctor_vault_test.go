package main

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/registry"
)

// TestDoctorTellsHowBackupsAreDoing goes the way of a home that is backed up to
// a vault.
func TestDoctorTellsHowBackupsAreDoing(t *testing.T) {
	p := newSickHome(t)
	if _, found := p.doctor(); found[vaultCode].Code != "" {
		t.Errorf("without a vault: %+v", found[vaultCode])
	}
	key := filepath.Join(p.home, "vault.key")
	p.must(os.WriteFile(key, []byte("col_secret\n"), 0o600))
	p.world.environ = append(p.world.environ, "AMBER_VAULT__URL=https://vault.example/api", "AMBER_VAULT__API_KEY_FILE="+key)
	tells := func(status status, details ...string) {
		t.Helper()
		code, found := p.doctor()
		f := found[vaultCode]
		if f.Status != status || (code != 0) != (status == statusFailed) {
			t.Errorf("exit %d, %+v, want %s", code, f, status)
		}
		for _, d := range append(details, "") {
			if !strings.Contains(f.Detail+f.Hint, d) || strings.Contains(f.Detail, "col_secret") {
				t.Errorf("%+v, want %q", f, d)
			}
		}
	}
	tells(statusOK, "https://vault.example/api", "no automatic backups are configured")
	p.world.environ = append(p.world.environ, "AMBER_VAULT__SCHEDULE=1d")
	tells(statusOK, "no automatic backup yet")

	records, me := backupsOf(p.home), agentKey{amber.DefaultTenant, amber.DefaultAgent}
	at := amber.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	st := backupState{Vault: vaultName(registry.Vault{URL: "https://vault.example/api", Label: "default"})}.succeeded(at, false)
	p.must(records.write(me, st))
	tells(statusOK, "last backup by a server 2026-03-01T12:00:00")
	st.DueSince = amber.At(at.Time().Add(time.Hour))
	p.must(records.write(me, st))
	tells(statusWarning, "2026-03-01T12:00:00", "due since 2026-03-01T13:00:00", "amber serve")
	st = st.failed(amber.At(at.Time().Add(2*time.Hour)), at, errors.New("nobody is there"))
	p.must(records.write(me, st))
	tells(statusWarning, "failing since 2026-03-01T14:00:00", "due since 2026-03-01T13:00:00", "nobody is there", "amber vault status")

	if runtime.GOOS != "windows" {
		p.must(os.Chmod(key, 0o644))
		tells(statusFailed, "0644", "chmod 600 "+key)
	}
	p.must(os.Remove(key))
	tells(statusFailed, "there is no such file")
	p.must(os.WriteFile(key, nil, 0o600))
	p.must(os.WriteFile(records.path(me), []byte("?"), 0o600))
	tells(statusFailed, "remove it")
}
