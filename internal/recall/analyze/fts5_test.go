package analyze_test

import (
	"database/sql"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"

	_ "modernc.org/sqlite"
)

// fts5 is the tokenizer the package must agree with.
type fts5 struct{ db *sql.DB }

const (
	wordTokenizer    = "porter unicode61 remove_diacritics 2"
	plainTokenizer   = "unicode61 remove_diacritics 2"
	trigramTokenizer = "trigram remove_diacritics 1"
)

// openFTS5 opens an empty index with the given tokenizer.
func openFTS5(tb testing.TB, tokenizer string) *fts5 {
	tb.Helper()
	db := must.Get(sql.Open("sqlite", ":memory:"))(tb)
	tb.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1) // every connection has its own memory
	f := &fts5{db}
	f.exec(tb, `CREATE VIRTUAL TABLE texts USING fts5(text, content='', tokenize="`+tokenizer+`")`)
	f.exec(tb, `CREATE VIRTUAL TABLE terms USING fts5vocab(texts, instance)`)
	return f
}

func (f *fts5) exec(tb testing.TB, query string, args ...any) {
	tb.Helper()
	if _, err := f.db.Exec(query, args...); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
}

// terms returns what the tokenizer makes of text, in order.
func (f *fts5) terms(tb testing.TB, text string) []string {
	tb.Helper()
	f.exec(tb, `INSERT INTO texts(texts) VALUES ('delete-all')`)
	f.exec(tb, `INSERT INTO texts(rowid, text) VALUES (1, ?)`, text)
	rows := must.Get(f.db.Query(`SELECT term FROM terms ORDER BY offset`))(tb)
	defer rows.Close()
	terms := []string{}
	for rows.Next() {
		var term string
		must.Do(tb, rows.Scan(&term))
		terms = append(terms, term)
	}
	must.Do(tb, rows.Err())
	return terms
}
