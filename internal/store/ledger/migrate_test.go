package ledger

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// madeUp is the schema with migrations that do not exist, up to a version.
func madeUp(version int) sqlconn.Schema {
	return sqlconn.Schema{ApplicationID: homeSchema.ApplicationID, Migrations: []string{
		home1,
		`CREATE TABLE steps (n INTEGER) STRICT; INSERT INTO steps VALUES (2);`,
		`ALTER TABLE tokens ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'; INSERT INTO steps VALUES (3);`,
	}[:version]}
}

func openAt(path string, s sqlconn.Schema, look bool) (*DB, error) {
	o := Options{Clock: func() time.Time { return time.UnixMilli(1) }, Random: rand.Reader, Look: look}
	return open(context.Background(), path, o, s, func() ([]sqlconn.Shape, error) { return s.Shapes(context.Background()) })
}

func TestMigrationsRunFromEveryVersionOnce(t *testing.T) {
	t.Parallel()
	for from := 1; from <= 3; from++ {
		path := filepath.Join(t.TempDir(), "home.db")
		old := must.Get(openAt(path, madeUp(from), false))(t)
		made, err := old.CreateToken(t.Context(), wire.TokenRequest{Name: "x", Scopes: wire.TokenScopes()})
		must.Do(t, err)
		if from < 3 {
			must.Fail(openAt(path, madeUp(3), true))(t, fmt.Sprintf("from %d: only looked at", from), amber.KindConflict)
		}
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				d, err := openAt(path, madeUp(3), false)
				if err != nil {
					t.Error(err)
					return
				}
				must.NoError(t, must.Err(d.Authenticate(context.Background(), made.Secret)))
				must.NoError(t, d.Close())
			})
		}
		wg.Wait()
		var steps int
		must.Do(t, old.engine.(*file).readers.DB.QueryRow(`SELECT count(*) FROM steps`).Scan(&steps))
		must.Equal(t, fmt.Sprintf("steps from %d", from), steps, 2)
		// The process that was there before stops writing what it does not
		// understand.
		err = old.Record(t.Context(), wire.AuditEntry{})
		if from < 3 && amber.KindOf(err) != amber.KindTooNew || from == 3 && err != nil {
			t.Errorf("from %d: an older process: %v", from, err)
		}
		_, err = old.HasTokens(t.Context()) // and reading
		if from < 3 && amber.KindOf(err) != amber.KindTooNew || from == 3 && err != nil {
			t.Errorf("from %d: an older process reads: %v", from, err)
		}
		must.Do(t, old.Close())
		must.Fail(openAt(path, madeUp(2), false))(t, "an older Amber", amber.KindTooNew)
	}
}

func TestAMigrationThatFailsLeavesTheVersionBefore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "home.db")
	d := must.Get(openAt(path, madeUp(1), false))(t)
	must.Do(t, d.Close())
	bad := madeUp(3)
	good := bad.Migrations[2]
	shapes, err := bad.Shapes(t.Context())
	must.Do(t, err)
	bad.Migrations[2] += ` INSERT INTO nowhere VALUES (1);`
	_, err = open(t.Context(), path, Options{Clock: time.Now, Random: rand.Reader}, bad, func() ([]sqlconn.Shape, error) { return shapes, nil })
	if err == nil {
		t.Fatal("the broken migration did not fail")
	}
	two := must.Get(openAt(path, madeUp(2), true))(t)
	must.Do(t, two.Close())
	bad.Migrations[2] = good
	d = must.Get(openAt(path, bad, false))(t)
	must.Do(t, d.Close())
}
