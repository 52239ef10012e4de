package pgdb

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func testDialect() *Dialect {
	return &Dialect{Front: "gen", Keys: map[string][]string{"t": {"a", "b"}, "k": {"a"}}}
}

// Every rule, and what stands near it and is none.
func TestTranslate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, from, want string }{
		{"nothing to do", `SELECT a FROM t`, `SELECT a FROM t`},
		{"space at the end", "SELECT a FROM t \n\t", `SELECT a FROM t`},

		{"arguments in order", `SELECT ? , ?, ?`, `SELECT $1 , $2, $3`},
		{"numbered arguments", `SELECT ?2, ?1, ?2`, `SELECT $2, $1, $2`},
		{"one more than the largest before", `SELECT ?, ?5, ?, ?2, ?`, `SELECT $1, $5, $6, $2, $7`},
		{"an argument of two digits", `SELECT ?12, ?`, `SELECT $12, $13`},
		{"an argument without space around it", `a=?AND b=?3`, `a=$1AND b=$3`},

		{"? in a string", `SELECT '?', ?, 'it''s ?1'`, `SELECT '?', $1, 'it''s ?1'`},
		{"? in a name", `SELECT "a?" FROM "t ?1" WHERE b = ?`, `SELECT "a?" FROM "t ?1" WHERE b = $1`},
		{"a name with quotes in it", `SELECT "a""?" , ?`, `SELECT "a""?" , $1`},
		{"words of rules in a string", `SELECT 'INSERT OR IGNORE INTO t', 'x IN (SELECT value FROM json_each(?))', 'LIMIT ?', 'INDEXED BY i'`, `SELECT 'INSERT OR IGNORE INTO t', 'x IN (SELECT value FROM json_each(?))', 'LIMIT ?', 'INDEXED BY i'`},
		{"words of rules as names", `SELECT "hex" ("instr") FROM "json_each"`, `SELECT "hex" ("instr") FROM "json_each"`},
		{"words of rules as columns", `SELECT char, hex, t.instr FROM t`, `SELECT char, hex, t.instr FROM t`},
		{"words that only begin so", `SELECT hexed(a), char_length(b), reinstr(c) FROM insertor`, `SELECT hexed(a), char_length(b), reinstr(c) FROM insertor`},
		{"a string without an end", `SELECT 'a ?`, `SELECT 'a ?`},

		{"a comment to the end of the line", "SELECT ? -- is it ? or '\n, ?", "SELECT $1  \n, $2"},
		{"a comment in the middle", `SELECT ? /* what? it's "LIMIT ?" */ , ?`, `SELECT $1   , $2`},
		{"a comment without an end", `SELECT ? /* ?`, `SELECT $1`},
		{"a comment inside a rule", "INSERT /* new */ OR -- else\n IGNORE INTO t (a) VALUES (?) -- end", "INSERT     \n  INTO t (a) VALUES ($1) ON CONFLICT DO NOTHING"},
		{"a comment before an argument that bounds", "SELECT a LIMIT /* ? */ ?", "SELECT a LIMIT   nullif(greatest($1::int8, -1), -1)"},

		{"which index", `SELECT a FROM t INDEXED BY i WHERE b = ?`, `SELECT a FROM t  WHERE b = $1`},
		{"which file", `SELECT a FROM main.t WHERE MAIN.t.b = ? AND domain.c = main`, `SELECT a FROM t WHERE t.b = $1 AND domain.c = main`},
		{"a plus as sign", `SELECT a FROM t WHERE +b = +? AND (+c) > 1 ORDER BY +d, +e`, `SELECT a FROM t WHERE b = $1 AND (c) > 1 ORDER BY d, e`},
		{"a plus that adds", `SELECT a + 1, b+? FROM t WHERE (a) + b = 2 + ?`, `SELECT a + 1, b+$1 FROM t WHERE (a) + b = 2 + $2`},

		{"a bound", `SELECT a LIMIT ? OFFSET ?`, `SELECT a LIMIT nullif(greatest($1::int8, -1), -1) OFFSET $2`},
		{"a numbered bound", `SELECT a LIMIT ?3`, `SELECT a LIMIT nullif(greatest($3::int8, -1), -1)`},
		{"a bound that is no argument", `SELECT a LIMIT 5`, `SELECT a LIMIT 5`},

		{"ignore", `INSERT OR IGNORE INTO t (a) VALUES (?)`, `INSERT   INTO t (a) VALUES ($1) ON CONFLICT DO NOTHING`},
		{"ignore, small letters", `insert or ignore into t (a) values (?);`, `insert   into t (a) values ($1) ON CONFLICT DO NOTHING`},
		{"replace", `INSERT OR REPLACE INTO t (a, b, c, d) VALUES (?, ?, ?, ?)`, `INSERT   INTO t (a, b, c, d) VALUES ($1, $2, $3, $4) ON CONFLICT (gen, a, b) DO UPDATE SET c = excluded.c, d = excluded.d`},
		{"replace where all is key", `INSERT OR REPLACE INTO k (a) VALUES (?)`, `INSERT   INTO k (a) VALUES ($1) ON CONFLICT (gen, a) DO NOTHING`},
		{"replace from a question", `INSERT OR REPLACE INTO k (a, z) SELECT a, ? FROM t`, `INSERT   INTO k (a, z) SELECT a, $1 FROM t ON CONFLICT (gen, a) DO UPDATE SET z = excluded.z`},
		{"conflicts", `INSERT INTO t (a) VALUES (?) ON CONFLICT (a) DO UPDATE SET b = excluded.b`, `INSERT INTO t (a) VALUES ($1) ON CONFLICT (gen, a) DO UPDATE SET b = excluded.b`},
		{"conflicts of nothing", `INSERT INTO t (a) VALUES (?) ON CONFLICT DO NOTHING`, `INSERT INTO t (a) VALUES ($1) ON CONFLICT DO NOTHING`},

		{"a list", `SELECT a FROM t WHERE b IN (SELECT value FROM json_each(?)) AND c = ?`, `SELECT a FROM t WHERE b = ANY (ARRAY(SELECT value FROM amber.elements($1))) AND c = $2`},
		{"a list that is not to hold it", `SELECT a FROM t WHERE b NOT IN (SELECT value FROM json_each(?))`, `SELECT a FROM t WHERE b NOT IN (SELECT value FROM amber.elements($1))`},
		{"a list of values", `b IN (1, ?)`, `b IN (1, $1)`},
		{"another question", `b IN (SELECT a FROM t WHERE c = ?)`, `b IN (SELECT a FROM t WHERE c = $1)`},
		{"a list with a condition", `b IN (SELECT value FROM json_each(?) WHERE value > 1)`, `b IN (SELECT value FROM amber.elements($1) WHERE value > 1)`},
		{"a list inside a question", `b IN (SELECT a FROM t WHERE c IN (SELECT value FROM json_each(?)))`, `b IN (SELECT a FROM t WHERE c = ANY (ARRAY(SELECT value FROM amber.elements($1))))`},
		{"a list of a few rows", `b IN (SELECT a FROM t ORDER BY a LIMIT ?)`, `b = ANY (ARRAY(SELECT a FROM t ORDER BY a LIMIT nullif(greatest($1::int8, -1), -1)))`},
		{"a list of a few pairs", `(b, c) IN (SELECT a, d FROM t LIMIT 100)`, `(b, c) IN (SELECT a, d FROM t LIMIT 100)`},
		{"a list as a table", `SELECT e.value FROM json_each(?) e`, `SELECT e.value FROM amber.elements($1) e`},

		{"a part of JSON", `SELECT json_extract(body, '$.a.b') FROM t`, `SELECT (body::json ->> 'a.b') FROM t`},
		{"a part of what is computed", `SELECT json_extract(coalesce(a, b), '$.a')`, `SELECT (coalesce(a, b)::json ->> 'a')`},
		{"a part of a value", `SELECT e.value ->> 0, e.value->>1 FROM json_each(?) e`, `SELECT e.value::json ->> 0, e.value::json->>1 FROM amber.elements($1) e`},
		{"functions", `SELECT instr(a, ?), char(10), hex(b), group_concat(c)`, `SELECT strpos(a, $1), chr(10), encode(b, 'hex'), string_agg(c, ',')`},
		{"functions of functions", `SELECT hex(coalesce(a, (b))), INSTR (a, b)`, `SELECT encode(coalesce(a, (b)), 'hex'), strpos (a, b)`},
		{"whole numbers", `SELECT CAST(a AS INTEGER), integer FROM t`, `SELECT CAST(a AS int8), integer FROM t`},
		{"other scripts", `SELECT 'Привет?', "名", ?`, `SELECT 'Привет?', "名", $1`},
		{"empty", ``, ``},
	} {
		d := testDialect()
		for range 2 { // the second time it is known
			got, err := d.Translate(c.from)
			must.NoError(t, err)
			must.Equal(t, c.name, got, c.want)
		}
	}
}

func TestTranslateWithoutFront(t *testing.T) {
	t.Parallel()
	d := &Dialect{Keys: map[string][]string{"k": {"a"}}}
	must.Equal(t, "replace", must.Get(d.Translate(`INSERT OR REPLACE INTO k (a, z) VALUES (?, ?)`))(t), `INSERT   INTO k (a, z) VALUES ($1, $2) ON CONFLICT (a) DO UPDATE SET z = excluded.z`)
	must.Equal(t, "conflict", must.Get(d.Translate(`INSERT INTO k (a) VALUES (?) ON CONFLICT (a) DO NOTHING`))(t), `INSERT INTO k (a) VALUES ($1) ON CONFLICT (a) DO NOTHING`)
}

// A statement that cannot be translated is an error, never another statement.
func TestUntranslatable(t *testing.T) {
	t.Parallel()
	for query, words := range map[string]string{
		`INSERT OR`:                                   "no table is named",
		`INSERT OR ABORT INTO t (a) VALUES (?)`:       "INSERT OR ABORT is not known",
		`INSERT OR IGNORE t`:                          "no table is named",
		`INSERT OR REPLACE INTO other (a) VALUES (1)`: "the key of table other is not known",
		`INSERT OR REPLACE INTO t VALUES (1)`:         "no columns are named",
		`INSERT OR REPLACE INTO t (a, b`:              "has no end",
		`SELECT json_extract(a)`:                      "json_extract is only known",
		`SELECT json_extract(a, '$.b', '$.c')`:        "json_extract is only known",
		`SELECT json_extract(a, b)`:                   "json_extract is only known",
		`SELECT json_extract(`:                        "json_extract is only known",
		`SELECT hex(`:                                 "hex is only known",
		`SELECT group_concat(a, '-')`:                 "group_concat is only known",
		`SELECT ?0`:                                   "argument ?0",
		`SELECT ?32767`:                               "argument ?32767",
		`SELECT ?99999999999999999999`:                "argument ?99999999999999999999",
	} {
		_, err := testDialect().Translate(query)
		must.Error(t, query, err)
		must.Says(t, query, err.Error(), words)
	}
}

func FuzzTranslate(f *testing.F) {
	for _, q := range []string{
		`INSERT OR REPLACE INTO t (a, b, c) VALUES (?, ?, ?)`, `SELECT a FROM t WHERE b IN (SELECT value FROM json_each(?)) LIMIT ?`,
		`SELECT json_extract(a, '$.b'), hex(c), group_concat(d), CAST(e AS INTEGER)`, `t INDEXED BY i WHERE +a = ?3 -- x`, `/* ? */ 'a''b' "c"`,
		`INSERT OR IGNORE INTO`, `ON CONFLICT (`, `e.value ->> 0`, `IN (SELECT`, `IN (SELECT json_each(`, `json_extract((,)`,
	} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) {
		got, err := testDialect().Translate(query)
		if err != nil {
			return
		}
		// Outside of strings and names no argument of SQLite is left.
		for _, token := range split(got) {
			must.Hold(t, !strings.HasPrefix(token, "?"), "%q became %q, which has an argument of SQLite", query, got)
		}
	})
}
