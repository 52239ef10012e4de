package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// vaultUser is a person with a home and a vault of a folder.
type vaultUser struct {
	t                *testing.T
	dir, home, vault string
	answer           func(w http.ResponseWriter, r *http.Request) // before the vault does; may be nil
	environ          []string
	asked            func() string // what the person at the terminal types; nil: there is none
}

func newVaultUser(t *testing.T) *vaultUser {
	t.Helper()
	dir := t.TempDir()
	u := &vaultUser{t: t, dir: dir, home: filepath.Join(dir, "home"), vault: filepath.Join(dir, "vault")}
	must.Do(t, os.Mkdir(u.vault, 0o700))
	d := &dirVault{dir: u.vault, answer: filepath.Join(dir, "answer")}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u.answer != nil {
			u.answer(w, r)
		}
		d.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	u.environ = []string{"AMBER_HOME=" + u.home, "HOME=" + dir, "AMBER_VAULT__URL=" + s.URL + "/api/v1", "AMBER_VAULT__API_KEY_FILE=" + put(t, dirVaultKey, dir, "key")}
	return u
}

func (u *vaultUser) amber(args ...string) ran {
	w := testWorld(u.dir, u.environ...)
	if u.asked != nil {
		w.Stdin, w.Terminal = &typing{answer: u.asked}, func() bool { return true }
	}
	return runIn(u.t.Context(), u.t, w, args...)
}

// must runs a command that exits with 0 and returns what it prints.
func (u *vaultUser) must(args ...string) string {
	u.t.Helper()
	r := u.amber(args...)
	r.line()
	return r.stdout
}

// put writes a file and the folders above it.
func put(t testing.TB, text string, path ...string) string {
	t.Helper()
	at := filepath.Join(path...)
	must.Do(t, os.MkdirAll(filepath.Dir(at), 0o700))
	must.Do(t, os.WriteFile(at, []byte(text), 0o600))
	return at
}

// typing is a person who types an answer when asked for the first time.
type typing struct {
	answer func() string
	typed  io.Reader
}

func (t *typing) Read(p []byte) (int, error) {
	if t.typed == nil {
		t.typed = strings.NewReader(t.answer())
	}
	return t.typed.Read(p)
}

// below lists the files below a folder.
func below(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, relErr := filepath.Rel(dir, path)
			all, err = append(all, filepath.ToSlash(rel)), relErr
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}
