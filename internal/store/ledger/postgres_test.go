package ledger_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/schema"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/wire"
)

// pools opens the ledger of a place over connections of its own for each.
func (p place) pools(t testing.TB, n int) (all []*ledger.DB) {
	t.Helper()
	for range n {
		all = append(all, p.openServer(t, p.connect(t), p.options()))
	}
	return all
}

func TestOpeningADatabaseNeedsItsTables(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	db := must.Get(pgdb.Open(pgdb.Options{DSN: s.DSN(s.Database(t))}))(t)
	t.Cleanup(db.Close)
	o := ledger.PostgresOptions{Clock: time.Now, Random: rand.Reader}
	must.Fail(ledger.OpenPostgres(t.Context(), db, o))(t, "an empty database", amber.KindConflict)
	must.Fail(ledger.OpenPostgres(t.Context(), nil, o))(t, "no database", amber.KindInvalid)
	must.Fail(ledger.OpenPostgres(t.Context(), db, ledger.PostgresOptions{Clock: time.Now}))(t, "no random source", amber.KindInvalid)

	p := newServerPlace(t)
	d := must.Get(ledger.OpenPostgres(t.Context(), p.server.DB(), o))(t)
	must.Fail(d.BeginAnswer(t.Context(), keyNamed("k"), "", true))(t, "a process that is no server", amber.KindInvalid)
	must.Do(t, d.Check(t.Context()))
	// A database that needs a newer program is not written any more.
	p.query(t, `UPDATE amber_meta.version SET number = 1000, needs = 1000`)
	must.Kind(t, "a newer database", d.Record(t.Context(), entry("x")), amber.KindTooNew)
	must.Fail(d.HasTokens(t.Context()))(t, "a newer database", amber.KindTooNew)
	p.query(t, `UPDATE amber_meta.version SET number = $1, needs = 1`, schema.Newest())
	p.query(t, `UPDATE heads SET name = 'gone' WHERE name = 'audit'`)
	must.Kind(t, "a lock that is missing", d.Record(t.Context(), entry("x")), amber.KindDamaged)
	p.query(t, `UPDATE heads SET name = 'audit' WHERE name = 'gone'`)
	must.Do(t, d.Close())
}

// Entries of several pools are one chain without gaps, and each is there once.
func TestPoolsShareOneChain(t *testing.T) {
	t.Parallel()
	p := newServerPlace(t)
	const callers, each = 8, 40
	var wg sync.WaitGroup
	ledgers := p.pools(t, 3)
	for i, d := range ledgers {
		for j := range callers {
			wg.Go(func() {
				for k := range each {
					must.NoError(t, d.Record(t.Context(), entry(fmt.Sprintf("%d-%d-%d", i, j, k))))
				}
			})
		}
	}
	wg.Wait()
	n := len(ledgers) * callers * each
	for _, d := range ledgers {
		r := verified(t, d, int64(n))
		must.Hold(t, strings.Contains(strings.Join(r.NotChecked, "; "), "from outside"), "%q", r.NotChecked)
	}
	seen := map[string]bool{}
	for _, e := range all(t, ledgers[0], wire.AuditQuery{Limit: amber.MaxPageSize}) {
		must.Equal(t, "hash of "+e.Subject, e.Hash, hashOf(e))
		seen[e.Subject] = true
	}
	must.Equal(t, "entries", len(seen), n)
}

func TestTokensAcrossPools(t *testing.T) {
	t.Parallel()
	p := newServerPlace(t)
	ledgers := p.pools(t, 2)
	one, two := ledgers[0], ledgers[1]
	ours := newToken(t, one, wire.TokenRequest{Tenant: "acme", Name: "ours"})
	theirs := newToken(t, two, wire.TokenRequest{Tenant: "other", Name: "theirs"})
	for tenant, want := range map[amber.TenantID]wire.TokenID{"acme": ours.ID, "other": theirs.ID} {
		for _, d := range ledgers {
			list := must.Get(d.ListTokens(t.Context(), tenant))(t)
			must.Hold(t, len(list) == 1 && list[0].ID == want, "tenant %s has %+v", tenant, list)
		}
	}
	for range 20 {
		made := newToken(t, one, wire.TokenRequest{Tenant: "acme"})
		must.Equal(t, "tenant", must.Get(two.Authenticate(t.Context(), made.Secret))(t).Tenant, "acme")
		must.Get(one.RevokeToken(t.Context(), made.ID))(t)
		must.Fail(two.Authenticate(t.Context(), made.Secret))(t, "revoked by the other", amber.KindRefused)
	}
}

// A server that was only paused finds that another has taken over what it began.
func TestAPausedServerIsNotTheHolderAnyMore(t *testing.T) {
	t.Parallel()
	p := newServerPlace(t)
	one, two := p.open(t), p.open(t)
	k := keyNamed("k")
	must.Equal(t, "answered", must.Get(one.BeginAnswer(t.Context(), k, "digest", true))(t).Done, false)
	must.Fail(two.BeginAnswer(t.Context(), k, "digest", true))(t, "while it lives", amber.KindBusy)
	me, _ := p.joined.Load(one)
	pause := func(seconds int) {
		p.query(t, `UPDATE amber_meta.servers SET seen_at = clock_timestamp() - $2::int8 * interval '1 second' WHERE id = $1`, me.(*postgres.Presence).ID(), seconds)
	}
	pause(25)
	must.Fail(two.BeginAnswer(t.Context(), k, "digest", true))(t, "during its lease", amber.KindBusy)
	pause(31)
	must.Fail(two.BeginAnswer(t.Context(), k, "digest", false))(t, "what may not be done twice", amber.KindConflict)
	// The first ledger is the holder until another one takes over.
	other := keyNamed("other")
	must.Equal(t, "answered", must.Get(one.BeginAnswer(t.Context(), other, "digest", true))(t).Done, false)
	must.Do(t, one.FinishAnswer(t.Context(), other, 200, nil))
	must.Equal(t, "answered", must.Get(two.BeginAnswer(t.Context(), k, "digest", true))(t).Done, false)
	must.Kind(t, "the one that was paused", one.FinishAnswer(t.Context(), k, 200, []byte("late")), amber.KindNotFound)
	must.Do(t, one.AbandonAnswer(t.Context(), k))
	must.Do(t, two.FinishAnswer(t.Context(), k, 201, []byte("in time")))
	must.Equal(t, "body", string(must.Get(one.BeginAnswer(t.Context(), k, "digest", true))(t).Body), "in time")
}

// An answer that is finished while the answers of its agent are being forgotten is blank or comes
// later. The two transactions never wait for each other at the same time.
func TestForgettingBesideThoseWhoAnswer(t *testing.T) {
	t.Parallel()
	p := newServerPlace(t)
	ledgers := p.pools(t, 2)
	for i := range 60 { // to be swept
		finish(t, ledgers[0], keyNamed(fmt.Sprint("old ", i)), "old")
	}
	p.clock.Advance(8 * 24 * time.Hour)
	var wg sync.WaitGroup
	for i, d := range ledgers {
		for j := range 4 {
			wg.Go(func() {
				for n := range 10 {
					k := keyNamed(fmt.Sprintf("%d-%d-%d", i, j, n))
					_, err := d.BeginAnswer(t.Context(), k, "digest", true)
					if err == nil {
						err = d.FinishAnswer(t.Context(), k, 200, []byte("text"))
					}
					must.NoError(t, err)
				}
			})
		}
		wg.Go(func() {
			for range 10 {
				must.NoError(t, d.ForgetAnswers(t.Context(), "acme", "bob"))
			}
		})
	}
	wg.Wait()
	must.Do(t, ledgers[0].ForgetAnswers(t.Context(), "acme", "bob"))
	must.Hides(t, "the database", string(p.bytes(t)), "text")
}

// Every entry that the server acknowledged is there after the server was killed, and the log is one
// chain.
func TestKillingTheDatabaseLosesNoEntry(t *testing.T) {
	t.Parallel()
	s := pgtest.New(t, pgtest.Options{Durable: true})
	p := placeAt(t, s.DSN(s.Database(t)))
	ledgers := p.pools(t, 2)
	var mu sync.Mutex
	acked := map[string]bool{}
	for round := range 2 {
		var wg sync.WaitGroup
		var n atomic.Int64
		enough, stop := make(chan struct{}), make(chan struct{})
		for i, d := range ledgers {
			for j := range 4 {
				wg.Go(func() {
					for k := 0; ; k++ {
						select {
						case <-stop:
							return
						default:
						}
						subject := fmt.Sprintf("%d-%d-%d-%d", round, i, j, k)
						err := d.Record(t.Context(), entry(subject))
						if err != nil {
							if kind := amber.KindOf(err); kind != amber.KindUnreachable {
								t.Errorf("kind %s: %v", kind, err)
							}
							continue
						}
						mu.Lock()
						acked[subject] = true
						mu.Unlock()
						if n.Add(1) == 100 {
							close(enough)
						}
					}
				})
			}
		}
		<-enough
		must.Do(t, s.Kill())
		must.Do(t, s.Restart(t.Context()))
		close(stop)
		wg.Wait()
	}
	d := p.open(t)
	entries := all(t, d, wire.AuditQuery{Limit: amber.MaxPageSize})
	verified(t, d, int64(len(entries)))
	seen := map[string]bool{}
	for _, e := range entries {
		must.Hold(t, !seen[e.Subject], "%s is there twice", e.Subject)
		seen[e.Subject] = true
		delete(acked, e.Subject)
	}
	must.Hold(t, len(acked) == 0, "lost: %v", acked)
}

// The hashes, and the end that the database keeps, reveal a person who changes the tables. A person
// who changes that end as well stays undetected, and the verification does not claim to have
// checked it.
func TestTamperedRowsAreFound(t *testing.T) {
	t.Parallel()
	p := newServerPlace(t)
	d := p.open(t)
	change := func(statements string) {
		t.Helper()
		must.Do(t, p.server.DB().Conn(t.Context(), func(c *pgx.Conn) error {
			return c.PgConn().Exec(t.Context(), `BEGIN; SET LOCAL search_path = amber_home; ALTER TABLE audit DISABLE TRIGGER USER; `+statements+`; ALTER TABLE audit ENABLE TRIGGER USER; COMMIT`).Close()
		}))
	}
	for name, c := range map[string]struct {
		change string
		found  string
	}{
		"a field":         {`UPDATE audit SET actor = 'x' WHERE seq = 2`, "entry 2: hash does not match"},
		"a hash":          {`UPDATE audit SET hash = decode(repeat('ab', 32), 'hex') WHERE seq = 2`, "entry 2: hash does not match"},
		"a short hash":    {`UPDATE audit SET hash = '' WHERE seq = 2`, "entry 2: the row is not a record"},
		"a long field":    {`UPDATE audit SET subject = repeat('x', 100000) WHERE seq = 2`, "entry 2: the row is not a record"},
		"a number":        {`UPDATE audit SET seq = 9 WHERE seq = 3`, "entries 3 to 8 are missing"},
		"one removed":     {`DELETE FROM audit WHERE seq = 2`, "entry 2 is missing"},
		"the end removed": {`DELETE FROM audit WHERE seq = 3`, "the log ends at entry 2; the database says that it ends at entry 3"},
		"all removed":     {`DELETE FROM audit`, "the log ends at entry 0"},
		"the end changed": {`UPDATE heads SET hash = '' WHERE name = 'audit'`, "entry 3: hash differs"},
		"both":            {`DELETE FROM audit WHERE seq = 3; UPDATE heads h SET seq = 2, hash = a.hash FROM audit a WHERE a.seq = 2 AND h.name = 'audit'`, ""},
	} {
		change(`DELETE FROM audit; UPDATE heads SET seq = 0, hash = decode(repeat('00', 32), 'hex') WHERE name = 'audit'`) // a new log
		record(t, d, "one", "two", "three")
		verified(t, d, 3)
		change(c.change)
		r := must.Get(d.VerifyAudit(t.Context()))(t)
		must.Hold(t, strings.Contains(strings.Join(r.Damaged, "\n"), c.found) && r.OK() == (c.found == ""), "%s: %q", name, r.Damaged)
		must.Hold(t, strings.Contains(strings.Join(r.NotChecked, "\n"), "the end of the log from outside"), "%s: %q", name, r.NotChecked)
		// Writing on does not cover it up.
		record(t, d, "more", "and more")
		must.Equal(t, name+" passes after more was written", must.Get(d.VerifyAudit(t.Context()))(t).OK(), c.found == "")
	}
}

// enter writes an entry in the transaction of a change, as the store of an agent does.
func (p place) enter(t testing.TB, subject string, change func(*pgdb.Conn) error) error {
	t.Helper()
	return p.enterBy(t, ledger.Enter, subject, change)
}

func (p place) enterBy(t testing.TB, enter func(context.Context, audited.Conn, amber.Time, wire.AuditEntry) error, subject string, change func(*pgdb.Conn) error) error {
	t.Helper()
	return p.server.DB().Update(t.Context(), pgdb.Work{
		Setup: `SET LOCAL ROLE amber_app; SET LOCAL search_path = amber`,
		Do: func(c *pgdb.Conn, _ []string) error {
			if err := enter(t.Context(), c, amber.At(p.clock.Now()), entry(subject)); err != nil {
				return err
			}
			return change(c)
		},
		Committed: func(context.Context, *pgdb.Conn) (bool, error) { return false, errors.New("not looked for") },
	})
}

func TestSealingChainsWhatWasEntered(t *testing.T) {
	t.Parallel()
	p := newServerPlace(t)
	d := p.open(t)
	server := func(id string) func(*pgdb.Conn) error {
		return func(c *pgdb.Conn) error {
			return must.Err(c.Exec(t.Context(), `INSERT INTO amber_meta.servers (id, schema_known) VALUES (?, 1)`, id))
		}
	}
	record(t, d, "before")
	must.Do(t, p.enter(t, "one", server("one")))
	must.Error(t, "the same change", p.enter(t, "undone", server("one")))
	must.Do(t, p.enter(t, "two", server("two")))
	r := verified(t, d, 1)
	must.Hold(t, strings.Contains(strings.Join(r.NotChecked, "\n"), "2 entries that are not chained yet"), "%q", r.NotChecked)

	// A server that has lost the lease on the work seals nothing.
	leases := p.server.Leases("a", 0)
	lease := must.Get(leases.Claim(t.Context(), postgres.Work{Kind: ledger.WorkSeal}))(t)
	must.Do(t, lease.Release(t.Context()))
	must.Is(t, "a lost lease", must.Err(d.Seal(t.Context(), lease.Check)), postgres.ErrLost)
	lease = must.Get(leases.Claim(t.Context(), postgres.Work{Kind: ledger.WorkSeal}))(t)
	must.Equal(t, "sealed", must.Get(d.Seal(t.Context(), lease.Check))(t), 2)
	must.Equal(t, "sealed again", must.Get(d.Seal(t.Context(), nil))(t), 0)
	record(t, d, "after")
	r = verified(t, d, 4)
	must.Hides(t, "what was not checked", strings.Join(r.NotChecked, "\n"), "chained")
	var subjects []string
	for _, e := range all(t, d, wire.AuditQuery{}) {
		subjects = append(subjects, e.Subject)
	}
	must.Equal(t, "entries", subjects, []string{"after", "two", "one", "before"})

	file := newPlace(t).open(t)
	must.Equal(t, "sealed in a file", must.Get(file.Seal(t.Context(), nil))(t), 0)
}

// Recorders, transactions with entries and several sealers at once make one chain, in which each entry is once.
func TestSealingBesideRecorders(t *testing.T) {
	t.Parallel()
	p := newServerPlace(t)
	ledgers := p.pools(t, 2)
	const callers, each = 4, 80 // more than a batch together
	nothing := func(*pgdb.Conn) error { return nil }
	ctx, cancel := context.WithCancel(t.Context())
	var writers, sealers sync.WaitGroup
	for i, d := range ledgers {
		sealers.Go(func() {
			for ctx.Err() == nil {
				_, err := d.Seal(t.Context(), nil)
				must.NoError(t, err)
			}
		})
		for j := range callers {
			writers.Go(func() {
				for k := range each {
					must.NoError(t, p.enter(t, fmt.Sprintf("entered %d-%d-%d", i, j, k), nothing))
					if k%4 == 0 {
						must.NoError(t, d.Record(t.Context(), entry(fmt.Sprintf("recorded %d-%d-%d", i, j, k))))
					}
				}
			})
		}
	}
	writers.Wait()
	cancel()
	sealers.Wait()
	must.Get(ledgers[0].Seal(t.Context(), nil))(t)
	const n = 2 * callers * (each + each/4)
	verified(t, ledgers[1], n)
	seen := map[string]bool{}
	for _, e := range all(t, ledgers[0], wire.AuditQuery{Limit: amber.MaxPageSize}) {
		seen[e.Subject] = true
	}
	must.Equal(t, "entries", len(seen), n)
}

// A sealer that has the work seals again and again, until it ends.
func TestASealerUnderALease(t *testing.T) {
	t.Parallel()
	p := newServerPlace(t)
	d := p.open(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.server.Leases("a", 0).Hold(ctx, postgres.Work{Kind: ledger.WorkSeal}, time.Millisecond, func(ctx context.Context, l *postgres.Lease) error {
			return must.Err(d.Seal(ctx, l.Check))
		}, func(err error) { t.Error(err) })
	}()
	for i := range 3 {
		must.Do(t, p.enter(t, fmt.Sprint(i), func(*pgdb.Conn) error { return nil }))
		for p.count(t, "audit_unchained") > 0 {
			time.Sleep(time.Millisecond)
		}
		verified(t, d, int64(i+1))
	}
	cancel()
	<-done
}

// A relay that has lost its lease removes nothing.
func TestARelayUnderALease(t *testing.T) {
	t.Parallel()
	p := newServerPlace(t)
	d := p.open(t)
	for _, id := range []string{"1", "2", "3"} {
		must.Do(t, d.Publish(t.Context(), event(id, nil)))
	}
	relay := postgres.Work{Kind: ledger.WorkRelay}
	first := must.Get(p.server.Leases("a", 0).Claim(t.Context(), relay))(t)
	old := d.Fenced(first.Check)
	pendingEvents := must.Get(old.PendingEvents(t.Context(), 10))(t)
	must.Equal(t, "events", len(pendingEvents), 3)
	must.Do(t, old.EventsPublished(t.Context(), pendingEvents[0].Seq))
	p.query(t, `UPDATE amber_meta.work SET until = now() - interval '1 second'`)
	second := must.Get(p.server.Leases("b", 0).Claim(t.Context(), relay))(t)
	must.Is(t, "the one before", old.EventsPublished(t.Context(), pendingEvents[2].Seq), postgres.ErrLost)
	must.Equal(t, "waiting", must.Get(d.WaitingEvents(t.Context()))(t), 2)
	must.Do(t, d.Fenced(second.Check).EventsPublished(t.Context(), pendingEvents[2].Seq))
	must.Equal(t, "waiting", must.Get(d.WaitingEvents(t.Context()))(t), 0)
}

// A write whose answer was lost is told as what became of it: done once, or not at all.
func TestALostAnswerToCommitIsSettled(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	if s.Addr() == "" {
		s = pgtest.New(t, pgtest.Options{})
	}
	name := s.Database(t)
	p := placeAt(t, s.DSN(name))
	proxy := pgtest.NewProxy(t, s.Addr())
	behind := p
	behind.dsn = proxy.DSN(name)
	d := behind.pools(t, 1)[0]
	once := func(rule pgtest.Rule) {
		var used atomic.Bool
		proxy.OnFrontend(func(m pgtest.Message) pgtest.Action {
			if m.IsCommit() && used.CompareAndSwap(false, true) {
				return rule(m)
			}
			return pgtest.Forward
		})
	}
	ctx, k := t.Context(), keyNamed("k")
	for _, c := range []struct {
		name, table, where string
		write              func() error
	}{
		{"record", "audit", "true", func() error { return d.Record(ctx, entry("x")) }},
		{"create token", "tokens", "true", func() error {
			return must.Err(d.CreateToken(ctx, wire.TokenRequest{Name: "x", Scopes: wire.TokenScopes()}))
		}},
		{"publish", "outbox", "true", func() error { return d.Publish(ctx, event("x", nil)) }},
		{"begin answer", "answers", "true", func() error { return must.Err(d.BeginAnswer(ctx, k, "digest", false)) }},
		{"finish answer", "answers", "done = 1", func() error { return d.FinishAnswer(ctx, k, 200, nil) }},
	} {
		once(pgtest.PreventCommit)
		must.Kind(t, c.name+", not committed", c.write(), amber.KindUnreachable)
		rows := c.table + " WHERE " + c.where
		must.Equal(t, c.name+": rows that were not committed", p.count(t, rows), 0)
		once(pgtest.LoseCommit)
		must.NoError(t, c.write())
		must.Equal(t, c.name+": rows", p.count(t, rows), 1)
	}
	verified(t, p.open(t), 1)
}

// A server that lives and could not tell the end of a request, because the database was away, keeps no other from it once the database answers.
func TestARequestThatWasLeftWhileTheDatabaseWasAway(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	if s.Addr() == "" {
		s = pgtest.New(t, pgtest.Options{})
	}
	name := s.Database(t)
	p := placeAt(t, s.DSN(name))
	proxy := pgtest.NewProxy(t, s.Addr())
	behind := p
	behind.dsn = proxy.DSN(name)
	one, two := behind.pools(t, 1)[0], p.pools(t, 1)[0]
	once, twice, finished := keyNamed("once"), keyNamed("twice"), keyNamed("finished")
	for _, k := range []wire.AnswerKey{once, twice, finished} {
		must.Get(one.BeginAnswer(t.Context(), k, "digest", true))(t)
	}
	must.Do(t, one.FinishAnswer(t.Context(), finished, 200, []byte("x")))
	one.LeaveAnswer(finished)
	proxy.Point("127.0.0.1:1") // no process listens there
	proxy.Cut()
	must.Kind(t, "the end", one.AbandonAnswer(t.Context(), once), amber.KindUnreachable)
	one.LeaveAnswer(once)
	one.LeaveAnswer(twice)
	must.Fail(two.BeginAnswer(t.Context(), twice, "digest", true))(t, "while the database is away for its server", amber.KindBusy)
	proxy.Point(s.Addr())
	for range 2000 {
		if p.count(t, "answers WHERE holder = ''") == 2 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	must.Fail(two.BeginAnswer(t.Context(), once, "digest", false))(t, "what may not be done twice", amber.KindConflict)
	must.Equal(t, "what may be", must.Get(two.BeginAnswer(t.Context(), twice, "digest", true))(t).Done, false)
	must.Equal(t, "what has an end", must.Get(two.BeginAnswer(t.Context(), finished, "digest", true))(t).Done, true)
	two.LeaveAnswer(twice)
}

// Behind a pooler, with fewer connections than there are who write, everything is as without.
func TestBehindAPooler(t *testing.T) {
	t.Parallel()
	s := pgtest.Shared(t)
	name := s.Database(t)
	p := placeAt(t, s.DSN(name))
	b := pgtest.NewBouncer(t, s, pgtest.BouncerOptions{PoolSize: 2})
	pooled := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: b.DSN(name), Clock: time.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() { must.NoError(t, pooled.Close()) })
	d := p.openServer(t, pooled, p.options())
	made := newToken(t, d, wire.TokenRequest{})
	const callers, each = 8, 5
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for j := range each {
				id := fmt.Sprintf("%d-%d", i, j)
				k := keyNamed(id)
				must.NoError(t, must.Err(d.Authenticate(t.Context(), made.Secret)))
				must.NoError(t, must.Err(d.BeginAnswer(t.Context(), k, "digest", true)))
				must.NoError(t, d.Record(t.Context(), entry(id)))
				must.NoError(t, d.Publish(t.Context(), event(id, nil)))
				must.NoError(t, d.FinishAnswer(t.Context(), k, 200, []byte(id)))
				lease, err := pooled.Leases("a", 0).Claim(t.Context(), postgres.Work{Kind: id})
				must.NoError(t, err)
				must.NoError(t, must.Err(d.Seal(t.Context(), lease.Check)))
				must.NoError(t, lease.Release(t.Context()))
			}
		})
	}
	wg.Wait()
	verified(t, d, callers*each)
	must.Equal(t, "waiting", must.Get(d.WaitingEvents(t.Context()))(t), callers*each)
	must.Equal(t, "answers", p.count(t, "answers WHERE done = 1"), callers*each)
}
