package mirror_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/storetest"
)

// change runs statements on a file, which lets them break the rules of its tables.
func change(t *testing.T, path string, statements ...string) {
	t.Helper()
	run := func(all ...string) {
		db := must.Get(sql.Open("sqlite", path))(t)
		db.SetMaxOpenConns(1)
		defer func() { must.Do(t, db.Close()) }()
		for _, s := range all {
			must.Get(db.Exec(s))(t)
		}
	}
	const schema = `UPDATE sqlite_schema SET sql = replace(replace(sql, `
	run("PRAGMA writable_schema = on", schema+`') STRICT,', ') /*STRICT,*/'), ') STRICT', ') /*STRICT*/') WHERE type = 'table'`)
	run(append([]string{"PRAGMA foreign_keys = off", "PRAGMA ignore_check_constraints = on"}, statements...)...)
	run("PRAGMA writable_schema = on", schema+`') /*STRICT,*/', ') STRICT,'), ') /*STRICT*/', ') STRICT') WHERE type = 'table'`)
}

func TestHostileFiles(t *testing.T) {
	t.Parallel()
	pg, name := fresh(t)
	dsn := pg.DSN(name)
	a, clock := agent(connect(t, dsn), "victim"), newClock()
	must.Do(t, storetest.Populate(t.Context(), use(t, a, clock).Store(), clock))
	good, e, documents := exported(t, a)
	const secret = "do not show this"
	for _, x := range []struct {
		name, file, change string
		kind               amber.Kind
		says               []string
	}{
		{"a text with a zero byte", "memory.db", `UPDATE memories SET content = '` + secret + `' || char(0) WHERE rowid = 2`, amber.KindDamaged, []string{"memories", "row 2", "content", "zero byte"}},
		{"a text that is not UTF-8", "memory.db", `UPDATE turns SET content = CAST(x'61ff' AS TEXT) WHERE seq = 1`, amber.KindDamaged, []string{"turns", "row 1", "content", "UTF-8"}},
		{"such a text in the key", "control.db", `UPDATE tasks SET id = '` + secret + `' || CAST(x'c0af' AS TEXT)`, amber.KindDamaged, []string{"tasks", "column id", "UTF-8"}},
		{"a text for a number", "memory.db", `UPDATE memories SET counter = '` + secret + `' WHERE rowid = 1`, amber.KindDamaged, []string{"memories", "row 1", "counter", "INTEGER"}},
		{"bytes for a text", "memory.db", `UPDATE memories SET title = x'61' WHERE rowid = 1`, amber.KindDamaged, []string{"memories", "title", "TEXT"}},
		{"a text for bytes", "memory.db", `UPDATE index_state SET data = '` + secret + `'`, amber.KindDamaged, []string{"index_state", "data", "BLOB"}},
		{"a fraction for a number", "control.db", `UPDATE tasks SET version = 1.5`, amber.KindDamaged, []string{"tasks", "version", "INTEGER"}},
		{"a row without a parent", "memory.db", `INSERT INTO concepts (memory_id, concept) VALUES ('nobody', '` + secret + `')`, amber.KindDamaged, []string{"concepts", "rows 1 to"}},
		{"a state that is not one", "control.db", `UPDATE queue SET state = '` + secret + `'`, amber.KindDamaged, []string{"queue", "rows 1 to"}},
		{"a key too long for an index", "memory.db", `UPDATE memories SET session_id = '` + secret + `' || hex(randomblob(5000))`, amber.KindDamaged, []string{"memories", "rows 1 to"}},
		{"a row of 80 MB", "memory.db", `UPDATE memories SET content = '` + secret + `' || hex(zeroblob(41943040)) WHERE rowid = 1`, amber.KindInvalid, []string{"memories", "row 1"}},
		{"an entry with the last number there is", "memory.db", `INSERT INTO changes VALUES (9223372036854775807, 1, '` + secret + `', '', '', '', '')`, amber.KindDamaged, []string{"change log"}},
		{"an entry before time", "control.db", `UPDATE changes SET stamp = -1`, amber.KindDamaged, []string{"change log"}},
		{"a trigger", "memory.db", `CREATE TRIGGER mine AFTER INSERT ON turns BEGIN DELETE FROM turns; END`, amber.KindRefused, []string{"mine"}},
		{"a newer schema", "memory.db", `PRAGMA user_version = 999`, amber.KindTooNew, []string{"999"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			must.Do(t, os.CopyFS(dir, os.DirFS(good)))
			change(t, filepath.Join(dir, x.file), x.change)
			_, err := mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{})
			must.Kind(t, x.name, err, x.kind, x.says...)
			must.Hides(t, x.name, err.Error(), secret)
			_, states := generations(t, dsn, a.ID)
			must.Equal(t, "generations", strings.Join(states, " "), "live")
		})
	}
	swapped := mirror.Files{Memory: files(good).Control, Control: files(good).Memory}
	must.Fail(mirror.Import(t.Context(), a, swapped, mirror.ImportOptions{}))(t, "the files swapped", amber.KindConflict)
	must.Fail(mirror.Import(t.Context(), agent(a.Server, "../x"), files(good), mirror.ImportOptions{}))(t, "no name", amber.KindInvalid)
	wrong := mirror.ImportOptions{Documents: all([]mirror.Document{{Name: "state", Revision: "none", JSON: []byte("{}")}})}
	must.Fail(mirror.Import(t.Context(), a, files(good), wrong))(t, "a document that is not what it says", amber.KindDamaged)

	// Long texts within the limits are carried.
	change(t, files(good).Memory, `UPDATE memories SET content = content || hex(zeroblob(4194304)) WHERE rowid <= 2`)
	b := must.Get(mirror.Import(t.Context(), a, files(good), mirror.ImportOptions{Documents: all(documents)}))(t)
	must.Do(t, b.Discard(t.Context()))
	_, after, _ := exported(t, a)
	tables(t, "the live generation", after.Tables, e.Tables)
}
