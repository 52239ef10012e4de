package folder_test

import (
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/folder"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/store/vaultrow"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// A folder follows an agent, is made anew when it is not what was written, and becomes another agent.
func TestFolderThereAndBack(t *testing.T) {
	t.Parallel()
	pg := pgtest.Shared(t)
	server := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: pg.DSN(postgrestest.Database(t, pg)), Clock: time.Now, Random: rand.Reader}))(t)
	defer server.Close()
	a := mirror.Agent{Server: server, Tenant: amber.DefaultTenant, ID: "one"}
	store := must.Get(server.Open(t.Context(), a.Tenant, a.ID, postgres.Options{}))(t)
	parts := store.Parts()
	must.Get(store.Write(t.Context(), amber.WriteRequest{Content: "a memory"}))(t)
	must.Get(parts.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "deep/plan", Content: "# Plan"}))(t)
	must.Get(parts.Documents.PutDocument(t.Context(), amber.DocumentWrite{Name: "mood", Document: []byte(`{"calm":true}`)}))(t)
	must.Get(parts.Documents.PutDocument(t.Context(), amber.DocumentWrite{Name: "gone", Document: []byte(`1`)}))(t)
	put := func(place, content string) {
		t.Helper()
		must.Do(t, server.Vault(a.Tenant, a.ID).Update(t.Context(), "test", func(tx vaultrow.Tx) error {
			if content == "" {
				return must.Err(tx.Remove(place))
			}
			return tx.Put(place, []byte(content))
		}))
	}
	stays, goes := strings.Repeat("ab", 32), strings.Repeat("ac", 32)
	put(stays, "a file of the vault")
	put(goes, "another one")
	dir := filepath.Join(t.TempDir(), "copy")
	write := func(anew string) folder.Written {
		t.Helper()
		w := must.Get(folder.Write(t.Context(), a, dir, folder.Options{}))(t)
		must.Says(t, "made anew", w.Anew, anew)
		if anew == "" {
			must.Equal(t, "made anew", w.Anew, "")
		}
		return w
	}
	has := func(path, want string) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, path))
		if want == "" {
			must.Hold(t, os.IsNotExist(err), "%s is there: %q", path, b)
			return
		}
		must.Do(t, err)
		must.Equal(t, path, string(b), want)
	}
	write("there is no copy")
	must.Equal(t, "changed", write("").Changed, 0)
	has("memdir/deep/plan.md", "# Plan")
	has("state/mood.json", `{"calm":true}`)
	must.Get(parts.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "deep/plan", Content: "# Plan, changed"}))(t)
	must.Do(t, parts.Documents.DeleteDocument(t.Context(), "gone", ""))
	has("state/vault/ac/"+goes, "another one")
	put(goes, "")
	write("")
	has("state/vault/ac/"+goes, "")
	has("state/vault/ab/"+stays, "a file of the vault")
	has("memdir/deep/plan.md", "# Plan, changed")
	has("state/gone.json", "")
	for _, damaged := range []string{"memory.db", "control.db", "memdir/deep/plan.md", "state/mood.json", "state/vault/ab/" + stays} {
		must.Do(t, os.WriteFile(filepath.Join(dir, damaged), []byte("something else"), 0o600))
		write("is not what was written")
		write("")
	}
	has("memdir/deep/plan.md", "# Plan, changed")

	// Left names the files for which a database has no place; notes that lost their history get a new one.
	must.Do(t, os.RemoveAll(filepath.Join(dir, "memdir", ".git")))
	must.Do(t, os.WriteFile(filepath.Join(dir, "state", "_mark.json"), []byte(`{}`), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "state", "vault", "stray"), nil, 0o600))
	src := must.Get(folder.Read(t.Context(), dir, time.Now(), folder.Options{}))(t)
	must.Equal(t, "left", len(src.Left), 2)
	to := mirror.Agent{Server: server, Tenant: a.Tenant, ID: "two"}
	b := must.Get(mirror.Import(t.Context(), to, src.Files, src.Options))(t)
	must.Get(b.Switch(t.Context(), mirror.SwitchOptions{}))(t)
	other := must.Get(server.Open(t.Context(), to.Tenant, to.ID, postgres.Options{Existing: true}))(t)
	must.NoError(t, other.Notes().Check(t.Context()))
	must.Equal(t, "note", must.Get(other.Notes().ReadNote(t.Context(), "deep/plan"))(t).Content, "# Plan, changed")
	must.Equal(t, "document", string(must.Get(other.Parts().Documents.ReadDocument(t.Context(), "mood"))(t).Document), `{"calm":true}`)
	must.Do(t, server.Vault(to.Tenant, to.ID).View(t.Context(), "test", func(tx vaultrow.Tx) error {
		list, _, err := tx.List()
		must.Equal(t, "files of the vault", len(list), 1)
		b, _, rerr := tx.Read(stays)
		must.Equal(t, "the file of the vault", string(b), "a file of the vault")
		return errors.Join(err, rerr)
	}))
	must.Equal(t, "memories", len(must.Get(other.List(t.Context(), amber.ListQuery{}))(t).Items), 1)
	list := must.Get(mirror.Generations(t.Context(), to))(t)
	must.Equal(t, "generations", len(list), 1)
	must.Equal(t, "state", list[0].State, mirror.Live)
	must.Fail(mirror.Find(t.Context(), to, 9))(t, "no such generation", amber.KindNotFound)
	must.Do(t, store.Close())
	must.Do(t, other.Close())
}
