//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/backup"
	"github.com/amber-memory/amber/internal/serve/daemon"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
)

// gate stands before a vault and lets no request through until it is
// opened; requests wait.
type gate struct {
	*httptest.Server
	open  chan struct{}
	let   func()       // opens it
	asked atomic.Int64 // those who knocked in vain
}

func newGate(t *testing.T, vault string) *gate {
	t.Helper()
	target := must.Get(url.Parse(vault))(t)
	g := &gate{open: make(chan struct{})}
	g.let = sync.OnceFunc(func() { close(g.open) })
	proxy := httputil.NewSingleHostReverseProxy(target)
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-g.open:
			r.Host = target.Host
			proxy.ServeHTTP(w, r)
		default:
			g.asked.Add(1)
			<-g.open
			panic(http.ErrAbortHandler) // too late
		}
	}))
	t.Cleanup(func() {
		g.let()
		g.Close()
	})
	return g
}

// TestABackupThatWasDueIsMadeByTheNextServer kills a server after it noticed that a session has ended, while
// the vault does not answer. A note that is written meanwhile is in the backup that the next server makes.
func TestABackupThatWasDueIsMadeByTheNextServer(t *testing.T) {
	t.Parallel()
	keeper := newUser(t)
	keeper.must("", "remember", "x", "--scope", "global")
	vault := keeper.serve()
	g := newGate(t, vault.url)

	u := newUser(t)
	key := filepath.Join(filepath.Dir(u.home), "vault.key")
	must.Do(t, os.WriteFile(key, []byte("any\n"), 0o600))
	u.configure("vault: {url: " + g.URL + "/api/v1, api_key_file: " + key + ", after_session: true}\n")
	u.must("", "note", "write", "first", "the harbour opens at dawn")
	u.must("", "session", "start", "s1")
	u.must("", "session", "end", "s1")

	r := u.serve()
	r.await("the first attempt", func() bool { return g.asked.Load() > 0 })
	due, err := backup.In(u.home).Read(server.AgentName{Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent})
	if err != nil || due.DueSince.IsZero() || !due.Success.IsZero() {
		t.Errorf("while it is tried the record is %+v, %v", due, err)
	}
	r.kill()

	u.must("", "note", "write", "second", "noted while the vault was away")
	if out, _, _ := u.amber("", "doctor"); !strings.Contains(out, "due since "+due.DueSince.String()) {
		t.Errorf("the doctor does not tell that a backup is due:\n%s", out)
	}
	g.let()
	r = u.serve()
	r.await("the backup", func() bool { return strings.HasPrefix(r.worker(daemon.BackupWorker).Detail, "1 backed up") })
	if w := r.worker(daemon.BackupWorker); w.Status != amber.Healthy || w.Failures != 0 {
		t.Errorf("the worker: %+v", w)
	}
	dir := filepath.Join(t.TempDir(), "restored")
	u.must("", "vault", "restore", "--dir", dir)
	for name, want := range map[string]string{"first.md": "the harbour opens at dawn", "second.md": "noted while the vault was away"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	r.stop()
	if log := r.log.String(); strings.Contains(log, "\nany") || strings.Contains(log, "dawn") {
		t.Errorf("the log tells too much:\n%s", log)
	}
	if out, _, _ := u.amber("", "doctor"); !strings.Contains(out, "last backup by a server") || strings.Contains(out, "due since") {
		t.Errorf("the doctor does not tell of the backup:\n%s", out)
	}
}

// TestAnAgentWithoutNotesTakesNothingFromTheVault deletes every note: what the
// vault has of them stays, and the other agents of the home are backed up under
// labels of their own.
func TestAnAgentWithoutNotesTakesNothingFromTheVault(t *testing.T) {
	t.Parallel()
	keeper := newUser(t)
	keeper.must("", "remember", "x", "--scope", "global")
	vault := keeper.serve()
	u := newUser(t)
	key := filepath.Join(filepath.Dir(u.home), "vault.key")
	must.Do(t, os.WriteFile(key, []byte("any\n"), 0o600))
	u.configure("vault: {url: " + vault.url + "/api/v1, api_key_file: " + key + ", schedule: 1h, keep: 1}\n")
	u.must("", "note", "write", "plan", "precious")
	u.must("", "vault", "backup")
	u.must("", "note", "delete", "plan")
	u.must("", "--agent", "other", "--new-agent", "note", "write", "plan", "another's")
	r := u.serve()
	r.await("the round", func() bool { return r.worker(daemon.BackupWorker).Runs > 0 })
	if w := r.worker(daemon.BackupWorker); w.Status != amber.Healthy || !strings.HasPrefix(w.Detail, "1 backed up, 0 unchanged; last success 20") {
		t.Errorf("the worker: %+v", w)
	}
	for agent, want := range map[string]string{"default": "precious", "other": "another's"} {
		dir := filepath.Join(t.TempDir(), agent)
		u.must("", "--agent", agent, "vault", "restore", "--dir", dir)
		if got, err := os.ReadFile(filepath.Join(dir, "plan.md")); err != nil || string(got) != want {
			t.Errorf("%s has %q, %v", agent, got, err)
		}
	}
	r.stop()
}

// TestAVaultThatAsksForPeaceGetsIt has a vault that takes nothing for two hours:
// the server asks no more until then, and says what is wrong.
func TestAVaultThatAsksForPeaceGetsIt(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	vault := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "7200")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = w.Write([]byte(`{"detail":{"code":"RATE_LIMIT","message":"not now"}}`))
	}))
	t.Cleanup(vault.Close)
	u := newUser(t)
	key := filepath.Join(filepath.Dir(u.home), "vault.key")
	must.Do(t, os.WriteFile(key, []byte("topsecret\n"), 0o600))
	u.configure("vault: {url: " + vault.URL + "/api/v1, api_key_file: " + key + ", schedule: 1d}\n")
	u.must("", "note", "write", "plan", "x")
	r := u.serve()
	r.await("the attempt", func() bool { return r.worker(daemon.BackupWorker).Failures > 0 })
	w := r.worker(daemon.BackupWorker)
	if w.Status != amber.Degraded || !strings.Contains(w.LastError, "default/default: backups have failed since 20") || !strings.Contains(w.LastError, "not now") {
		t.Errorf("the worker: %+v", w)
	}
	st, err := backup.In(u.home).Read(server.AgentName{Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent})
	if err != nil || st.Kind != amber.KindQuota || st.Next.Time().Sub(st.Tried.Time()) != 2*time.Hour {
		t.Errorf("the record is %+v, %v", st, err)
	}
	must.Equal(t, "how often it was asked", asked.Load(), 1)
	_, b, err := r.ask(http.MethodGet, "/metrics", "")
	if want := `amber_vault_backups_total{agent="default",outcome="quota",tenant="default"} 1`; err != nil || !strings.Contains(string(b), want) {
		t.Errorf("metrics lack %s", want)
	}
	r.stop()
	if strings.Contains(r.log.String(), "topsecret") {
		t.Errorf("the log has the secret:\n%s", r.log)
	}
}

// TestAServerReplacesNoMemoryItHasNeverSeen has a new home with the configuration
// of an old one, whose memory is in the vault.
func TestAServerReplacesNoMemoryItHasNeverSeen(t *testing.T) {
	t.Parallel()
	keeper := newUser(t)
	keeper.must("", "remember", "x", "--scope", "global")
	vault := keeper.serve()
	key := filepath.Join(t.TempDir(), "vault.key")
	must.Do(t, os.WriteFile(key, []byte("any\n"), 0o600))
	config := "vault: {url: " + vault.url + "/api/v1, api_key_file: " + key + ", schedule: 1h, keep: 1}\n"
	old := newUser(t)
	old.configure(config)
	old.must("", "note", "write", "plan", "precious")
	old.must("", "vault", "backup")
	vault.toVault("any")
	was := vault.vaultHolds()

	u := newUser(t)
	u.configure(config)
	u.must("", "note", "write", "scratch", "nothing much")
	r := u.serve()
	r.await("the attempt", func() bool { return r.worker(daemon.BackupWorker).Failures > 0 })
	if w := r.worker(daemon.BackupWorker); w.Status != amber.Degraded || !strings.Contains(w.LastError, "never seen from here") || !strings.Contains(w.LastError, "hint: amber vault restore") {
		t.Errorf("the worker: %+v", w)
	}
	_, b, err := r.ask(http.MethodGet, "/metrics", "")
	for _, want := range []string{`amber_vault_backups_total{agent="default",outcome="conflict",tenant="default"} 1`, `amber_vault_failing_since_timestamp_seconds{agent="default"`} {
		if err != nil || !strings.Contains(string(b), want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if out, _, _ := u.amber("", "doctor"); !strings.Contains(out, "never seen from here") || !strings.Contains(out, "another vault.label") {
		t.Errorf("the doctor does not tell:\n%s", out)
	}
	must.Equal(t, "the vault", vault.vaultHolds(), was)
	r.stop()
	// A person looks at the vault.
	u.must("", "vault", "restore", "--yes")
	r = u.serve()
	r.await("the backup", func() bool { return strings.HasPrefix(r.worker(daemon.BackupWorker).Detail, "1 backed up") })
	dir := filepath.Join(t.TempDir(), "restored")
	u.must("", "vault", "restore", "--dir", dir)
	for name, want := range map[string]string{"plan.md": "precious", "scratch.md": "nothing much"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	r.stop()
}
