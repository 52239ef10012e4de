package image_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/fsx/errfs"
	"github.com/amber-memory/amber/internal/must"
	"github.com/amber-memory/amber/internal/redact"
	"github.com/amber-memory/amber/internal/redact/secrettest"
	"github.com/amber-memory/amber/store/sqlite/image"
)

// attempt redacts a database and returns the names of the files that are there
// afterwards.
func attempt(t *testing.T, ctx context.Context, fsys fsx.FS, database []byte, progress func(done, total int64)) (left []string, err error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "memory.db")
	must.Do(t, os.WriteFile(path, database, 0o600))
	_, err = image.RedactFile(ctx, fsys, path, redact.New(), nil, progress)
	entries, listErr := os.ReadDir(dir)
	must.Do(t, listErr)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	return left, err
}

func withSecrets(t *testing.T) []byte {
	t.Helper()
	var memories []amber.WriteRequest
	token := secrettest.Template{Rule: "github-token", Text: "ghp_{a36}"}
	for i, s := range secrettest.Corpus(1)[:3] {
		memories = append(memories, amber.WriteRequest{Content: "before " + s.Text() + " after", Topic: "topic " + token.Secret(uint64(i)).Value})
	}
	database := must.Get(os.ReadFile(frozen(t, memories)))(t)
	return database
}

// Whichever call fails, there is no file under the name afterwards.
func TestRedactWithAFailingDisk(t *testing.T) {
	t.Parallel()
	database := withSecrets(t)
	for n := 1; ; n++ {
		e := errfs.Wrap(fsx.OS(), errfs.Rule{Nth: n, Err: syscall.EIO})
		left, err := attempt(t, t.Context(), e, database, nil)
		if len(e.Injected()) == 0 {
			must.Do(t, err)
			if diff := cmp.Diff([]string{"memory.db"}, left); diff != "" || n < 6 {
				t.Errorf("only %d calls can fail, or other files are left (-want +got):\n%s", n-1, diff)
			}
			return
		}
		must.Kind(t, fmt.Sprint(e.Injected()), err, amber.KindInternal)
		if slices.Contains(left, "memory.db") {
			t.Errorf("%v: there is a file under the name", e.Injected())
		}
	}
}

// Whenever it is cancelled, no file is left.
func TestRedactCancelled(t *testing.T) {
	t.Parallel()
	database := withSecrets(t)
	calls := int64(0)
	must.Get(attempt(t, t.Context(), fsx.OS(), database, func(int64, int64) { calls++ }))(t)
	for part := range int64(8) {
		ctx, cancel := context.WithCancel(t.Context())
		n := int64(0)
		left, err := attempt(t, ctx, fsx.OS(), database, func(int64, int64) {
			if n++; n == max(1, part*calls/8) {
				cancel()
			}
		})
		cancel()
		must.Kind(t, "cancelled", err, amber.KindUnreachable)
		must.Equal(t, "files that are left", left, nil)
	}
}

// SQLite's own table of the terms says the same.
func TestEveryTermOfAnIndexIsRead(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var memories []amber.WriteRequest
	for range 200 {
		memories = append(memories, amber.WriteRequest{Title: syllables(random, 1), Content: syllables(random, 20)})
	}
	db := must.Get(sql.Open("sqlite", "file:"+frozen(t, memories)+"?mode=ro&immutable=1"))(t)
	defer db.Close()
	db.SetMaxOpenConns(1) // which has the temporary table
	must.Get(db.Exec(`CREATE VIRTUAL TABLE temp.words USING fts5vocab (main, memory_fts, row)`))(t)
	want, got := map[string]bool{}, map[string]bool{}
	each(t, db, `SELECT CAST(term AS BLOB) FROM temp.words`, func(term []byte) { want[string(term)] = true })
	each(t, db, image.SelectLeaves, func(page []byte) {
		must.Do(t, image.EachTerm(page, func(term []byte) error {
			got[string(term)] = true
			return nil
		}))
	})
	if diff := cmp.Diff(want, got); diff != "" || len(want) < 100 {
		t.Errorf("%d terms (-want +got):\n%s", len(want), diff)
	}
}

func each(t *testing.T, db *sql.DB, query string, fn func(value []byte)) {
	t.Helper()
	rows := must.Get(db.Query(query))(t)
	defer rows.Close()
	for rows.Next() {
		var value []byte
		must.Do(t, rows.Scan(&value))
		fn(value)
	}
	must.Do(t, rows.Err())
}

// syllables returns n words, some of which come often.
func syllables(random *rand.Rand, n int) (text string) {
	const consonants, vowels = "bcdfghlmnprst", "aeiou"
	for range n {
		w := rand.New(rand.NewPCG(uint64(random.ExpFloat64()*800), 0))
		for range 2 + w.IntN(3) {
			text += string(consonants[w.IntN(len(consonants))]) + string(vowels[w.IntN(len(vowels))])
		}
		text += " "
	}
	return text
}
