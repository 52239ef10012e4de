package folder_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/folder"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// Write updates a folder with the new rows, and every so many times by comparing all of them. Whatever another program
// does to the folder, it equals the agent after the next Write.
func TestFolderReadsNewRows(t *testing.T) {
	t.Parallel()
	pg := pgtest.Shared(t)
	name := pg.Database(t)
	c := must.Get(pgx.Connect(t.Context(), pg.DSN(name)))(t)
	defer c.Close(context.Background())
	must.Get(c.Exec(t.Context(), "ALTER DATABASE "+pgx.Identifier{name}.Sanitize()+" SET synchronous_commit = on"))(t)
	server := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: pg.DSN(name), Clock: time.Now, Random: rand.Reader}))(t)
	defer server.Close()
	a := mirror.Agent{Server: server, Tenant: amber.DefaultTenant, ID: "one"}
	store := must.Get(server.Open(t.Context(), a.Tenant, a.ID, postgres.Options{}))(t)
	defer store.Close()
	dir := filepath.Join(t.TempDir(), "copy")
	n := 0
	write := func(want mirror.Comparison, anew string, every int) folder.Written {
		t.Helper()
		n++
		must.Get(store.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("memory ", n)}))(t)
		w := must.Get(folder.Write(t.Context(), a, dir, folder.Options{Every: every}))(t)
		must.Equal(t, "comparison", w.Compared, want)
		must.Says(t, "made anew", w.Anew, anew)
		must.Equal(t, "made anew", w.Anew != "", anew != "")
		must.Equal(t, "all were compared", w.AllCompared == w.At, want == mirror.Rows)
		fresh := must.Get(mirror.Export(t.Context(), a, t.TempDir(), mirror.ExportOptions{}))(t)
		for i, x := range fresh.Tables {
			must.Equal(t, "rows of "+x.Name, w.Tables[i].Rows, x.Rows)
		}
		db := must.Get(sql.Open("sqlite", filepath.Join(dir, "memory.db")+"?mode=ro&immutable=1"))(t)
		var memories int
		must.Do(t, db.QueryRow(`SELECT count(*) FROM memories WHERE content LIKE 'memory %'`).Scan(&memories))
		must.Do(t, db.Close())
		must.Equal(t, "memories in the copy", memories, n)
		return w
	}
	first := write(mirror.Rows, "there is no copy", 3)
	must.Equal(t, "last compared", write(mirror.Changes, "", 3).AllCompared, first.At)
	must.Equal(t, "last compared", write(mirror.Changes, "", 3).AllCompared, first.At)
	write(mirror.Rows, "", 3)
	write(mirror.Rows, "", 1)
	for range 9 {
		write(mirror.Changes, "", 0)
	}
	write(mirror.Rows, "", 0)

	path := filepath.Join(dir, "memory.db")
	tamper := func(what string, keepTimes bool, with string) {
		t.Helper()
		info := must.Get(os.Stat(path))(t)
		b := must.Get(os.ReadFile(path))(t)
		changed := strings.Replace(string(b), "memory 1", with, 1)
		must.Equal(t, what+": size", len(changed), len(b))
		must.Do(t, os.WriteFile(path, []byte(changed), 0o600))
		if keepTimes {
			must.Do(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
		}
	}
	tamper("changed", false, "MEMORY 1")
	write(mirror.Rows, "memory.db in the copy of the agent is not what was written", 0)
	write(mirror.Changes, "", 0)
	tamper("changed, with its time as before", true, "MEMORY 1")
	write(mirror.Rows, "is not what was written", 0)
	tamper("written again as it was", false, "memory 1")
	write(mirror.Changes, "", 0)

	// Another program changed rows in a journal beside the file, which stays as it is.
	before := must.Get(os.ReadFile(path))(t)
	db := must.Get(sql.Open("sqlite", path))(t)
	must.Get(db.Exec(`PRAGMA wal_autocheckpoint = 0; UPDATE memories SET content = 'other'`))(t)
	wal := must.Get(os.ReadFile(path + "-wal"))(t)
	must.Do(t, db.Close())
	must.Do(t, os.WriteFile(path, before, 0o600))
	must.Do(t, os.WriteFile(path+"-wal", wal, 0o600))
	write(mirror.Rows, "", 0)
	write(mirror.Changes, "", 0)

	// The seal of the folder is damaged, is of another day, or is made up.
	seal := filepath.Join(dir, "MIRROR")
	edit := func(change func(map[string]any)) {
		t.Helper()
		var s map[string]any
		d := json.NewDecoder(bytes.NewReader(must.Get(os.ReadFile(seal))(t)))
		d.UseNumber() // numbers of clusters are large
		must.Do(t, d.Decode(&s))
		change(s)
		must.Do(t, os.WriteFile(seal, must.Get(json.Marshal(s))(t), 0o600))
	}
	instant := func(key string, v any) func(map[string]any) {
		return func(s map[string]any) {
			i, _ := s["instant"].(map[string]any)
			i[key] = v
		}
	}
	must.Do(t, os.WriteFile(seal, []byte(`{"format":1,`), 0o600))
	write(mirror.Rows, "another version", 0)
	edit(func(map[string]any) {})
	write(mirror.Changes, "", 0)
	for _, x := range []struct {
		change func(map[string]any)
		anew   string
	}{
		{instant("timeline", 77), ""},
		{instant("snapshot", "900:99999999999999:"), ""},
		{instant("snapshot", strings.Repeat("9", 1000)), ""},
		{instant("gen", "many"), "another version"},
		{func(s map[string]any) { s["times"] = -5 }, ""},
		{func(s map[string]any) { s["times"] = 1 << 40 }, ""},
		{func(s map[string]any) { delete(s, "all_compared") }, ""},
		{func(s map[string]any) { delete(s, "instant") }, ""},
		{func(s map[string]any) { delete(s, "shapes"); delete(s, "digests") }, "is not what was written"},
	} {
		edit(x.change)
		write(mirror.Rows, x.anew, 0)
	}
	edit(func(s map[string]any) { delete(s, "shapes") })
	write(mirror.Changes, "", 0)

	// The agent is replaced.
	src := must.Get(folder.Read(t.Context(), dir, time.Now(), folder.Options{}))(t)
	b := must.Get(mirror.Import(t.Context(), a, src.Files, src.Options))(t)
	must.Get(b.Switch(t.Context(), mirror.SwitchOptions{}))(t)
	write(mirror.Rows, "another generation", 0)
	write(mirror.Changes, "", 0)
}
