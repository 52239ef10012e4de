package schema

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// ofSQLite is where the migrations of the two files are.
const ofSQLite = "../../sqlfile/migrations"

// schemas are those of agents' rows, by the names of the files.
var schemas = map[string]string{"memory": "amber", "control": "amber_control"}

// file makes a database file with the newest schema of SQLite.
func file(t *testing.T, name string) *sql.DB {
	t.Helper()
	db := must.Get(sql.Open("sqlite", ":memory:"))(t)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { must.NoError(t, db.Close()) })
	n := 0
	for ; ; n++ {
		text, err := os.ReadFile(filepath.Join(ofSQLite, fmt.Sprintf("%s-%d.sql", name, n+1)))
		if os.IsNotExist(err) {
			break
		}
		must.Do(t, err)
		must.Get(db.Exec(string(text)))(t)
	}
	if n == 0 {
		t.Fatalf("there are no migrations of %s in %s", name, ofSQLite)
	}
	return db
}

// strings of one query.
func texts(t *testing.T, db *sql.DB, query string) (out []string) {
	t.Helper()
	rows := must.Get(db.Query(query))(t)
	defer rows.Close()
	for rows.Next() {
		var s string
		must.Do(t, rows.Scan(&s))
		out = append(out, s)
	}
	must.Do(t, rows.Err())
	return out
}

// migrated makes a database with the newest schema.
func migrated(t *testing.T) (string, *pgx.Conn) {
	t.Helper()
	name, c := database(t, "")
	must.Get(Run(t.Context(), c, Options{}))(t)
	return name, c
}

// Every table of the two files is there with the same columns, types, rules, keys, indexes and
// triggers, and the generation in front of them.
func TestSameAsSQLite(t *testing.T) {
	_, c := migrated(t)
	own := map[string][]string{"amber": {"commits", "documents", "heads", "note_objects", "note_refs", "vault_files"}, "amber_control": nil}
	for name, schema := range schemas {
		lite := file(t, name)
		tables := append(texts(t, lite, `SELECT name FROM sqlite_master WHERE type = 'table'`), own[schema]...)
		slices.Sort(tables)
		must.Equal(t, name+": tables", list[string](t, c, `SELECT relname::text FROM pg_class WHERE relnamespace = $1::text::regnamespace AND relkind = 'r' ORDER BY relname COLLATE "C"`, schema), tables)

		columns := texts(t, lite, `SELECT m.name || '.' || c.name || ' ' || CASE c.type WHEN 'INTEGER' THEN 'bigint' WHEN 'TEXT' THEN 'text C' WHEN 'REAL' THEN 'double precision' WHEN 'BLOB' THEN 'bytea' END
|| CASE WHEN c."notnull" OR c.pk THEN ' NOT NULL' ELSE '' END FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1`)
		must.Equal(t, name+": columns", list[string](t, c, `SELECT table_name || '.' || column_name || ' ' || data_type || coalesce(' ' || collation_name, '')
|| CASE is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END FROM information_schema.columns
WHERE table_schema = $1 AND column_name <> 'gen' AND table_name <> ALL ($2) ORDER BY 1`, schema, append([]string{""}, own[schema]...)), columns)
		must.Equal(t, name+": tables without gen as their first column", list[string](t, c, `SELECT c.relname::text FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = 1 AND a.attname = 'gen' AND a.attnotnull AND a.atthasdef
WHERE c.relnamespace = $1::text::regnamespace AND c.relkind = 'r' AND a.attname IS NULL`, schema), []string{})
		must.Equal(t, name+": order of columns", list[string](t, c, `SELECT table_name || ': ' || string_agg(column_name, ' ' ORDER BY ordinal_position) FROM information_schema.columns
WHERE table_schema = $1 AND column_name <> 'gen' AND table_name <> ALL ($2) GROUP BY table_name ORDER BY table_name COLLATE "C"`, schema, append([]string{""}, own[schema]...)),
			texts(t, lite, `SELECT name || ': ' || (SELECT group_concat(name, ' ') FROM (SELECT c.name FROM pragma_table_info(m.name) c ORDER BY c.cid)) FROM sqlite_master m WHERE type = 'table' ORDER BY name`))

		must.Equal(t, name+": triggers", list[string](t, c, `SELECT t.tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = $1::text::regnamespace AND NOT t.tgisinternal ORDER BY 1`, schema), texts(t, lite, `SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY 1`))

		// Keys and unique columns: of which columns, in order.
		must.Equal(t, name+": keys", list[string](t, c, `SELECT c.relname || ': ' || string_agg(a.attname, ' ' ORDER BY k.n) FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid,
unnest(x.indkey::int2[]) WITH ORDINALITY k (num, n) JOIN pg_attribute a ON a.attnum = k.num
WHERE c.relnamespace = $1::text::regnamespace AND x.indisunique AND a.attrelid = c.oid AND c.relname <> ALL ($2) GROUP BY c.relname, x.indexrelid ORDER BY 1`, schema, append([]string{""}, own[schema]...)),
			uniques(t, lite))

		must.Equal(t, name+": indexes", list[string](t, c, `SELECT regexp_replace(indexdef, '^.* INDEX ', '') FROM pg_indexes i
WHERE schemaname = $1 AND tablename <> ALL ($2) AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conname = i.indexname AND k.connamespace = $1::text::regnamespace)`,
			schema, append([]string{""}, own[schema]...)), indexes(t, lite, schema), sorted, shaped)

		must.Equal(t, name+": references", list[string](t, c, `SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' AND connamespace = $1::text::regnamespace`, schema),
			texts(t, lite, `SELECT '`+schema+`.' || m.name || ' FOREIGN KEY (gen, ' || f."from" || ') REFERENCES `+schema+`.' || f."table" || '(gen, ' || f."to" || ') ON DELETE ' || f.on_delete
FROM sqlite_master m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`), sorted, cmpopts.EquateEmpty())
		checks := 0
		for _, s := range texts(t, lite, `SELECT sql FROM sqlite_master WHERE type = 'table'`) {
			checks += strings.Count(s, "CHECK (")
		}
		must.Equal(t, name+": checks", list[int](t, c, `SELECT count(*)::int FROM pg_constraint k WHERE contype = 'c' AND connamespace = $1::text::regnamespace AND conrelid::regclass::text <> ALL ('{amber.heads,amber.commits,amber.documents,amber.note_objects,amber.note_refs,amber.vault_files}')`, schema), []int{checks})
	}
}

// uniques are the keys and unique indexes of a file, with the generation in front.
func uniques(t *testing.T, lite *sql.DB) []string {
	out := texts(t, lite, `SELECT m.name || ': gen ' || (SELECT group_concat(name, ' ') FROM (SELECT i.name FROM pragma_index_info(l.name) i ORDER BY i.seqno))
FROM sqlite_master m, pragma_index_list(m.name) l WHERE m.type = 'table' AND l."unique"`)
	// The number of a row is a key without an index of its own.
	out = append(out, texts(t, lite, `SELECT m.name || ': gen ' || c.name FROM sqlite_master m, pragma_table_info(m.name) c
WHERE m.type = 'table' AND c.pk = 1 AND c.type = 'INTEGER' AND (SELECT max(pk) FROM pragma_table_info(m.name)) = 1 AND NOT EXISTS (SELECT 1 FROM pragma_index_list(m.name) WHERE origin = 'pk')`)...)
	slices.Sort(out)
	return out
}

var spaces = regexp.MustCompile(`\s+`)

// indexes are the named indexes of a file as PostgreSQL would say them.
func indexes(t *testing.T, lite *sql.DB, schema string) (out []string) {
	for _, s := range texts(t, lite, `SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`) {
		_, s, _ = strings.Cut(spaces.ReplaceAllString(s, " "), " INDEX ")
		name, s, _ := strings.Cut(s, " ON ")
		table, s, _ := strings.Cut(s, " (")
		out = append(out, fmt.Sprintf("%s ON %s.%s USING btree (gen, %s", name, schema, table, s))
	}
	return out
}

// as runs statements as the program does, and ends without keeping anything.
func as(t *testing.T, c *pgx.Conn, gen int64, fn func(pgx.Tx)) {
	t.Helper()
	tx := must.Get(c.Begin(t.Context()))(t)
	defer func() { must.NoError(t, tx.Rollback(context.Background())) }()
	enter(t, tx, gen)
	fn(tx)
}

func enter(t *testing.T, tx pgx.Tx, gen int64) {
	t.Helper()
	must.Get(tx.Exec(t.Context(), "SET LOCAL ROLE amber_app"))(t)
	if gen != 0 {
		must.Get(tx.Exec(t.Context(), fmt.Sprintf("SET LOCAL amber.gen = %d", gen)))(t)
	}
}

func run(t *testing.T, tx pgx.Tx, sql string) {
	t.Helper()
	if _, err := tx.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// fails runs a statement that has to fail, and goes on after it.
func fails(t *testing.T, tx pgx.Tx, sql, code string) {
	t.Helper()
	inner := must.Get(tx.Begin(t.Context()))(t)
	_, err := inner.Exec(t.Context(), sql)
	must.Equal(t, sql, codeOf(err), code)
	must.NoError(t, inner.Rollback(t.Context()))
}

const tablesOfAgents = `SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relnamespace IN ('amber'::regnamespace, 'amber_control'::regnamespace) ORDER BY 1`

// Tables that later migrations add are covered: what they forget is found here.
func TestEveryTableHasPolicy(t *testing.T) {
	_, c := migrated(t)
	tables := list[string](t, c, tablesOfAgents)
	must.Equal(t, "tables with one policy that is forced", list[string](t, c, `SELECT c.oid::regclass::text FROM pg_class c JOIN pg_policies p ON p.schemaname = c.relnamespace::regnamespace::text AND p.tablename = c.relname
WHERE c.relrowsecurity AND c.relforcerowsecurity AND p.cmd = 'ALL' AND p.permissive = 'PERMISSIVE' AND p.roles = '{public}'
AND p.qual = '(gen = (current_setting(''amber.gen''::text))::bigint)' AND p.with_check = p.qual
AND (SELECT count(*) FROM pg_policies o WHERE o.schemaname = p.schemaname AND o.tablename = p.tablename) = 1 ORDER BY 1`), tables)
	must.Equal(t, "keys and indexes without gen in front", list[string](t, c, `SELECT x.indexrelid::regclass::text FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid
LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[0] AND a.attname = 'gen'
WHERE c.relnamespace IN ('amber'::regnamespace, 'amber_control'::regnamespace) AND a.attname IS NULL`), []string{})
	for _, table := range tables {
		must.Equal(t, table+": rights", list[bool](t, c, `SELECT has_table_privilege('amber_app', $1, 'SELECT') AND has_table_privilege('amber_app', $1, 'INSERT')
AND has_table_privilege('amber_app', $1, 'UPDATE') AND has_table_privilege('amber_app', $1, 'DELETE') AND NOT has_table_privilege('amber_app', $1, 'TRUNCATE')`, table), []bool{true})
	}
}

// Without a generation nothing is read or written, empty tables included: neither in a connection
// that never had one, nor in one whose last transaction had.
func TestNoGeneration(t *testing.T) {
	name, c := migrated(t)
	tables := list[string](t, c, tablesOfAgents)
	for _, had := range []bool{false, true} {
		c := connect(t, name, "postgres")
		code := "42704" // no such setting
		if had {
			as(t, c, 1, func(tx pgx.Tx) { run(t, tx, "SELECT count(*) FROM amber.turns") })
			code = "22P02" // the setting is empty
		}
		as(t, c, 0, func(tx pgx.Tx) {
			for _, table := range tables {
				fails(t, tx, "SELECT * FROM "+table, code)
				fails(t, tx, "DELETE FROM "+table, code)
				fails(t, tx, "UPDATE "+table+" SET gen = 2", code)
			}
			fails(t, tx, "INSERT INTO amber.erased (gen, id, device, counter, clock) VALUES (1, 'a', 'd', 1, 1)", code)
			fails(t, tx, "INSERT INTO amber.erased (id, device, counter, clock) VALUES ('a', 'd', 1, 1)", code)
		})
	}
}

func TestForeignGeneration(t *testing.T) {
	_, c := migrated(t)
	// A row in every table, by its owner, whom no policy binds.
	do(t, c, "SET amber.gen = 1")
	do(t, c, "SET session_replication_role = replica")
	tables := list[string](t, c, tablesOfAgents)
	for _, table := range tables {
		do(t, c, filled(t, c, table))
	}
	do(t, c, "SET session_replication_role = origin")
	for _, table := range tables {
		as(t, c, 1, func(tx pgx.Tx) {
			must.Equal(t, table+": own rows", list[int](t, tx, "SELECT count(*)::int FROM "+table), []int{1})
			fails(t, tx, "UPDATE "+table+" SET gen = 2", "42501")
		})
		as(t, c, 2, func(tx pgx.Tx) {
			must.Equal(t, table+": rows of another", list[int](t, tx, "SELECT count(*)::int FROM "+table), []int{0})
			for _, change := range []string{"UPDATE " + table + " SET gen = 2", "DELETE FROM " + table} {
				tag := must.Get(tx.Exec(t.Context(), change))(t)
				must.Equal(t, change, tag.RowsAffected(), 0)
			}
			fails(t, tx, strings.Replace(filled(t, c, table), "SELECT 1::int8,", "SELECT 3::int8,", 1), "42501")
		})
	}
}

// filled is a statement that inserts a row of the first generation into a table.
func filled(t *testing.T, c *pgx.Conn, table string) string {
	t.Helper()
	columns := list[string](t, c, `SELECT CASE
WHEN attname = 'gen' THEN '1::int8'
WHEN attrelid::regclass::text = 'amber_control.queue' AND attname = 'state' THEN '''queued'''
WHEN attrelid::regclass::text = 'amber.vault_files' AND attname = 'place' THEN 'repeat(''0'', 64)'
WHEN attname = 'log' THEN '''memory'''
WHEN attname = 'token' AND atttypid = 'uuid'::regtype THEN 'gen_random_uuid()'
WHEN atttypid = 'bytea'::regtype THEN '''0123456789abcdef''::bytea'
WHEN atttypid = 'bool'::regtype THEN 'true'
WHEN atttypid = 'text'::regtype THEN '''x'''
ELSE '1' END FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`, table)
	return "INSERT INTO " + table + " SELECT " + strings.Join(columns, ", ")
}

const turn = `INSERT INTO amber.turns (id, session_id, role, content, project_id, created_at) VALUES `

func TestNumbers(t *testing.T) {
	_, c := migrated(t)
	tx := must.Get(c.Begin(t.Context()))(t)
	enter(t, tx, 1)
	run(t, tx, turn+`('a', 's', 'user', '', '', 1), ('b', 's', 'user', '', '', 1), ('c', 's', 'user', '', '', 1)`)
	must.Equal(t, "three rows of one statement", list[int64](t, tx, "SELECT seq FROM amber.turns ORDER BY id"), []int64{1, 2, 3})
	run(t, tx, turn+`('d', 's', 'user', '', '', 1)`)
	run(t, tx, "DELETE FROM amber.turns WHERE id = 'd'")
	run(t, tx, turn+`('e', 's', 'user', '', '', 1)`)
	run(t, tx, strings.Replace(turn, "(id", "(seq, id", 1)+`(70, 'f', 's', 'user', '', '', 1)`)
	run(t, tx, strings.Replace(turn, "VALUES ", "", 1)+`SELECT 'g' || n, 's', 'user', '', '', 1 FROM generate_series(1, 2) n`)
	must.Equal(t, "the largest one plus one", list[int64](t, tx, "SELECT seq FROM amber.turns ORDER BY id"), []int64{1, 2, 3, 4, 70, 71, 72})
	must.Do(t, tx.Commit(t.Context()))
	as(t, c, 2, func(tx pgx.Tx) {
		run(t, tx, turn+`('a', 's', 'user', '', '', 1)`)
		must.Equal(t, "another generation", list[int64](t, tx, "SELECT seq FROM amber.turns"), []int64{1})
		for _, table := range []string{
			"amber.incarnations (id, first_seq) VALUES ('x', 1), ('y', 2)", "amber_control.incarnations (id, first_seq) VALUES ('x', 1), ('y', 2)",
			"amber.changes (stamp, op, scope, key, old_digest, new_digest) VALUES (1, '', '', '', '', ''), (1, '', '', '', '', '')",
			"amber_control.changes (stamp, op, scope, key, old_digest, new_digest) VALUES (1, '', '', '', '', ''), (1, '', '', '', '', '')",
			"amber.compactions (id, session_id, summary, turns, created_at) VALUES ('x', '', '', 1, 1), ('y', '', '', 1, 1)",
		} {
			name, _, _ := strings.Cut(table, " ")
			column := "seq"
			if strings.HasSuffix(name, "incarnations") {
				column = "ordinal"
			}
			must.Equal(t, name, list[int64](t, tx, "INSERT INTO "+table+" RETURNING "+column), []int64{1, 2})
		}
	})
	// The owner, too, counts the rows of the generation that is set.
	do(t, c, "SET amber.gen = 2")
	must.Equal(t, "as the owner", list[int64](t, c, turn+`('z', 's', 'user', '', '', 1) RETURNING seq`), []int64{1})
}

// The same changes leave the same notes for the index in SQLite and here.
func TestNotesForIndex(t *testing.T) {
	_, c := migrated(t)
	lite := file(t, "memory")
	must.Get(lite.Exec("PRAGMA foreign_keys = on"))(t)
	memory := func(id string) string {
		return `INSERT INTO memories (id, kind, scope, identity, session_id, user_id, project_id, workspace_id, title, content, summary, topic, tags, metadata, source_refs, trust, device, counter, clock, revision, content_digest, duplicate_count, created_at, updated_at, foreign_fields)
VALUES ('` + id + `', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', '', 1, 1, 1, '', 0, 1, 1, '')`
	}
	short := strings.Replace(turn, "amber.", "", 1)
	session := `INSERT INTO sessions (id, name, binding, project, directory, started_at, end_reason, summary, parent, created_at, updated_at) VALUES `
	as(t, c, 1, func(tx pgx.Tx) {
		run(t, tx, "SET LOCAL search_path = amber")
		for _, step := range []string{
			memory("m1"), memory("m2"),
			`UPDATE memories SET title = 'x' WHERE id = 'm1'`,
			`UPDATE memories SET duplicate_count = 2 WHERE id = 'm1'`,
			`UPDATE memories SET id = 'm3' WHERE id = 'm2'`,
			`INSERT INTO concepts (memory_id, concept) VALUES ('m1', 'c')`,
			`UPDATE concepts SET memory_id = 'm3'`,
			`INSERT INTO revisions (memory_id, revision, body) VALUES ('m1', 1, '{}'), ('m3', 1, '{}')`,
			`UPDATE revisions SET body = '' WHERE memory_id = 'm3'`,
			`DELETE FROM revisions WHERE memory_id = 'm1'`,
			`DELETE FROM memories WHERE id = 'm3'`, // with its concept and revision
			session + `('s1', '', '', '', '', 1, '', '', '', 1, 1), ('s2', '', '', '', '', 1, '', '', '', 1, 1)`,
			short + `('t1', 's1', 'user', '', '', 1), ('t2', 's1', 'user', '', '', 1), ('t3', 's1', 'user', '', '', 1), ('t4', 's2', 'user', '', '', 1), ('t5', 's1', 'user', '', '', 1), ('t6', 's1', 'user', '', '', 1)`,
			`UPDATE turns SET content = 'x' WHERE id = 't3'`,
			`UPDATE turns SET session_id = 's2' WHERE id = 't5'`,
			`DELETE FROM turns WHERE id IN ('t1', 't2')`,
			`INSERT INTO compactions (id, session_id, summary, turns, created_at) VALUES ('c1', 's1', '', 1, 1)`,
			`UPDATE compactions SET summary = 'x'`,
			`INSERT INTO activity (session_id, kind, name, detail, status, count, failed, first_at, last_at) VALUES ('s1', 'tool', 'a', '', '', 1, 0, 1, 1), ('s1', 'tool', 'b', '', '', 1, 1, 1, 1)`,
			`UPDATE activity SET failed = 1 WHERE name = 'a'`,
			`UPDATE activity SET failed = 0 WHERE name = 'a'`,
			`UPDATE activity SET count = 7 WHERE name = 'a'`,
			`UPDATE sessions SET updated_at = 2`,
			`UPDATE sessions SET project = 'p' WHERE id = 's1'`,
			`UPDATE sessions SET project = 'p' WHERE id = 's1'`,
			`DELETE FROM sessions WHERE id = 's1'`, // with its activity
			`DELETE FROM compactions`,
			`INSERT INTO notes (name, blob, commit_id, at, content) VALUES ('n1', '', '', 1, '')`,
			`UPDATE notes SET name = 'n2'`,
			`DELETE FROM notes`,
		} {
			must.Get(lite.Exec(step))(t)
			run(t, tx, step)
			const noted = `SELECT source || ' ' || owner FROM index_dirty ORDER BY source, owner`
			must.Equal(t, step, list[string](t, tx, noted), append([]string{}, texts(t, lite, noted)...))
			must.Get(lite.Exec(`DELETE FROM index_dirty`))(t)
			run(t, tx, `DELETE FROM index_dirty`)
		}
	})
}

func TestQueueCounts(t *testing.T) {
	_, c := migrated(t)
	as(t, c, 1, func(tx pgx.Tx) {
		run(t, tx, "SET LOCAL search_path = amber_control")
		counts := func(what string, want ...string) {
			t.Helper()
			must.Equal(t, what, list[string](t, tx, `SELECT state || ' ' || entries FROM queue_counts ORDER BY state`), want)
		}
		run(t, tx, `INSERT INTO queue_counts (state, entries) VALUES ('queued', 0), ('acked', 0)`)
		run(t, tx, `INSERT INTO queue (entry_id, task_id, node_id, digest, payload, priority, published_not_before, not_before, due, state, attempt, consumer, token, fence, expires_at, reasons)
SELECT 'e' || n, '', '', '', '', 0, 0, 0, 1, 'queued', 0, '', '', 0, 0, '[]' FROM generate_series(1, 3) n`)
		counts("published", "acked 0", "queued 3")
		run(t, tx, `UPDATE queue SET state = 'leased' WHERE entry_id <> 'e1'`)
		counts("leased", "acked 0", "leased 2", "queued 1")
		run(t, tx, `UPDATE queue SET attempt = 1`)
		run(t, tx, `UPDATE queue SET state = state`)
		counts("as they were", "acked 0", "leased 2", "queued 1")
		run(t, tx, `DELETE FROM queue WHERE entry_id IN ('e1', 'e2')`)
		counts("deleted", "acked 0", "leased 1", "queued 0")
		fails(t, tx, `UPDATE queue SET state = 'lost'`, "23514")
	})
}

// The rows that a server writes in amber_meta, and the statements that it must not run.
func TestRightsOnMeta(t *testing.T) {
	_, c := migrated(t)
	as(t, c, 0, func(tx pgx.Tx) {
		must.Equal(t, "generation", list[int64](t, tx, `INSERT INTO amber_meta.generations (tenant, agent, number, incarnation, state) VALUES ('', 'a', 1, 'i', 'live') RETURNING gen`), []int64{1})
		run(t, tx, `INSERT INTO amber_meta.agents (tenant, agent, live_gen, device) VALUES ('', 'a', 1, 'd')`)
		run(t, tx, `INSERT INTO amber_meta.servers (id, schema_known) VALUES ('s', 1) ON CONFLICT (id) DO UPDATE SET seen_at = now()`)
		run(t, tx, `INSERT INTO amber_meta.work (kind, tenant, agent) VALUES ('k', '', 'a')`)
		run(t, tx, `SELECT * FROM amber_meta.migrations, amber_meta.version`)
		fails(t, tx, `DELETE FROM amber_meta.generations`, "23503")
		fails(t, tx, `UPDATE amber_meta.version SET number = 2`, "42501")
		fails(t, tx, `DELETE FROM amber_meta.migrations`, "42501")
		fails(t, tx, `DROP POLICY generation ON amber.turns`, "42501")
		fails(t, tx, `CREATE TABLE amber.mine (x int)`, "42501")
		must.Kind(t, "", must.Err(Check(t.Context(), tx)), amber.Kind(""))
	})
}

// The tables of home.db are there with the same columns, keys, indexes and triggers. The only other ones do what SQLite
// does by itself.
func TestHomeSameAsSQLite(t *testing.T) {
	_, c := migrated(t)
	lite := must.Get(sql.Open("sqlite", ":memory:"))(t)
	lite.SetMaxOpenConns(1)
	t.Cleanup(func() { must.NoError(t, lite.Close()) })
	must.Get(lite.Exec(string(must.Get(os.ReadFile("../../ledger/migrations/home-1.sql"))(t))))(t)
	own := []string{"audit_away", "audit_carried", "audit_unchained", "commits", "cursors", "heads"}

	tables := append(texts(t, lite, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`), own...)
	must.Equal(t, "tables", list[string](t, c, `SELECT relname::text FROM pg_class WHERE relnamespace = 'amber_home'::regnamespace AND relkind = 'r'`), tables, sorted)
	must.Equal(t, "columns", list[string](t, c, `SELECT table_name || '.' || ordinal_position || ' ' || column_name || ' ' || data_type || coalesce(' ' || collation_name, '') || ' ' || is_nullable
FROM information_schema.columns WHERE table_schema = 'amber_home' AND table_name <> ALL ($1)`, own),
		texts(t, lite, `SELECT m.name || '.' || (c.cid + 1) || ' ' || c.name || ' ' || CASE c.type WHEN 'INTEGER' THEN 'bigint' WHEN 'TEXT' THEN 'text C' WHEN 'BLOB' THEN 'bytea' END || ' NO'
FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`), sorted)
	keys := uniques(t, lite)
	for i := range keys {
		keys[i] = strings.Replace(keys[i], ": gen ", ": ", 1)
	}
	must.Equal(t, "keys", list[string](t, c, `SELECT c.relname || ': ' || string_agg(a.attname, ' ' ORDER BY k.n) FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid,
unnest(x.indkey::int2[]) WITH ORDINALITY k (num, n) JOIN pg_attribute a ON a.attnum = k.num
WHERE c.relnamespace = 'amber_home'::regnamespace AND x.indisunique AND a.attrelid = c.oid AND c.relname <> ALL ($1) GROUP BY c.relname, x.indexrelid`, own), keys, sorted)
	must.Equal(t, "indexes", list[string](t, c, `SELECT indexname || ' ' || regexp_replace(indexdef, '^.*USING btree ', '') FROM pg_indexes i
WHERE schemaname = 'amber_home' AND tablename <> ALL ($1) AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conname = i.indexname AND k.connamespace = 'amber_home'::regnamespace)`, own),
		texts(t, lite, `SELECT name || ' (' || (SELECT group_concat(name, ', ') FROM (SELECT i.name FROM pragma_index_info(m.name) i ORDER BY i.seqno)) || ')' FROM sqlite_master m WHERE type = 'index' AND sql IS NOT NULL`), sorted)
	must.Equal(t, "triggers", list[string](t, c, `SELECT tgname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE c.relnamespace = 'amber_home'::regnamespace AND NOT tgisinternal`),
		append(texts(t, lite, `SELECT name FROM sqlite_master WHERE type = 'trigger'`), "audit_whole"), sorted)
}

// The rows that a server writes in amber_home, and the statements that it must not run.
func TestRightsOnHome(t *testing.T) {
	_, c := migrated(t)
	const entry = `INSERT INTO amber_home.audit (seq, at, tenant, agent, actor, action, subject, outcome, request_id, prev, hash) VALUES (1, 1, '', '', '', '', '', '', '', '', '')`
	as(t, c, 0, func(tx pgx.Tx) {
		run(t, tx, entry)
		fails(t, tx, `UPDATE amber_home.audit SET actor = 'x'`, "42501")
		fails(t, tx, `DELETE FROM amber_home.audit`, "42501")
		fails(t, tx, `TRUNCATE amber_home.audit`, "42501")
		// An entry that was written together with a change is moved, and never changed.
		run(t, tx, `INSERT INTO amber_home.audit_unchained (at, tenant, agent, actor, action, subject, outcome, request_id) VALUES (1, '', '', '', '', '', '', '')`)
		fails(t, tx, `UPDATE amber_home.audit_unchained SET actor = 'x'`, "42501")
		fails(t, tx, `TRUNCATE amber_home.audit_unchained`, "42501")
		run(t, tx, `INSERT INTO amber_home.audit_away (at, tenant, agent, actor, action, subject, outcome, request_id) VALUES (1, '', '', '', '', '', '', '')`)
		fails(t, tx, `UPDATE amber_home.audit_away SET actor = 'x'`, "42501")
		run(t, tx, `INSERT INTO amber_home.tokens (id, name, tenant, agent, scopes, hash, created_at, expires_at, revoked_at, last_used_at) VALUES ('a', '', '', '', '', '', 1, 0, 0, 0)`)
		fails(t, tx, `DELETE FROM amber_home.tokens`, "42501")
		fails(t, tx, `INSERT INTO amber_home.heads (name) VALUES ('mine')`, "42501")
		fails(t, tx, `DELETE FROM amber_home.heads`, "42501")
		fails(t, tx, `CREATE TABLE amber_home.mine (x int)`, "42501")
		must.Equal(t, "numbers of events", list[int64](t, tx, `INSERT INTO amber_home.outbox (event) VALUES ('a'), ('b') RETURNING seq`), []int64{1, 2})
		run(t, tx, `DELETE FROM amber_home.outbox`)
		must.Equal(t, "after all were removed", list[int64](t, tx, `INSERT INTO amber_home.outbox (event) VALUES ('c') RETURNING seq`), []int64{3})
	})
	// The owner of the tables does not change the log by mistake either.
	do(t, c, entry)
	for _, change := range []string{`UPDATE amber_home.audit SET actor = 'x'`, `DELETE FROM amber_home.audit`, `TRUNCATE amber_home.audit`} {
		must.Equal(t, change, codeOf(must.Err(c.Exec(t.Context(), change))), "P0001")
	}
}
