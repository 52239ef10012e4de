package pgtest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/amber-memory/amber/internal/test/must"
)

// behind makes a database with the table t, and a proxy before its server.
func behind(t *testing.T) (s *Server, p *Proxy, direct, through string) {
	t.Helper()
	if s = Shared(t); s.Addr() == "" {
		s = New(t, Options{})
	}
	name := s.Database(t)
	run(t, s.DSN(name), "CREATE TABLE t (v int)")
	p = NewProxy(t, s.Addr())
	return s, p, s.DSN(name), p.DSN(name)
}

// insert writes a row in a transaction.
func insert(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "INSERT INTO t VALUES ($1)", 1)
		return err
	})
}

func TestTheAnswerToCommit(t *testing.T) {
	t.Parallel()
	done := func(m Message) Action { // what the server says when it has committed
		if m.Type == 'C' && string(m.Body) == "COMMIT\x00" {
			return Cut
		}
		return Forward
	}
	lost := func(m Message) Action {
		if done(m) == Cut {
			return Swallow
		}
		return Forward
	}
	for _, c := range []struct {
		name     string
		frontend Rule
		backend  Rule
		fails    bool
		rows     int
	}{
		{"no rule", nil, nil, false, 1},
		{"swallowed", LoseCommit, nil, true, 1},
		{"cut before it is sent", PreventCommit, nil, true, 0},
		{"cut before the client gets it", nil, done, true, 1},
		{"swallowed by the server's rule", nil, lost, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, p, direct, through := behind(t)
			conn := connect(t, through)
			p.OnFrontend(c.frontend)
			p.OnBackend(c.backend)
			err := insert(t.Context(), conn)
			must.Equal(t, "failed", err != nil, c.fails)
			must.Equal(t, "the session is closed", conn.IsClosed(), c.fails)
			must.Equal(t, "rows", rows(t, direct), c.rows)
		})
	}
}

// TestAMessageIsForwardedBeforeTheCut: the server gets COMMIT and is done with it some time after
// the client has learnt that the connection is gone.
func TestAMessageIsForwardedBeforeTheCut(t *testing.T) {
	t.Parallel()
	s, p, direct, through := behind(t)
	p.OnFrontend(func(m Message) Action {
		if m.IsCommit() {
			return ForwardCut
		}
		return Forward
	})
	conn := connect(t, through)
	var pid int
	must.Do(t, conn.QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid))
	must.Error(t, "the insert", insert(t.Context(), conn))
	must.Do(t, s.await(t.Context(), "the end of the session", "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1)", pid))
	must.Equal(t, "rows", rows(t, direct), 1)
}

// TestEveryBoundaryCanBeCut cuts before each message of a write, in both directions. The row is there
// exactly when COMMIT got through.
func TestEveryBoundaryCanBeCut(t *testing.T) {
	t.Parallel()
	_, p, direct, through := behind(t)
	// write writes a row and cuts before one message of a side. It reports whether there was such a message.
	write := func(side string, cut int, commits *int) bool {
		p.OnFrontend(nil)
		p.OnBackend(nil)
		conn := connect(t, through)
		var seen, passed atomic.Int32
		rule := func(of string) Rule {
			return func(m Message) Action {
				if of == side && int(seen.Add(1)) == cut {
					return Cut
				}
				if of == "frontend" && m.IsCommit() {
					passed.Add(1)
				}
				return Forward
			}
		}
		p.OnFrontend(rule("frontend"))
		p.OnBackend(rule("backend"))
		err := insert(t.Context(), conn)
		hit := int(seen.Load()) >= cut
		// Its last message says that the server is ready: only then it is done.
		must.Equal(t, "failed", err != nil, hit)
		*commits += int(passed.Load())
		return hit
	}
	for _, side := range []string{"frontend", "backend"} {
		run(t, direct, "TRUNCATE t")
		commits, cuts := 0, 0
		for write(side, cuts+1, &commits) {
			cuts++
		}
		must.Hold(t, cuts >= 5, "a write has only %d messages on the side %s", cuts, side)
		must.Equal(t, "rows", rows(t, direct), commits)
	}
}

// TestOnlyTheAnswerIsSwallowed has two questions under way: the answer to the first one arrives.
func TestOnlyTheAnswerIsSwallowed(t *testing.T) {
	t.Parallel()
	_, p, direct, through := behind(t)
	p.OnFrontend(LoseCommit)
	conn := connect(t, through)
	must.Do(t, must.Err(conn.Exec(t.Context(), "BEGIN; INSERT INTO t VALUES (1)")))
	pipe := conn.PgConn().StartPipeline(t.Context())
	pipe.SendQueryParams("SELECT pg_sleep(0.1)", nil, nil, nil, nil)
	must.Do(t, pipe.Sync())
	pipe.SendQueryParams("COMMIT", nil, nil, nil, nil)
	must.Do(t, pipe.Sync())
	first := must.Get(pipe.GetResults())(t).(*pgconn.ResultReader).Read()
	must.NoError(t, first.Err)
	must.Equal(t, "rows of the first answer", len(first.Rows), 1)
	_, end := must.Get(pipe.GetResults())(t).(*pgconn.PipelineSync)
	must.Hold(t, end, "the first answer has no end")
	must.Error(t, "the second answer", must.Err(pipe.GetResults()))
	_ = pipe.Close() // says the same
	must.Equal(t, "rows", rows(t, direct), 1)
}

func TestAProxyIsPointedElsewhere(t *testing.T) {
	t.Parallel()
	s, p, direct, through := behind(t)
	conn := connect(t, through+" sslmode=prefer") // is told that there is no TLS
	must.Do(t, insert(t.Context(), conn))
	p.Cut()
	must.Error(t, "a session that was cut", insert(t.Context(), conn))
	p.Point("127.0.0.1:1")
	must.Error(t, "a server that is not there", must.Err(pgx.Connect(t.Context(), through)))
	p.Point(s.Addr())
	must.Do(t, insert(t.Context(), connect(t, through)))
	must.Equal(t, "rows", rows(t, direct), 2)
}

// TestAStatementIsCancelledThroughAProxy: the request to cancel is a connection of its own.
func TestAStatementIsCancelledThroughAProxy(t *testing.T) {
	t.Parallel()
	s, _, _, through := behind(t)
	conn := connect(t, through)
	got := make(chan error, 1)
	go func() { got <- must.Err(conn.Exec(t.Context(), "SELECT pg_sleep(60)")) }()
	must.Do(t, s.await(t.Context(), "the sleep", "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event = 'PgSleep')", int(conn.PgConn().PID())))
	must.Do(t, conn.PgConn().CancelRequest(t.Context()))
	must.Says(t, "the answer", (<-got).Error(), "57014")
}

func TestCommitsAreRecognised(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"commit": true, " COMMIT ": true, "INSERT INTO t VALUES (1); commit": true, "end": true,
		"SET LOCAL synchronous_commit = on": false, "SELECT * FROM commits": false, "rollback": false, "": false,
	} {
		must.Equal(t, text, Message{Type: 'Q', Body: []byte(text + "\x00")}.IsCommit(), want)
		must.Equal(t, "prepared "+text, Message{Type: 'P', Body: []byte("name\x00" + text + "\x00\x00\x00")}.IsCommit(), want)
		must.Equal(t, "another type "+text, Message{Type: 'd', Body: []byte(text + "\x00")}.IsCommit(), false)
	}
}
