package sqlite

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
)

// Every column that can hold text is redacted, or there is a reason not to.
func TestRedactKnowsEveryColumn(t *testing.T) {
	t.Parallel()
	dir := strangers(t)
	for _, s := range []sqlfile.Schema{sqlfile.MemorySchema, sqlfile.ControlSchema} {
		known := map[string]bool{}
		for _, table := range slices.Concat(image.RedactedTables(s), []image.RedactedTable{image.ChangeLog}) {
			for _, c := range table.Columns {
				known[table.Name+"."+c.Name] = true
			}
		}
		db := must.Get(sql.Open("sqlite", "file:"+filepath.Join(dir, s.File)+"?mode=ro&immutable=1"))(t)
		rows := must.Get(db.Query(`SELECT l.name, l.type, c.name, c.type FROM pragma_table_list l JOIN pragma_table_info(l.name) c
WHERE l.schema = 'main' AND l.name NOT LIKE 'sqlite_%'`))(t)
		n := 0
		for rows.Next() {
			var table, kind, column, as string
			must.Do(t, rows.Scan(&table, &kind, &column, &as))
			n++
			isNumber := as == "INTEGER" || as == "REAL" // tables are strict, so nothing else is in them
			if kind == "virtual" || kind == "view" || isNumber && kind == "table" {
				continue
			}
			if kind == "shadow" && as == "INTEGER" && column == "id" {
				continue // the number of the row
			}
			name := table + "." + column
			if s.File == sqlfile.MemorySchema.File && slices.Contains(slices.Concat(image.RedactForgotten, image.RedactElsewhere), table) {
				if known[name] || image.RedactExempt[name] != "" {
					t.Errorf("%s: %s is forgotten and redacted or exempt", s.File, name)
				}
				continue
			}
			if why := image.RedactExempt[name]; !known[name] && why == "" {
				t.Errorf("%s: %s is neither redacted nor exempt", s.File, name)
			} else if known[name] && why != "" {
				t.Errorf("%s: %s is both redacted and exempt", s.File, name)
			}
			delete(known, name)
		}
		must.Do(t, rows.Err())
		must.Do(t, rows.Close())
		must.Do(t, db.Close())
		must.Hold(t, len(known) == 0 && n >= 50, "%s: of %d columns there is no %v", s.File, n, known)
	}
}

// Secrets in columns that no door of the store lets them into.
func TestRedactColumnsBehindTheStoresBack(t *testing.T) {
	t.Parallel()
	l, p := newLife(t), newPlanter()
	p.hide(t, l.s, 6)
	erase(t, l.s, save(t, l.s, amber.WriteRequest{Content: "erased"}))
	must.Get(l.s.StartSession(t.Context(), amber.SessionStart{ID: "departs"}))(t)
	must.Do(t, l.s.DeleteSession(t.Context(), "departs"))
	p.hidden = nil
	dir := l.snapshot(t)
	parents := regexp.MustCompile(`\.(memory_id|from_id|to_id)$|^(active_sessions|activity)\.session_id$|^memories\.id$|^sessions\.id$|^queue(_counts)?\.state$`)
	for _, s := range []sqlfile.Schema{sqlfile.MemorySchema, sqlfile.ControlSchema} {
		path := filepath.Join(dir, s.File)
		db := must.Get(sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)"))(t)
		n := 0
		for _, table := range slices.Concat(image.RedactedTables(s), []image.RedactedTable{image.ChangeLog}) {
			for _, c := range table.Columns {
				if parents.MatchString(table.Name + "." + c.Name) {
					continue
				}
				value := p.token()
				if c.As == image.AsJSON {
					value = `{"x":"` + value + `"}`
				}
				key := strings.Join(table.Key, ", ")
				result := must.Get(db.Exec("UPDATE "+table.Name+" SET "+c.Name+" = ? WHERE ("+key+") IN (SELECT "+key+" FROM "+table.Name+" ORDER BY 1 LIMIT 1)", value))(t)
				if changed, _ := result.RowsAffected(); changed != 1 {
					t.Errorf("%s has no row to hide something in", table.Name)
				}
				n++
			}
		}
		must.Do(t, db.Close())
		if had := p.left(must.Get(os.ReadFile(path))(t)); len(had) < n {
			t.Errorf("%s: %d secrets can be found before, want %d", s.File, len(had), n)
		}
		must.Get(image.Redact(t.Context(), path, redact.New(), nil))(t)
		if left := p.left(must.Get(os.ReadFile(path))(t)); len(left) > 0 {
			t.Errorf("%s: %d secrets are left", s.File, len(left))
		}
		examined(t, path, "rows") // what was hidden there is no row of Amber's
	}
}

func TestRedactRefusesStrangers(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := strangers(t)
	path := altered(t, dir, func(db *sql.DB) {
		must.Get(db.Exec(`CREATE TABLE more (x TEXT)`))(t)
	}, nil)
	before := must.Get(os.ReadFile(path))(t)
	must.Fail(image.Redact(ctx, path, redact.New(), nil))(t, "another schema", amber.KindRefused)
	must.Hold(t, bytes.Equal(before, must.Get(os.ReadFile(path))(t)), "a file that was refused has changed")
	_, err := image.Redact(ctx, filepath.Join(dir, "none.db"), redact.New(), nil)
	must.Hold(t, err != nil, "a missing file is redacted")
}

// The check finds a secret that the rewriting has missed.
func TestRedactCheckFindsWhatIsLeft(t *testing.T) {
	t.Parallel()
	l, p := newLife(t), newPlanter()
	ctx := t.Context()
	id := save(t, l.s, amber.WriteRequest{Content: p.text()})
	must.Do(t, l.s.PutEmbedding(ctx, amber.Embedding{MemoryID: save(t, l.s, amber.WriteRequest{Content: "clean"}), Model: "m", Vector: []float32{1}}))
	secret := p.hidden[0]
	for _, sabotage := range []string{
		`UPDATE embeddings SET vector = CAST(? AS BLOB)`, // no column for text
		`INSERT INTO index_lists (segment, term, list) VALUES (99, lower(?), x'00')`,
	} {
		path := filepath.Join(l.snapshot(t), "memory.db")
		db := must.Get(sql.Open("sqlite", "file:"+path))(t)
		must.Get(db.Exec(sabotage, secret))(t)
		must.Do(t, db.Close())
		_, err := image.Redact(ctx, path, redact.New(), nil)
		must.Kind(t, "a secret in "+sabotage, err, amber.KindInternal)
		must.Hold(t, !strings.Contains(err.Error(), secret), "the error tells the secret")
		must.Equal(t, "files that are left", len(files(t, filepath.Dir(path))), 1)
	}
	_ = id
}

// A secret that is in nothing but a key of the change log is found too.
func TestRedactChangeLogAlone(t *testing.T) {
	t.Parallel()
	l, p := newLife(t), newPlanter()
	ctx := t.Context()
	id := amber.SessionID(p.key("session"))
	must.Get(l.s.SaveState(ctx, id, []byte(`{}`), 0))(t)
	must.Do(t, l.s.DeleteState(ctx, id))
	path := filepath.Join(l.snapshot(t), "memory.db")
	if len(p.left(must.Get(os.ReadFile(path))(t))) == 0 {
		t.Fatal("the log does not hold the key")
	}
	report := must.Get(image.Redact(ctx, path, redact.New(), nil))(t)
	must.Hold(t, len(p.left(must.Get(os.ReadFile(path))(t))) == 0, "the key is left")
	if len(report.Places) == 0 || !strings.HasPrefix(report.Places[0].Path, "changes/") {
		t.Errorf("the places are %+v", report.Places)
	}
	keys := query[int](t, path, `SELECT count(DISTINCT key) FROM changes WHERE scope = 'state'`)
	must.Equal(t, "keys", keys, 1)
}
