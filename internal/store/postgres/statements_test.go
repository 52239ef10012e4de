package postgres_test

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/internal/test/sqltext"
)

// call is a statement as a program sent it, with its arguments.
type call struct {
	schema, query string
	formats       []int16
	args          [][]byte
}

func (c call) String() string { return fmt.Sprintf("%s: %.300s", c.schema, c.query) }

// on runs the call with something before it, as EXPLAIN.
func (c call) on(ctx context.Context, pg *pgconn.PgConn, before string) *pgconn.Result {
	return pg.ExecParams(ctx, before+c.query, c.args, nil, c.formats, nil).Read()
}

// recorder takes down what goes through a proxy: each statement with the arguments it had first, and
// with others it had later.
type recorder struct {
	mu    sync.Mutex
	conns map[int]*session
	calls map[string][]call // by schema and statement
}

// session is what a connection said last.
type session struct{ schema, query string }

var searched = regexp.MustCompile(`SET LOCAL search_path = (\w+)`)

// examples is how many calls of one statement are kept.
const examples = 2

// record listens to a proxy. A statement that goes through the proxy must not be prepared on the server under a name.
func record(p *pgtest.Proxy) *recorder {
	r := &recorder{conns: map[int]*session{}, calls: map[string][]call{}}
	p.OnFrontend(func(m pgtest.Message) pgtest.Action {
		r.mu.Lock()
		defer r.mu.Unlock()
		s := r.conns[m.Conn]
		if s == nil {
			s = &session{}
			r.conns[m.Conn] = s
		}
		switch m.Type {
		case 'Q':
			s.schema = ""
			if found := searched.FindStringSubmatch(m.Query()); found != nil {
				s.schema = found[1]
			}
			if strings.HasPrefix(m.Query(), "SAVEPOINT") || strings.HasPrefix(m.Query(), "R") { // the transaction goes on
				s.schema = cmp.Or(s.schema, r.last(m.Conn))
			}
		case 'P':
			s.query = m.Query()
		case 'B':
			r.add(s, m.Body)
		}
		if m.Type == 'Q' && s.schema != "" {
			r.conns[-m.Conn] = &session{schema: s.schema}
		}
		return pgtest.Forward
	})
	return r
}

// last is the schema that a connection named last.
func (r *recorder) last(conn int) string {
	if s := r.conns[-conn]; s != nil {
		return s.schema
	}
	return ""
}

// add takes down a call from the body of a Bind message.
func (r *recorder) add(s *session, body []byte) {
	if s.schema == "" || strings.Contains(s.query, "amber_meta.") { // what belongs to no agent
		return
	}
	key := s.schema + "\n" + s.query
	if len(r.calls[key]) == examples {
		return
	}
	for range 2 { // the names of the portal and the statement
		body = body[strings.IndexByte(string(body), 0)+1:]
	}
	number := func() int {
		n := binary.BigEndian.Uint16(body)
		body = body[2:]
		return int(n)
	}
	c := call{schema: s.schema, query: s.query}
	for range number() {
		c.formats = append(c.formats, int16(number()))
	}
	for range number() {
		n := int32(binary.BigEndian.Uint32(body))
		body = body[4:]
		if n < 0 {
			c.args = append(c.args, nil)
			continue
		}
		c.args = append(c.args, append([]byte{}, body[:n]...))
		body = body[n:]
	}
	r.calls[key] = append(r.calls[key], c)
}

// all returns every call.
func (r *recorder) all() (all []call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(r.calls)) {
		all = append(all, r.calls[key]...)
	}
	return all
}

// once returns one call of every statement.
func (r *recorder) once() (all []call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(r.calls)) {
		all = append(all, r.calls[key][0])
	}
	return all
}

// dial connects to a database for one test.
func dial(t testing.TB, dsn string) *pgx.Conn {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// as begins a transaction as programs do, with a generation.
func as(t testing.TB, c *pgx.Conn, schema string, gen int64) {
	t.Helper()
	do(t, c, fmt.Sprintf("BEGIN; SET LOCAL ROLE amber_app; SET LOCAL search_path = %s; SET LOCAL amber.gen = '%d'", schema, gen))
}

// do runs statements without arguments.
func do(t testing.TB, c *pgx.Conn, script string) {
	t.Helper()
	must.Do(t, c.PgConn().Exec(t.Context(), script).Close())
}

// try runs fn, and undoes what it did to the transaction where it fails.
func try(t testing.TB, c *pgx.Conn, fn func() error) error {
	t.Helper()
	do(t, c, "SAVEPOINT s")
	err := fn()
	if err != nil {
		do(t, c, "ROLLBACK TO s")
	}
	do(t, c, "RELEASE s")
	return err
}

var schemas = []string{"amber", "amber_control"}

// continued are statements that code continues, with something it may continue them with.
var continued = map[string]string{"sqlcore selectNewest": "true"}

// TestEveryStatementIsPrepared prepares the statements of the contracts on a server, as the role that programs take. Those
// that are put together when they are needed are in the test of the pooler.
func TestEveryStatementIsPrepared(t *testing.T) {
	t.Parallel()
	dsn := fresh(t)
	must.Do(t, must.Err(connect(t, dsn).Open(t.Context(), amber.DefaultTenant, "prepared", postgres.Options{})))
	c := dial(t, dsn)
	all := must.Get(sqltext.Constants("../sqlrows", "../../recall/search", "../sqlcore", "."))(t) // the first ones are imported by the last
	must.Hold(t, len(all) > 250, "only %d statements were found", len(all))
	fails := map[string]string{}
	prepared := 0
	for _, schema := range schemas {
		as(t, c, schema, 1)
		for name, query := range all {
			query, err := postgres.Translate(query + continued[name])
			must.Do(t, err)
			err = try(t, c, func() error {
				return must.Err(c.PgConn().Prepare(t.Context(), schema+name, query, nil))
			})
			if err == nil {
				fails[name] = "ok"
				prepared++
			} else if fails[name] != "ok" {
				fails[name] += err.Error() + "; "
			}
		}
		do(t, c, "ROLLBACK")
	}
	for name, why := range fails {
		must.Hold(t, why == "ok", "%s: %s", name, why)
	}
	t.Logf("%d statements were prepared %d times", len(fails), prepared)
}

// prepareAll prepares what was recorded.
func prepareAll(t *testing.T, dsn string, r *recorder) {
	c := dial(t, dsn)
	all := r.once()
	for i, s := range all {
		as(t, c, s.schema, 1)
		if _, err := c.PgConn().Prepare(t.Context(), fmt.Sprint("p", i), s.query, nil); err != nil {
			t.Errorf("%s: %v", s, err)
		}
		do(t, c, "ROLLBACK")
	}
	must.Hold(t, len(all) > 100, "only %d statements were recorded", len(all))
	t.Logf("%d statements ran and were prepared", len(all))
}
