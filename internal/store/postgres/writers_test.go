package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
)

// attempt is one write of a campaign. Its content is its own.
type attempt struct {
	agent   int
	content string
	// keyed writes are repeated with their key until they are acknowledged, all others are
	// tried once.
	keyed bool
	turn  bool // it is a turn, not a memory
	acked bool
	id    string // it was acknowledged with
}

// writers write to a few agents through a few servers while something happens to the database.
type writers struct {
	t      *testing.T
	agents []amber.AgentID
	stores [][]*postgres.Store // by server and agent

	mu       sync.Mutex
	tried    []*attempt
	acked    int
	told     map[string]int // errors, by what they say
	lastAck  time.Time
	pause    time.Duration // the longest between two answers
	stopping chan struct{}
	work     sync.WaitGroup
}

// begin starts n writers. No writer waits for another one; agents and servers are spread over them.
func begin(t *testing.T, n, agents int, servers ...*postgres.Server) *writers {
	t.Helper()
	w := &writers{t: t, told: map[string]int{}, lastAck: time.Now(), stopping: make(chan struct{})}
	for a := range agents {
		w.agents = append(w.agents, amber.AgentID(fmt.Sprintf("written-%d-%d", places.Add(1), a)))
	}
	for _, s := range servers {
		var stores []*postgres.Store
		for _, a := range w.agents {
			store := must.Get(s.Open(t.Context(), amber.DefaultTenant, a, postgres.Options{}))(t)
			t.Cleanup(func() { must.NoError(t, store.Close()) })
			stores = append(stores, store)
		}
		w.stores = append(w.stores, stores)
	}
	for i := range n {
		w.work.Go(func() { w.write(t.Context(), i) })
	}
	return w
}

// write is one writer.
func (w *writers) write(ctx context.Context, i int) {
	agent := i % len(w.agents)
	store := w.stores[i/len(w.agents)%len(w.stores)][agent]
	for n := 0; ; n++ {
		select {
		case <-w.stopping:
			return
		default:
		}
		a := &attempt{agent: agent, content: fmt.Sprintf("writer %d wrote its line %d", i, n), keyed: n%2 == 0, turn: n%4 == 3}
		w.mu.Lock()
		w.tried = append(w.tried, a)
		w.mu.Unlock()
		for !w.try(ctx, store, a) && a.keyed && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// try makes an attempt, and reports whether it was acknowledged.
func (w *writers) try(ctx context.Context, store *postgres.Store, a *attempt) bool {
	var id string
	var err error
	if a.turn {
		var turn amber.Turn
		turn, err = store.AppendTurn(ctx, amber.Turn{SessionID: "talk", Role: amber.RoleUser, Content: a.content})
		id = string(turn.ID)
	} else {
		r := amber.WriteRequest{Content: a.content}
		if a.keyed {
			r.IdempotencyKey = "key of " + a.content
		}
		var ack amber.WriteAck
		ack, err = store.Write(ctx, r)
		id = string(ack.ID)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.told[string(amber.KindOf(err))]++
		if errors.Is(err, pgdb.ErrUnknown) {
			w.told["of these unknown"]++
		}
		if kind := amber.KindOf(err); kind != amber.KindUnreachable && kind != amber.KindBusy {
			w.t.Errorf("a write failed with %v, want unreachable or busy", err)
		}
		return false
	}
	now := time.Now()
	w.pause, w.lastAck = max(w.pause, now.Sub(w.lastAck)), now
	a.acked, a.id = true, id
	w.acked++
	return true
}

// wait returns when n more writes were acknowledged, or the test is over.
func (w *writers) wait(n int) {
	w.t.Helper()
	w.mu.Lock()
	want := w.acked + n
	w.mu.Unlock()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		w.mu.Lock()
		have := w.acked
		w.mu.Unlock()
		if have >= want {
			return
		}
		if time.Now().After(limit) {
			w.t.Fatalf("%d writes were acknowledged in a minute, want %d; errors: %v", have-want+n, n, w.told)
		}
	}
}

// restartPause measures pauses from now on.
func (w *writers) restartPause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pause, w.lastAck = 0, time.Now()
}

func (w *writers) longestPause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pause
}

// stop lets every writer end what it has begun.
func (w *writers) stop() {
	close(w.stopping)
	w.work.Wait()
}

// check compares what was said with what a database holds.
func (w *writers) check(dsn string) {
	t := w.t
	t.Helper()
	server := connect(t, dsn)
	acked, unanswered, stored := 0, 0, 0
	for n, agent := range w.agents {
		s := must.Get(server.Open(t.Context(), amber.DefaultTenant, agent, postgres.Options{Existing: true}))(t)
		there := everything(t, s)
		for _, a := range w.tried {
			if a.agent != n {
				continue
			}
			ids := there[a.content]
			delete(there, a.content)
			stored += len(ids)
			switch {
			case len(ids) > 1:
				t.Errorf("%q is there %d times", a.content, len(ids))
			case a.acked && (len(ids) != 1 || ids[0] != a.id):
				t.Errorf("%q was acknowledged as %s, and there is %v", a.content, a.id, ids)
			case a.keyed && !a.acked:
				t.Errorf("%q was given up", a.content)
			}
			if a.acked {
				acked++
			} else {
				unanswered++
			}
		}
		if len(there) > 0 {
			t.Errorf("the store holds memories that no writer wrote: %v", slices.Sorted(maps.Keys(there)))
		}
		must.NoError(t, s.VerifyIndex(t.Context()))
		must.NoError(t, s.Close())
	}
	gapless(t, dsn)
	t.Logf("acknowledged %d, not acknowledged %d, of these stored %d; errors %v", acked, unanswered, stored-acked, w.told)
}

// everything returns the ids of memories and turns by their contents. A memory that was written again
// counts each time.
func everything(t *testing.T, s *postgres.Store) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	q := amber.ListQuery{All: true, Limit: amber.MaxPageSize}
	for {
		page := must.Get(s.List(t.Context(), q))(t)
		for _, m := range page.Items {
			for range 1 + m.DuplicateCount {
				out[m.Content] = append(out[m.Content], string(m.ID))
			}
		}
		if page.Next == "" {
			break
		}
		q.Cursor = page.Next
	}
	for _, turn := range must.Get(amber.LastTurns(t.Context(), s, "talk", 1_000_000))(t) {
		out[turn.Content] = append(out[turn.Content], string(turn.ID))
	}
	return out
}

// gapless checks the change logs of all agents of a database: each entry has the number after the one before it
// and a later stamp, and the heads know the last ones.
func gapless(t *testing.T, dsn string) {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	defer c.Close(context.WithoutCancel(t.Context()))
	for log, schema := range map[string]string{"memory": "amber", "control": "amber_control"} {
		var agents, entries, gaps, behind, heads int
		must.Do(t, c.QueryRow(t.Context(), `
WITH c AS (SELECT gen, seq, stamp, lag(seq, 1, 0) OVER w AS seq_before, lag(stamp, 1, 0) OVER w AS stamp_before
           FROM `+schema+`.changes WINDOW w AS (PARTITION BY gen ORDER BY seq)),
     e AS (SELECT gen, max(seq) AS seq, max(stamp) AS stamp FROM c GROUP BY gen)
SELECT (SELECT count(*) FROM e), (SELECT count(*) FROM c),
       (SELECT count(*) FROM c WHERE seq <> seq_before + 1),
       (SELECT count(*) FROM c WHERE stamp <= stamp_before),
       (SELECT count(*) FROM amber.heads h LEFT JOIN e USING (gen) WHERE h.log = '`+log+`' AND (h.seq <> coalesce(e.seq, 0) OR h.stamp < coalesce(e.stamp, 0)))`).
			Scan(&agents, &entries, &gaps, &behind, &heads))
		must.Equal(t, log+": entries without the one before", gaps, 0)
		must.Equal(t, log+": stamps that do not grow", behind, 0)
		must.Equal(t, log+": heads that do not know their log", heads, 0)
		if log == "memory" {
			must.Hold(t, entries > 0, "the change log is empty")
		}
		t.Logf("%s: %d entries of %d agents without a gap", log, entries, agents)
	}
}
