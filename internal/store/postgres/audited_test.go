package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/op"
	api "github.com/amber-memory/amber/wire"
)

// offices are the agents that a desk serves, out of databases that may be reached in different ways.
type offices struct {
	t      testing.TB
	server *postgres.Server

	mu     sync.Mutex
	stores map[server.AgentName]*postgres.Store
}

// Agent implements [server.Agents].
func (o *offices) Agent(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, create bool) (*op.Agent, func(), error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := server.AgentName{Tenant: tenant, Agent: agent}
	s := o.stores[n]
	if s == nil {
		if there, err := o.server.Has(ctx, tenant, agent); err != nil || !there && !create {
			return nil, nil, errors.Join(err, amber.Errorf(amber.KindNotFound, "open agent", string(agent), "the agent does not exist"))
		}
		var err error
		if s, err = o.server.Open(ctx, tenant, agent, postgres.Options{}); err != nil {
			return nil, nil, err
		}
		o.t.Cleanup(func() { must.NoError(o.t, s.Close()) })
		o.stores[n] = s
	}
	return &op.Agent{Tenant: tenant, ID: agent, Store: s.Store()}, func() {}, nil
}

// audit is a desk whose agents are in the database of its audit log. Through is the way that agents take to the database, the log
// takes a way of its own.
type audit struct {
	t      *testing.T
	log    *ledger.DB
	desk   *server.Desk
	direct *postgres.Server

	mu      sync.Mutex
	entered []api.AuditEntry // that the desk passed to Entered
}

func newAudit(t *testing.T, direct, through *postgres.Server) *audit {
	t.Helper()
	l := must.Get(ledger.OpenPostgres(t.Context(), direct.DB(), ledger.PostgresOptions{Clock: direct.Now, Random: rand.Reader, Server: "test"}))(t)
	t.Cleanup(func() { must.NoError(t, l.Close()) })
	a := &audit{t: t, log: l, direct: direct}
	a.desk = &server.Desk{
		Agents: &offices{t: t, server: through, stores: map[server.AgentName]*postgres.Store{}}, Audit: l, Enter: ledger.Enter,
		Entered: func(e api.AuditEntry) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.entered = append(a.entered, e)
		},
	}
	return a
}

// asked returns the caller of a request.
func asked(token, request string) op.Caller {
	return op.Caller{Grant: api.Grant{Token: api.TokenID(token), Scopes: []api.TokenScope{api.TokenRead, api.TokenWrite}}, RequestID: request}
}

func write(tenant amber.TenantID, agent amber.AgentID) server.Job {
	return server.Job{Tenant: tenant, Agent: agent, Scope: api.TokenWrite, Action: "memory.write", Mutates: true}
}

// memory writes a memory as a door does.
func (a *audit) memory(who op.Caller, tenant amber.TenantID, agent amber.AgentID, r amber.WriteRequest) (ack amber.WriteAck, err error) {
	err = a.desk.Do(a.t.Context(), who, write(tenant, agent), func(ctx context.Context, c *op.Call) error {
		ack, err = c.Store.LongTerm.Write(ctx, r)
		c.Subject = string(ack.ID)
		return err
	})
	return ack, err
}

// entries returns those of a request, oldest first: "actor tenant action subject outcome".
func (a *audit) entries(request string) []string {
	a.t.Helper()
	return a.all()[request]
}

// all returns the entries of every request.
func (a *audit) all() map[string][]string {
	a.t.Helper()
	var list []api.AuditEntry
	for q := (api.AuditQuery{Limit: amber.MaxPageSize}); ; {
		page := must.Get(a.log.ListAudit(a.t.Context(), q))(a.t)
		list = append(list, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	all := map[string][]string{}
	for _, e := range slices.Backward(list) {
		all[e.RequestID] = append(all[e.RequestID], fmt.Sprintf("%s %s %s %s %s", e.Actor, e.Tenant, e.Action, e.Subject, e.Outcome))
	}
	return all
}

// unchained is how many entries wait for the sealer.
func (a *audit) unchained() (n int) {
	a.t.Helper()
	must.Do(a.t, a.direct.DB().Conn(a.t.Context(), func(c *pgx.Conn) error {
		return c.QueryRow(a.t.Context(), `SELECT count(*) FROM amber_home.audit_unchained`).Scan(&n)
	}))
	return n
}

// Entries are those that a desk without such a store would write, and what is written with a change is written once.
func TestEntriesOfJobs(t *testing.T) {
	t.Parallel()
	s := connect(t, fresh(t))
	a := newAudit(t, s, s)
	const tenant, agent = amber.DefaultTenant, amber.AgentID("ada")
	first := must.Get(a.memory(asked("tok", "first"), tenant, agent, amber.WriteRequest{Content: "one", IdempotencyKey: "k"}))(t)
	must.Equal(t, "entries that are not chained", a.unchained(), 2)
	must.Equal(t, "the first change", a.entries("first"), []string{"tok default agent.create  ok", "tok default memory.write " + string(first.ID) + " ok"})
	must.Equal(t, "entries the desk was told of", len(a.entered), 2)

	do := func(request string, j server.Job, fn func(ctx context.Context, s amber.Store) (done []string, subject string, err error)) ([]string, error) {
		err := a.desk.Do(t.Context(), asked("tok", request), j, func(ctx context.Context, c *op.Call) (err error) {
			c.Did, c.Subject, err = fn(ctx, c.Store)
			return err
		})
		return a.entries(request), err
	}
	entry := func(subject, outcome string) string { return "tok default memory.write " + subject + " " + outcome }
	one := string(first.ID)

	// The store's own answer to a repeated key changes nothing: the entry is written afterwards, as ever.
	list, err := do("again", write(tenant, agent), func(ctx context.Context, s amber.Store) ([]string, string, error) {
		ack, err := s.LongTerm.Write(ctx, amber.WriteRequest{Content: "one", IdempotencyKey: "k"})
		return nil, string(ack.ID), err
	})
	must.NoError(t, err)
	must.Equal(t, "a repeated key", list, []string{entry(one, "ok")})
	must.Equal(t, "entries the desk was told of", len(a.entered), 2)

	list, err = do("read", server.Job{Tenant: tenant, Agent: agent, Scope: api.TokenRead, Action: "memory.get"}, func(ctx context.Context, s amber.Store) ([]string, string, error) {
		_, err := s.Memories.Get(ctx, first.ID)
		return nil, "", err
	})
	must.NoError(t, err)
	must.Equal(t, "a read", list, []string(nil))

	// A batch is an entry for each memory.
	var ids []string
	list, err = do("batch", write(tenant, agent), func(ctx context.Context, s amber.Store) ([]string, string, error) {
		acks, err := s.Batch.WriteBatch(ctx, []amber.WriteRequest{{Content: "b1"}, {Content: "b2"}, {Content: "b3"}})
		for _, ack := range acks {
			ids = append(ids, string(ack.ID))
		}
		return ids, "", err
	})
	must.NoError(t, err)
	must.Equal(t, "a batch", list, []string{entry(ids[0], "ok"), entry(ids[1], "ok"), entry(ids[2], "ok")})

	// Several changes that each name what they are about, and a failure behind them.
	list, err = do("several", write(tenant, agent), func(ctx context.Context, s amber.Store) (done []string, subject string, err error) {
		for _, id := range ids[:2] {
			if err := s.LongTerm.Delete(audited.About(ctx, id), amber.MemoryID(id)); err != nil {
				return done, id, err
			}
			done = append(done, id)
		}
		return done, "gone", s.LongTerm.Delete(audited.About(ctx, "gone"), "gone")
	})
	must.Kind(t, "a failure", err, amber.KindNotFound)
	must.Equal(t, "several changes", list, []string{entry(ids[0], "ok"), entry(ids[1], "ok"), entry("gone", "not_found")})

	// Several changes of one job have the entry of the first.
	j := write(tenant, agent)
	j.Subject = "import"
	list, err = do("one", j, func(ctx context.Context, s amber.Store) ([]string, string, error) {
		content, title := "changed", "changed"
		_, err := s.Editor.Edit(ctx, amber.EditRequest{ID: first.ID, Content: &content})
		if err == nil {
			_, err = s.Editor.Edit(ctx, amber.EditRequest{ID: first.ID, Title: &title})
		}
		return nil, "", err
	})
	must.NoError(t, err)
	must.Equal(t, "two changes of one job", list, []string{entry(one, "ok")})

	// A job that fails after a change has both entries.
	list, err = do("half", j, func(ctx context.Context, s amber.Store) ([]string, string, error) {
		_, err := s.LongTerm.Write(ctx, amber.WriteRequest{Content: "half"})
		return nil, "", errors.Join(err, amber.Errorf(amber.KindBusy, "test", "", "no more"))
	})
	must.Kind(t, "half a job", err, amber.KindBusy)
	must.Equal(t, "entries of half a job", len(list), 2)
	must.Equal(t, "its failure", list[1], entry("import", "busy"))

	// Rows that are not those of the change log: a note, a document, an empty queue.
	for name, change := range map[string]func(ctx context.Context, s amber.Store) error{
		"note": func(ctx context.Context, s amber.Store) error {
			return must.Err(s.Notes.WriteNote(ctx, amber.NoteWrite{Name: "n", Content: "text"}))
		},
		"document": func(ctx context.Context, s amber.Store) error {
			return must.Err(s.Documents.PutDocument(ctx, amber.DocumentWrite{Name: "n", Document: []byte(`{}`)}))
		},
	} {
		n := len(a.entered)
		list, err = do(name, write(tenant, agent), func(ctx context.Context, s amber.Store) ([]string, string, error) { return nil, "n", change(ctx, s) })
		must.NoError(t, err)
		must.Equal(t, name, list, []string{entry("n", "ok")})
		must.Equal(t, name+": written with the change", len(a.entered), n+1)
	}
	n := len(a.entered)
	list, err = do("queue", write(tenant, agent), func(ctx context.Context, s amber.Store) ([]string, string, error) {
		_, err := s.Queue.Claim(ctx, "me")
		return nil, "", err
	})
	must.Hold(t, errors.Is(err, amber.ErrQueueEmpty), "an empty queue: %v", err)
	must.Equal(t, "an empty queue", len(list), 1)
	must.Equal(t, "entries of success for it", len(a.entered), n)

	// A desk that enters nothing.
	a.desk.Enter = nil
	other := must.Get(a.memory(asked("tok", "elsewhere"), tenant, agent, amber.WriteRequest{Content: "elsewhere"}))(t)
	must.Equal(t, "entries that are not chained", a.unchained(), 0)
	must.Equal(t, "a change elsewhere", a.entries("elsewhere"), []string{entry(string(other.ID), "ok")})
	report := must.Get(a.log.VerifyAudit(t.Context()))(t)
	must.Hold(t, report.OK(), "%q", report.Damaged)
}

// Callers of two tenants who share transactions, of whom some fail, each have the entry of their own change and no other.
func TestEntriesOfCallersWhoShareATransaction(t *testing.T) {
	t.Parallel()
	s := connect(t, fresh(t))
	a := newAudit(t, s, s)
	const callers, each = 16, 6
	tenants := []amber.TenantID{"left", "right"}
	for _, tenant := range tenants {
		must.Get(a.memory(asked("maker", "make"), tenant, "ada", amber.WriteRequest{Content: "made"}))(t)
	}
	want := map[string][]string{}
	var mu sync.Mutex
	var work sync.WaitGroup
	for i := range callers {
		work.Go(func() {
			tenant, token := tenants[i%2], fmt.Sprint("tok", i)
			for k := range each {
				request := fmt.Sprintf("%d-%d", i, k)
				ack, err := amber.WriteAck{}, error(nil)
				outcome, subject := "ok", ""
				if (i+k)%4 == 0 { // it writes, and fails then
					outcome, subject = "not_found", "nothing"
					err = a.desk.Do(t.Context(), asked(token, request), write(tenant, "ada"), func(ctx context.Context, c *op.Call) error {
						c.Subject = "nothing"
						return c.Store.LongTerm.Delete(ctx, "nothing")
					})
					must.Kind(t, request, err, amber.KindNotFound)
				} else {
					ack, err = a.memory(asked(token, request), tenant, "ada", amber.WriteRequest{Content: request})
					must.NoError(t, err)
					subject = string(ack.ID)
				}
				mu.Lock()
				want[request] = []string{fmt.Sprintf("%s %s memory.write %s %s", token, tenant, subject, outcome)}
				mu.Unlock()
			}
		})
	}
	work.Wait()
	all := a.all()
	delete(all, "make")
	must.Equal(t, "entries", all, want)
	// One commit, one token: fewer of them than changes.
	var commits int
	must.Do(t, s.DB().Conn(t.Context(), func(c *pgx.Conn) error {
		return c.QueryRow(t.Context(), `SELECT count(*) FROM amber.commits`).Scan(&commits)
	}))
	t.Logf("%d changes in %d commits", callers*each, commits)
}

// An audited write is cut at every boundary of two messages: there is no change without its entry, no entry of success without its
// change, and what was answered with an error has an entry that says so.
func TestNoMessageLosesAnEntry(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	if s.Addr() == "" {
		s = pgtest.New(t, pgtest.Options{})
	}
	name := postgrestest.Database(t, s)
	proxy := pgtest.NewProxy(t, s.Addr())
	direct := connect(t, s.DSN(name))
	a := newAudit(t, direct, connect(t, proxy.DSN(name), func(o *postgres.ServerOptions) { o.Settle = time.Second / 8 }))
	const tenant, agent = amber.DefaultTenant, amber.AgentID("wired")
	must.Get(a.memory(asked("tok", "make"), tenant, agent, amber.WriteRequest{Content: "made"}))(t)
	store := must.Get(direct.Open(t.Context(), tenant, agent, postgres.Options{}))(t)
	t.Cleanup(func() { must.NoError(t, store.Close()) })

	cut := func(h how, n int) (messages int) {
		request := fmt.Sprintf("%v, message %d", h, n)
		must.Get(a.memory(asked("tok", "before"), tenant, agent, amber.WriteRequest{Content: "before " + request}))(t) // a connection is there
		var seen atomic.Int32
		rule := func(side string) pgtest.Rule {
			return func(pgtest.Message) pgtest.Action {
				if side != h.side && (!h.dead || int(seen.Load()) < n) {
					return pgtest.Forward
				}
				switch k := int(seen.Add(1)); {
				case k == n:
					return h.action
				case k > n && h.dead:
					return pgtest.Cut
				}
				return pgtest.Forward
			}
		}
		proxy.OnFrontend(rule("client"))
		proxy.OnBackend(rule("server"))
		ack, err := a.memory(asked("tok", request), tenant, agent, amber.WriteRequest{Content: request})
		messages = int(seen.Load())
		proxy.OnFrontend(nil)
		proxy.OnBackend(nil)
		if h.dead {
			proxy.Cut()
		}
		var want []string
		for _, m := range must.Get(store.List(t.Context(), amber.ListQuery{All: true, Limit: 4}))(t).Items {
			if m.Content == request {
				want = append(want, "tok default memory.write "+string(m.ID)+" ok")
			}
		}
		switch {
		case err == nil:
			must.Equal(t, request+": stored", want, []string{"tok default memory.write " + string(ack.ID) + " ok"})
		case !errors.Is(err, pgdb.ErrUnknown):
			must.Equal(t, request+": said not to be stored", want, []string(nil))
		}
		if err != nil {
			want = append(want, "tok default memory.write "+string(ack.ID)+" unreachable") // the id that it would have had
		}
		got := a.entries(request)
		slices.Sort(got)
		slices.Sort(want)
		must.Equal(t, request+": entries", got, want)
		return messages
	}
	hows := []how{
		{"client", pgtest.Swallow, true},
		{"client", pgtest.Cut, false},
		{"client", pgtest.Swallow, false},
		{"server", pgtest.Cut, true},
	}
	if *cutStride > 1 {
		hows = hows[:2]
	}
	for _, h := range hows {
		whole := cut(h, math.MaxInt32)
		must.Hold(t, whole > 20, "a write has only %d messages", whole)
		for n := 1; n <= whole+1; n++ {
			if n%*cutStride == 0 || n > whole-4 {
				cut(h, n)
			}
		}
	}
}
