package shelf_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony/shelf"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/vaultrow"
	"github.com/amber-memory/amber/internal/test/must"
)

// owner connects to a database as who may do everything.
func owner(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// inRows returns a vault in a database of its own, and the owner of that.
func inRows(t testing.TB) (tester, *pgx.Conn) {
	t.Helper()
	dsn := database(t)
	p := place{[]*postgres.Server{connect(t, dsn)}, new(atomic.Int64)}
	return p.fresh(t), owner(t, dsn)
}

// large is a content of several pieces.
func large(of string) string { return strings.Repeat(of, 5*vaultrow.PieceBytes/2/len(of)) }

// TestKilledWriter ends the connections of a writer while it replaces a file of several pieces. Afterwards the file is
// as it was or as it was to be, in agreement with the answer that the writer got.
func TestKilledWriter(t *testing.T) {
	t.Parallel()
	s, c := inRows(t)
	old := large("old ")
	s.put("a", old)
	killed := 0
	for round := 0; round < 12 || killed == 0 && round < 500; round++ { // a kill on a busy machine often comes too late
		next, done := large(fmt.Sprint("round ", round, " ")), make(chan error, 1)
		go func() { done <- must.Err(s.Put(t.Context(), "a", next)) }()
		var err error
		for over := false; !over; {
			select {
			case err = <-done:
				over = true
			default:
				must.Do(t, must.Err(c.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%vault_files%' AND random() < 0.1`)))
			}
		}
		var f string
		for try := 0; ; try++ {
			got, rerr := s.Get(t.Context(), "a")
			if rerr == nil {
				f = got.Content
				break
			}
			must.Hold(t, try < 20 && amber.KindOf(rerr) == amber.KindUnreachable, "read: %v", rerr)
		}
		switch {
		case err == nil:
			must.Hold(t, f == next, "round %d: the write was acknowledged and is not there", round)
		case amber.KindOf(err) != amber.KindUnreachable:
			t.Fatal(err)
		default:
			killed++
			must.Hold(t, f == old || f == next && strings.Contains(err.Error(), "not known"), "round %d: the write failed with %v, and what is there begins with %.20q", round, err, f)
		}
		old = f
	}
	must.Hold(t, killed > 0, "no writer was killed")
	t.Logf("%d writers were killed", killed)
}

// TestGivenUp ends the context of a writer on the way: nothing of it is there.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	server := connect(t, dsn)
	p := place{[]*postgres.Server{server}, new(atomic.Int64)}
	s := p.fresh(t)
	s.put("a", "old")
	stop := errors.New("stop")
	err := server.Vault(amber.DefaultTenant, amber.AgentID(strings.TrimPrefix(s.dir, rowsPrefix))).Update(t.Context(), "test", func(tx vaultrow.Tx) error {
		must.Do(t, tx.Put(sha("a"), []byte(large("new "))))
		must.Do(t, must.Err(tx.Remove(sha("b"))))
		return stop
	})
	must.Is(t, "update", err, stop)
	s.holds("a", "old")
}

// TestDamagedRows finds rows that are not what was written, puts them right with the next write and lets no more into memory
// than a file may have.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	s, c := inRows(t)
	for what, sql := range map[string]string{
		"a piece is missing":       `DELETE FROM amber.vault_files WHERE place = $1 AND number = 1`,
		"the end is missing":       `DELETE FROM amber.vault_files WHERE place = $1 AND number = 2`,
		"the beginning":            `DELETE FROM amber.vault_files WHERE place = $1 AND number = 0`,
		"a byte of the content":    `UPDATE amber.vault_files SET piece = set_byte(piece, 100000, 0) WHERE place = $1 AND number = 1`,
		"a byte of the first line": `UPDATE amber.vault_files SET piece = set_byte(piece, 30, 0) WHERE place = $1 AND number = 0`,
		"more than a file may have": `INSERT INTO amber.vault_files (gen, place, number, piece)
SELECT gen, place, n, convert_to(repeat('x', 262144), 'UTF8') FROM amber.vault_files, generate_series(3, 256) n WHERE place = $1 AND number = 0`,
	} {
		s.put("other", "whole")
		s.put("a", large("content "))
		s.holds("a", large("content "))
		must.Hold(t, must.Get(c.Exec(t.Context(), sql, sha("a")))(t).RowsAffected() > 0, "%s: no row was changed", what)
		must.Fail(s.Get(t.Context(), "a"))(t, what, amber.KindDamaged)
		s.holds("other", "whole")
		files, found, err := s.Check(t.Context())
		must.NoError(t, err)
		must.Equal(t, what+": files", files, 2)
		must.Equal(t, what+": damaged", len(found), 1)
		must.Hold(t, strings.Contains(found[0].Path, sha("a")), "%s: the place is %s", what, found[0].Path)
		s.put("a", "again")
		s.holds("a", "again")
		must.Equal(t, what+": names", s.names(), []string{"a", "other"})
	}
	for what, sql := range map[string]string{
		"a piece that is too long": `INSERT INTO amber.vault_files (gen, place, number, piece) VALUES (1, repeat('a', 64), 0, convert_to(repeat('x', 262145), 'UTF8'))`,
		"too many pieces":          `INSERT INTO amber.vault_files (gen, place, number, piece) VALUES (1, repeat('a', 64), 257, '')`,
		"a place that is none":     `INSERT INTO amber.vault_files (gen, place, number, piece) VALUES (1, '../x', 0, '')`,
	} {
		must.Hold(t, must.Err(c.Exec(t.Context(), sql)) != nil, "the database takes %s", what)
	}
}

// TestLargestFile takes a file to the byte that any vault may be allowed to hold.
func TestLargestFile(t *testing.T) {
	t.Parallel()
	dsn := database(t)
	p := place{[]*postgres.Server{connect(t, dsn)}, new(atomic.Int64)}
	s := p.fresh(t, func(o *shelf.Options) {
		o.Limits = shelf.Limits{MaxFile: shelf.MaxFileLimit, Quota: 2 * shelf.MaxFileLimit}
	})
	content := strings.Repeat("0123456789abcdef", shelf.MaxFileLimit/16)
	s.put("largest", content)
	s.holds("largest", content)
	must.Fail(s.Append(t.Context(), "largest", "x"))(t, "one byte more", amber.KindQuota)
}
