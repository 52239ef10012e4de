package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// hotCalls are what agents do all day, each once.
func hotCalls(t *testing.T, s *postgres.Store, round int) {
	t.Helper()
	ctx := t.Context()
	name := func(what string) string { return fmt.Sprintf("%s %d", what, round) }
	written := must.Get(s.Write(ctx, amber.WriteRequest{Content: name("the lighthouse keeper painted the door"), Title: name("lighthouse"), Tags: []string{"sea"}, IdempotencyKey: name("key")}))(t)
	must.Do(t, must.Err(s.Write(ctx, amber.WriteRequest{Content: written.Content, Title: written.Title})))               // a duplicate
	must.Do(t, must.Err(s.Write(ctx, amber.WriteRequest{Content: name("the door is now"), Topic: "door of the light"}))) // a topic
	must.Do(t, must.Err(s.Edit(ctx, amber.EditRequest{ID: written.ID, Summary: new("a door was painted")})))
	must.Do(t, must.Err(s.AppendTurn(ctx, amber.Turn{SessionID: "talk", Role: amber.RoleUser, Content: name("who painted the door?")})))
	must.Do(t, must.Err(amber.LastTurns(ctx, s, "talk", 20)))
	for _, q := range []amber.Query{
		{Text: "who painted the door of the lighthouse?"},
		{Text: "harbo"},
		{Text: "ligthouse kepper", Filter: amber.Filter{Kinds: []amber.MemoryKind{amber.WorkspaceFact}, Tags: []string{"sea"}}},
		{Text: "灯台守は扉を塗った"},
		{Text: ""},
	} {
		must.Do(t, must.Err(s.Recall(ctx, q)))
	}
	for _, q := range []amber.ListQuery{{All: true}, {Filter: amber.Filter{Kinds: []amber.MemoryKind{amber.WorkspaceFact}}}} {
		q.Limit = 10
		page := must.Get(s.List(ctx, q))(t)
		q.Cursor = page.Next
		must.Do(t, must.Err(s.List(ctx, q)))
	}
	head := must.Get(s.Head(ctx))(t)
	must.Do(t, must.Err(s.Changes(ctx, head, 10)))
	must.Do(t, must.Err(s.Changes(ctx, "", 10)))
	must.Do(t, s.Publish(ctx, amber.Envelope{EntryID: name("entry"), TaskID: "task", NodeID: name("node"), Payload: "p"}))
	claim := must.Get(s.Claim(ctx, "consumer"))(t)
	must.Do(t, s.Ack(ctx, claim.Lease))
	must.Do(t, must.Err(s.Parts().ControlChanges.Changes(ctx, "", 10)))
	ingest(t, s, round, 3)
}

// ingest applies steps of a session's journal.
func ingest(t *testing.T, s *postgres.Store, round, steps int) {
	t.Helper()
	session := amber.SessionID(fmt.Sprintf("journal %d", round))
	in := amber.Ingestion{Journal: amber.ContentDigest(string(session))[:32], Host: "host", Session: session, Through: int64(steps)}
	for i := range steps {
		step := amber.IngestStep{
			Event:    amber.EventRef{ID: amber.ContentDigest(fmt.Sprint(round, " ", i))[:32], Native: true},
			Start:    amber.SessionStart{ID: session, Binding: "journal", Project: "p"},
			Activity: []amber.Activity{{SessionID: session, Kind: amber.ActivityFile, Name: fmt.Sprintf("file%d.go", i%50), Status: "modified"}},
			Turns:    []amber.Turn{{SessionID: session, Role: amber.RoleUser, Content: fmt.Sprintf("step %d of %d went well", i, round)}},
		}
		in.Steps = append(in.Steps, step)
	}
	must.Do(t, must.Err(s.Ingest(t.Context(), in)))
}

// scanned are tables that a plan reads from their beginning to their end.
var scanned = regexp.MustCompile(`Seq Scan on (\w+)`)

// TestHotStatementsUseIndexes has an agent with some thousand rows beside many others, and asks the server how it finds
// the rows of what agents do all day, with these arguments and with any.
func TestHotStatementsUseIndexes(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	name := server.Database(t)
	target := server.Addr()
	if target == "" {
		t.Skip("AMBER_TEST_POSTGRES names a server on a socket, and the test listens to what is sent through a proxy")
	}
	proxy := pgtest.NewProxy(t, target)
	s := must.Get(connect(t, proxy.DSN(name), func(o *postgres.ServerOptions) { o.Pooled = true }).Open(t.Context(), amber.DefaultTenant, "hot", postgres.Options{}))(t)
	words := strings.Fields("harbour lighthouse keeper door sea storm boat net fish tide rope anchor crew deck mast sail island rock wave wind")
	pick := rand.New(rand.NewPCG(1, 2))
	for range 4 {
		var batch []amber.WriteRequest
		for range amber.MaxBatchSize {
			r := amber.WriteRequest{Title: words[pick.IntN(len(words))]}
			for range 12 {
				r.Content += words[pick.IntN(len(words))] + fmt.Sprint(pick.IntN(50)) + " "
			}
			batch = append(batch, r)
		}
		must.Do(t, must.Err(s.WriteBatch(t.Context(), batch)))
	}
	ingest(t, s, 1000, 100)
	for i := range 60 {
		must.Do(t, s.Publish(t.Context(), amber.Envelope{EntryID: fmt.Sprint("e", i), TaskID: "t", NodeID: fmt.Sprint("n", i), Payload: "p"}))
	}
	hotCalls(t, s, 1)

	c := dial(t, server.DSN(name))
	var gen int64
	must.Do(t, c.QueryRow(t.Context(), `SELECT live_gen FROM amber_meta.agents`).Scan(&gen))
	do(t, c, "SET session_replication_role = replica")
	for _, table := range tables(t, c) {
		var rows int
		must.Do(t, c.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&rows))
		others := min(max(4_000/max(rows, 1), 4), 1000)
		do(t, c, clone(t, c, table, gen, fmt.Sprintf("SELECT generate_series(1000, %d) AS n", 999+others)))
	}
	do(t, c, "SET session_replication_role = origin; ANALYZE")

	r := record(proxy)
	hotCalls(t, s, 2)
	proxy.OnFrontend(nil)
	calls := r.all()
	must.Hold(t, len(calls) > 50, "only %d calls were recorded", len(calls))
	for _, around := range []string{ // a write
		`SELECT h.live FROM amber.heads h, amber_meta.version v WHERE h.log = 'memory' FOR UPDATE OF h`,
		`UPDATE amber.heads SET seq = 1, stamp = 1 WHERE log = 'memory'`,
		`SELECT EXISTS (SELECT 1 FROM amber.commits WHERE token = '01a1ecb1-bf06-74b4-9e8b-c3a7ac400e10')`,
		`DELETE FROM amber.commits WHERE (gen, token) IN (SELECT gen, token FROM amber.commits WHERE at < 1 ORDER BY at LIMIT 1024)`,
	} {
		calls = append(calls, call{schema: "amber", query: around})
	}
	explained := 0
	for i, s := range calls {
		if isControl(s.query) {
			continue // it has no plan
		}
		as(t, c, s.schema, gen)
		custom := s.on(t.Context(), c.PgConn(), "EXPLAIN ")
		must.Do(t, custom.Err)
		checkPlan(t, c, s, "with its arguments", custom.Rows)

		do(t, c, "SET LOCAL plan_cache_mode = force_generic_plan")
		p := fmt.Sprint("plan", i)
		must.Do(t, must.Err(c.PgConn().Prepare(t.Context(), p, s.query, nil)))
		nulls := ""
		if n := len(s.args); n > 0 {
			nulls = "(" + strings.TrimSuffix(strings.Repeat("NULL,", n), ",") + ")"
		}
		generic := c.PgConn().ExecParams(t.Context(), "EXPLAIN EXECUTE "+p+nulls, nil, nil, nil, nil).Read()
		must.Do(t, generic.Err)
		checkPlan(t, c, s, "with any arguments", generic.Rows)
		do(t, c, "ROLLBACK")
		explained++
	}
	t.Logf("%d calls of %d statements explained", explained, len(r.once()))
}

// checkPlan complains about a table that is read whole. Empty ones may be.
func checkPlan(t *testing.T, c *pgx.Conn, s call, how string, rows [][][]byte) {
	t.Helper()
	var plan []string
	for _, r := range rows {
		plan = append(plan, string(r[0]))
	}
	text := strings.Join(plan, "\n")
	for _, found := range scanned.FindAllStringSubmatch(text, -1) {
		var pages int
		err := c.QueryRow(t.Context(), `SELECT relpages FROM pg_class WHERE oid = to_regclass($1)`, s.schema+"."+found[1]).Scan(&pages)
		if err == nil && pages > 1 {
			t.Errorf("%s is read whole, %s:\n%s\n%s", found[1], how, s, text)
		}
	}
}

// isControl reports whether a statement is about the transaction.
func isControl(query string) bool {
	return strings.HasPrefix(query, "SAVEPOINT") || strings.HasPrefix(query, "RELEASE") || strings.HasPrefix(query, "ROLLBACK")
}
