package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/vaultrow"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/storetest"
)

// tables returns those that hold rows of agents.
func tables(t testing.TB, c *pgx.Conn) []string {
	t.Helper()
	rows := must.Get(c.Query(t.Context(), `SELECT table_schema || '.' || table_name FROM information_schema.columns
WHERE column_name = 'gen' AND table_schema IN ('amber', 'amber_control') ORDER BY 1`))(t)
	return must.Get(pgx.CollectRows(rows, pgx.RowTo[string]))(t)
}

// dumpOthers returns a digest of the rows of every generation but some, by table and generation.
func dumpOthers(t testing.TB, c *pgx.Conn, but ...int64) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, table := range tables(t, c) {
		rows := must.Get(c.Query(t.Context(), `SELECT gen, count(*) || ' rows ' || md5(string_agg(r::text, '' ORDER BY r::text)) FROM `+table+` r WHERE NOT gen = ANY ($1) GROUP BY gen`, but))(t)
		var gen int64
		var digest string
		must.Do(t, must.Err(pgx.ForEachRow(rows, []any{&gen, &digest}, func() error {
			out[fmt.Sprint(table, " of ", gen)] = digest
			return nil
		})))
	}
	return out
}

// stranger makes an agent of another tenant, always with the same ids, and returns its generation.
func stranger(t testing.TB, dsn string, tenant amber.TenantID) (gen int64) {
	t.Helper()
	now := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	server := connect(t, dsn, func(o *postgres.ServerOptions) {
		o.Clock, o.Random = func() time.Time { return now }, storetest.NewRandom(1)
	})
	must.Do(t, must.Err(server.Open(t.Context(), tenant, "stranger", postgres.Options{})))
	c := dial(t, dsn)
	must.Do(t, c.QueryRow(t.Context(), `SELECT live_gen FROM amber_meta.agents WHERE tenant = $1 AND agent = 'stranger'`, string(tenant)).Scan(&gen))
	for _, schema := range []string{"amber", "amber_control"} { // their ids have the time of the server
		do(t, c, fmt.Sprintf(`UPDATE %s.incarnations SET id = '01a1ee2a-0000-7000-8000-000000000001' WHERE gen = %d`, schema, gen))
	}
	return gen
}

// isolated runs everything that ran again for generations that have no part in it: an agent of another tenant, and an
// unborn generation of an agent of the same one. They find what they would find in an empty database, and
// change nothing of others.
func isolated(t *testing.T, dsn string, r *recorder) {
	ctx := t.Context()
	empty := fresh(t)
	alone, here := stranger(t, empty, "other"), stranger(t, dsn, "other")
	second := secondGeneration(t, dsn, here)
	nowhere, full := dial(t, empty), dial(t, dsn)
	before := dumpOthers(t, full, here, second)
	must.Hold(t, len(before) > 100, "only %d tables and generations have rows", len(before))

	reads, writes, failed := 0, 0, 0
	for _, s := range r.all() {
		if strings.HasPrefix(strings.TrimSpace(s.query), "INSERT") {
			continue
		}
		reads++
		want := runAs(ctx, t, nowhere, s, alone)
		must.Equal(t, s.String(), runAs(ctx, t, full, s, here), want)
		must.Equal(t, s.String()+" for a second generation", runAs(ctx, t, full, s, second), want)
	}
	// Now the strangers get rows with the ids of others.
	for _, s := range r.all() {
		for _, gen := range []int64{here, second} {
			as(t, full, s.schema, gen)
			if res := s.on(ctx, full.PgConn(), ""); res.Err != nil {
				failed++
				do(t, full, "ROLLBACK")
				continue
			}
			do(t, full, "COMMIT")
			writes++
		}
	}
	must.Equal(t, "rows of others", dumpOthers(t, full, here, second), before)
	t.Logf("%d calls asked as strangers, %d were run as strangers, %d of these refused; %d digests of others' rows unchanged", reads, writes+failed, failed, len(before))
	withoutSetting(t, dsn)
}

// secondGeneration gives the agent of a generation another one, that is being built, with the same beginning.
func secondGeneration(t testing.TB, dsn string, of int64) (gen int64) {
	t.Helper()
	c := dial(t, dsn)
	must.Do(t, c.QueryRow(t.Context(), `INSERT INTO amber_meta.generations (tenant, agent, number, incarnation, state, clock)
SELECT tenant, agent, number + 1, gen_random_uuid()::text, 'building', clock FROM amber_meta.generations WHERE gen = $1 RETURNING gen`, of).Scan(&gen))
	do(t, c, "SET session_replication_role = replica")
	for _, table := range tables(t, c) {
		do(t, c, clone(t, c, table, of, fmt.Sprintf("SELECT %d::int8 AS n", gen)))
	}
	return gen
}

// clone is a statement that copies the rows of a generation to those that a question names as n.
func clone(t testing.TB, c *pgx.Conn, table string, of int64, to string) string {
	t.Helper()
	rows := must.Get(c.Query(t.Context(), `SELECT column_name FROM information_schema.columns WHERE table_schema || '.' || table_name = $1 AND column_name <> 'gen' ORDER BY ordinal_position`, table))(t)
	columns := strings.Join(must.Get(pgx.CollectRows(rows, pgx.RowTo[string]))(t), ", ")
	return fmt.Sprintf("INSERT INTO %s (gen, %s) SELECT g.n, %s FROM %s, (%s) g WHERE gen = %d", table, columns, columns, table, to, of)
}

// runAs runs a call for a generation and undoes it. It returns what it found.
func runAs(ctx context.Context, t *testing.T, c *pgx.Conn, s call, gen int64) (found []string) {
	t.Helper()
	as(t, c, s.schema, gen)
	defer do(t, c, "ROLLBACK")
	res := s.on(ctx, c.PgConn(), "")
	if res.Err != nil {
		return []string{res.Err.Error()}
	}
	found = append(found, res.CommandTag.String())
	for _, row := range res.Rows {
		found = append(found, fmt.Sprintf("%q", row))
	}
	slices.Sort(found[1:]) // not every question has an order
	return found
}

// withoutSetting looks at every table as programs do, and forgets to say for whom: in a new session, and in one that was
// another one's before.
func withoutSetting(t *testing.T, dsn string) {
	c := dial(t, dsn)
	all := tables(t, c)
	must.Hold(t, len(all) > 30, "there are only %d tables", len(all))
	look := func(what string) {
		for _, table := range all {
			for _, query := range []string{"SELECT count(*) FROM " + table, "DELETE FROM " + table, "INSERT INTO " + table + " DEFAULT VALUES"} {
				do(t, c, "BEGIN; SET LOCAL ROLE amber_app")
				if err := c.PgConn().Exec(t.Context(), query).Close(); err == nil {
					t.Errorf("%s in %s is no error", query, what)
				}
				do(t, c, "ROLLBACK")
			}
		}
	}
	look("a new session")
	as(t, c, "amber", 1)
	do(t, c, "COMMIT")
	look("a session that was another one's")
}

// TestTenantsShareNothing has two tenants with an agent of the same name, and one asks for all that the other has by its
// ids.
func TestTenantsShareNothing(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	server := connect(t, fresh(t))
	open := func(tenant amber.TenantID) *postgres.Store {
		return must.Get(server.Open(ctx, tenant, "agent", postgres.Options{}))(t)
	}
	a, b := open("a"), open("b")
	first := must.Get(a.Write(ctx, amber.WriteRequest{Content: "the harbour opens at six", Topic: "harbour", IdempotencyKey: "k"}))(t)
	second := must.Get(a.Write(ctx, amber.WriteRequest{Content: "the harbour closes at nine"}))(t)
	must.Do(t, must.Err(a.Relate(ctx, amber.Relation{From: first.ID, To: second.ID, Type: "related", Strength: 0.5})))
	turn := must.Get(a.AppendTurn(ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "when does the harbour open?"}))(t)
	must.Do(t, must.Err(a.StartSession(ctx, amber.SessionStart{ID: "s", Name: "harbour"})))
	must.Do(t, a.Publish(ctx, amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n", Payload: "p"}))
	must.Do(t, must.Err(a.Parts().Documents.PutDocument(ctx, amber.DocumentWrite{Name: "d", Document: []byte(`{"a":1}`)})))
	name := strings.Repeat("ab", 32)
	must.Do(t, server.Vault("a", "agent").Update(ctx, "test", func(tx vaultrow.Tx) error { return tx.Put(name, []byte("for a alone")) }))
	before := everything(t, a)
	vaultOf := func(tenant amber.TenantID) (content string) {
		must.Do(t, server.Vault(tenant, "agent").View(ctx, "test", func(tx vaultrow.Tx) error {
			list, _, err := tx.List()
			b, found, rerr := tx.Read(name)
			must.Equal(t, "the list has what can be read", len(list) == 1, found)
			content = string(b)
			return errors.Join(err, rerr)
		}))
		return content
	}
	must.Equal(t, "file of another tenant's vault", vaultOf("b"), "")
	must.Do(t, server.Vault("b", "agent").Update(ctx, "test", func(tx vaultrow.Tx) error {
		there, err := tx.Remove(name)
		must.Equal(t, "removed of another tenant", there, false)
		return errors.Join(err, tx.Put(name, []byte("mine")))
	}))
	must.Equal(t, "file of the vault", vaultOf("a"), "for a alone")
	must.Equal(t, "file of the same name", vaultOf("b"), "mine")

	for what, err := range map[string]error{
		"memory":   must.Err(b.Get(ctx, first.ID)),
		"history":  must.Err(amber.All(ctx, b.History, first.ID)),
		"edit":     must.Err(b.Edit(ctx, amber.EditRequest{ID: first.ID, Content: new("mine")})),
		"delete":   b.Delete(ctx, first.ID),
		"relate":   must.Err(b.Relate(ctx, amber.Relation{From: first.ID, To: second.ID, Type: "related", Strength: 1})),
		"turn":     must.Err(b.Turn(ctx, turn.ID)),
		"session":  must.Err(b.Session(ctx, "s")),
		"document": must.Err(b.Parts().Documents.ReadDocument(ctx, "d")),
	} {
		must.Kind(t, what, err, amber.KindNotFound)
	}
	must.Equal(t, "hits", len(must.Get(b.Recall(ctx, amber.Query{Text: "when does the harbour open"}))(t).Hits), 0)
	must.Equal(t, "memories", len(everything(t, b)), 0)
	must.Equal(t, "turns", len(must.Get(amber.LastTurns(ctx, b, "s", 10))(t)), 0)
	must.Equal(t, "changes", len(must.Get(b.Changes(ctx, amber.Position(""), 10))(t)), 0)
	must.Equal(t, "sessions", len(must.Get(b.ListSessions(ctx, amber.SessionQuery{}))(t).Items), 0)

	// The same ids and keys are free for the other one.
	mine := must.Get(b.Write(ctx, amber.WriteRequest{Content: "a harbour of my own", Topic: "harbour", IdempotencyKey: "k"}))(t)
	must.Equal(t, "a memory with the topic, the key and so the id of another tenant's", mine.Content, "a harbour of my own")
	must.Equal(t, "its id", mine.ID, first.ID) // a topic makes it
	said := must.Get(b.AppendTurn(ctx, amber.Turn{ID: turn.ID, SessionID: "s", Role: amber.RoleUser, Content: "mine"}))(t)
	must.Equal(t, "turn with the id of another tenant's", said.Content, "mine")
	must.Equal(t, "what the first tenant has", everything(t, a), before)
	must.Equal(t, "its memory", must.Get(a.Get(ctx, first.ID))(t).Content, "the harbour opens at six")
	must.Equal(t, "its turn", must.Get(a.Turn(ctx, turn.ID))(t).Content, "when does the harbour open?")
}
