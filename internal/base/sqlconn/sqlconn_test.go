package sqlconn_test

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/test/must"
)

func open(t *testing.T, n int) *sqlconn.Pool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "odd name?#%20.db")
	p := must.Get(sqlconn.Open(sqlconn.FileURI(path, url.Values{"mode": {"rwc"}, "_pragma": {"busy_timeout(0)"}}), n))(t)
	t.Cleanup(func() {
		must.NoError(t, p.Close())
	})
	must.Get(p.DB.ExecContext(t.Context(), "CREATE TABLE a (n INTEGER PRIMARY KEY)"))(t)
	return p
}

func get(t *testing.T, p *sqlconn.Pool) *sqlconn.Conn {
	t.Helper()
	c := must.Get(p.Get(t.Context()))(t)
	t.Cleanup(func() { p.Put(c) })
	return c
}

func count(t *testing.T, c *sqlconn.Conn) (n int) {
	t.Helper()
	must.Do(t, c.Row(t.Context(), "SELECT count(*) FROM a").Scan(&n))
	return n
}

// TestTransact: what fails, or whose context ends before the commit, leaves
// nothing; what succeeds is there.
func TestTransact(t *testing.T) {
	t.Parallel()
	c := get(t, open(t, 1))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	insert := func() error {
		_, err := c.Exec(t.Context(), "INSERT INTO a DEFAULT VALUES")
		return err
	}
	broken := errors.New("broken")
	must.Is(t, "transaction", c.Transact(ctx, "BEGIN IMMEDIATE", func() error { return errors.Join(insert(), broken) }), broken)
	must.NoError(t, c.Transact(ctx, "BEGIN IMMEDIATE", insert))
	err := c.Transact(ctx, "BEGIN IMMEDIATE", func() error { cancel(); return insert() })
	if !errors.Is(err, context.Canceled) || amber.KindOf(sqlconn.Wrap("op", "", err)) != amber.KindUnreachable {
		t.Errorf("got %v, want it cancelled and unreachable", err)
	}
	must.Equal(t, "rows", count(t, c), 1)
}

// However a transaction ends, the connection can be used as before.
func TestNothingIsLeftOpen(t *testing.T) {
	t.Parallel()
	c := get(t, open(t, 1))
	insert := func(ctx context.Context) func() error {
		return func() error {
			_, err := c.Exec(ctx, "INSERT INTO a DEFAULT VALUES")
			return err
		}
	}
	done := 0
	for i := range 3000 { // contexts that end at every point of it
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(time.Duration(i%60)*time.Microsecond, cancel)
		err := c.Transact(ctx, "BEGIN IMMEDIATE", insert(ctx))
		timer.Stop()
		cancel()
		switch {
		case err == nil:
			done++
		case !errors.Is(err, context.Canceled):
			t.Fatalf("after %d transactions: %v", i, err)
		}
	}
	func() {
		defer func() { _ = recover() }()
		_ = c.Transact(t.Context(), "BEGIN IMMEDIATE", func() error { panic(insert(t.Context())()) })
	}()
	must.Kind(t, "after a panic", c.Transact(t.Context(), "BEGIN IMMEDIATE", insert(t.Context())), "")
	must.Equal(t, "rows that were acknowledged", count(t, c), done+1)
}

func TestPoolIsBounded(t *testing.T) {
	t.Parallel()
	p := open(t, 1)
	c := get(t, p)
	must.Equal(t, "rows", count(t, c), 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Is(t, "while the only connection is in use", must.Err(p.Get(ctx)), context.Canceled)
}

// TestPoolUsesOpenConnectionsAgain: callers who come one after the other need one connection, and callers at one time as
// many as there are.
func TestPoolUsesOpenConnectionsAgain(t *testing.T) {
	t.Parallel()
	p := open(t, 4)
	for range 8 {
		c := must.Get(p.Get(t.Context()))(t)
		must.Equal(t, "rows", count(t, c), 0)
		p.Put(c)
	}
	must.Equal(t, "connections of callers in a row", p.DB.Stats().OpenConnections, 1)
	must.Equal(t, "prepared", p.Prepared(), []string{"SELECT count(*) FROM a"})
	for range 4 {
		get(t, p)
	}
	must.Equal(t, "connections of four callers", p.DB.Stats().OpenConnections, 4)
}

func TestErrorsHaveKinds(t *testing.T) {
	t.Parallel()
	p := open(t, 2)
	one, two := get(t, p), get(t, p)
	err := one.Transact(t.Context(), "BEGIN IMMEDIATE", func() error {
		return two.Transact(t.Context(), "BEGIN IMMEDIATE", func() error { return nil })
	})
	if got := amber.KindOf(sqlconn.Wrap("op", "", err)); got != amber.KindBusy {
		t.Errorf("got %v of %v, want busy", got, err)
	}
	kept := amber.Errorf(amber.KindQuota, "op", "", "full")
	if got := sqlconn.Wrap("other", "", kept); got != error(kept) {
		t.Errorf("got %v, want the error as it is", got)
	}
}

func TestShapesDiffer(t *testing.T) {
	t.Parallel()
	p := open(t, 1)
	was := must.Get(sqlconn.ReadShape(t.Context(), p.DB))(t)
	must.Get(p.DB.ExecContext(t.Context(), "CREATE INDEX b ON a (n)"))(t)
	is := must.Get(sqlconn.ReadShape(t.Context(), p.DB))(t)
	if was.Differs(was) != "" || was.Differs(is) == "" || is.Differs(was) == "" {
		t.Errorf("%q, %q, %q", was.Differs(was), was.Differs(is), is.Differs(was))
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	three := sqlconn.Schema{Migrations: make([]string, 3)}
	must.NoError(t, three.Judge(3, ""))
	must.Is(t, "older schema", three.Judge(2, ""), sqlconn.ErrOlder)
	must.Kind(t, "judge", three.Judge(4, ""), amber.KindTooNew)
}
