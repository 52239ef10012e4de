package ledger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
)

func event(id string, payload any) events.Event {
	return events.Event{
		ID: id, Name: events.EventMutated, Subject: "amber.memory.mutated.acme.bob", Tenant: "acme", Agent: "bob",
		At: amber.UnixMilli(1767323045678), Payload: payload,
	}
}

func pending(t testing.TB, d *ledger.DB, limit int) (ids []string, last int64) {
	t.Helper()
	for _, e := range must.Get(d.PendingEvents(t.Context(), limit))(t) {
		ids = append(ids, e.Event.ID)
		must.Hold(t, e.Seq > last, "%d comes after %d", e.Seq, last)
		last = e.Seq
	}
	return ids, last
}

func TestEventsComeOutAsTheyWentIn(t *testing.T) { both(t, testEventsComeOutAsTheyWentIn) }

func testEventsComeOutAsTheyWentIn(t *testing.T, p place) {
	d := p.open(t)
	m := events.Mutation{Tenant: "acme", Agent: "bob", Op: amber.OpInsert, Key: "<k>", At: amber.UnixMilli(1)}
	must.Do(t, d.Publish(t.Context(), event("1", m)))
	must.Do(t, d.Publish(t.Context(), event("2", nil)))
	must.Do(t, d.Close())
	d = p.open(t)
	got := must.Get(d.PendingEvents(t.Context(), 10))(t)
	want := event("1", json.RawMessage(must.Get(json.Marshal(m))(t)))
	must.Equal(t, "", got[0].Event, want, cmp.AllowUnexported(amber.Time{}))
	again := must.Get(json.Marshal(got[1].Event))(t)
	must.Equal(t, "", string(again), string(must.Get(json.Marshal(event("2", nil)))(t)))
	must.Do(t, d.EventsPublished(t.Context(), got[0].Seq))
	if ids, _ := pending(t, d, 10); len(ids) != 1 || ids[0] != "2" {
		t.Errorf("left: %v", ids)
	}
}

func TestNumbersOfEventsAreNeverUsedAgain(t *testing.T) {
	both(t, testNumbersOfEventsAreNeverUsedAgain)
}

func testNumbersOfEventsAreNeverUsedAgain(t *testing.T, p place) {
	d := p.open(t)
	var last int64
	for i := range 5 {
		must.Do(t, d.Publish(t.Context(), event(fmt.Sprint(i), nil)))
		_, seq := pending(t, d, 10)
		must.Hold(t, seq > last, "%d after %d", seq, last)
		last = seq
		must.Do(t, d.EventsPublished(t.Context(), last))
		must.Do(t, d.EventsPublished(t.Context(), last-1))
		must.Do(t, d.Close())
		d = p.open(t)
	}
	if ids, _ := pending(t, d, 10); len(ids) != 0 {
		t.Errorf("left: %v", ids)
	}
}

func TestConcurrentPublishersLoseNothing(t *testing.T) { both(t, testConcurrentPublishersLoseNothing) }

func testConcurrentPublishersLoseNothing(t *testing.T, p place) {
	const each = 25
	var wg sync.WaitGroup
	for i := range 4 {
		d := p.open(t)
		wg.Go(func() {
			for j := range each {
				must.NoError(t, d.Publish(context.Background(), event(fmt.Sprintf("%d-%d", i, j), nil)))
			}
		})
	}
	wg.Wait()
	d := p.open(t)
	taken := map[string]bool{}
	for {
		ids, last := pending(t, d, 7)
		if len(ids) == 0 {
			break
		}
		for _, id := range ids {
			taken[id] = true
		}
		must.Do(t, d.EventsPublished(t.Context(), last))
	}
	must.Equal(t, "events", len(taken), 4*each)
}

func TestTheOutboxIsBounded(t *testing.T) { both(t, testTheOutboxIsBounded) }

func testTheOutboxIsBounded(t *testing.T, p place) {
	d := p.open(t)
	text := string(must.Get(json.Marshal(event("old", nil)))(t))
	fill := func(from, to int) {
		p.do(t, `WITH RECURSIVE n (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO outbox (seq, event) SELECT i, ? FROM n`,
			`INSERT INTO outbox (seq, event) SELECT i, $3 FROM generate_series($1::int8, $2::int8) i`, from, to, text)
	}
	first := 1500 // more than a page; the numbers count, and those between are missing
	if *full {
		first = ledger.MaxPending - 2600
	}
	fill(1, first)
	fill(ledger.MaxPending-2599, ledger.MaxPending-1)
	must.Do(t, d.Publish(t.Context(), event("the last", nil)))
	must.Kind(t, "a full outbox", d.Publish(t.Context(), event("one too many", nil)), amber.KindQuota)
	ids, last := pending(t, d, 1<<30)
	must.Equal(t, "events of a page", len(ids), 1000)
	must.Do(t, d.EventsPublished(t.Context(), last))
	must.Do(t, d.Publish(t.Context(), event("again", nil)))
	for _, limit := range []int{0, -1} {
		if ids, _ := pending(t, d, limit); len(ids) != 0 {
			t.Errorf("limit %d: %d events", limit, len(ids))
		}
	}
	p.do(t, `DELETE FROM outbox WHERE seq <= ?`, `DELETE FROM outbox WHERE seq <= $1`, ledger.MaxPending-2500)
	must.Do(t, d.EventsPublished(t.Context(), 1<<62)) // more than one transaction
	if ids, _ := pending(t, d, 10); len(ids) != 0 {
		t.Errorf("left: %v", ids)
	}
}

func TestLargeEvents(t *testing.T) { both(t, testLargeEvents) }

func testLargeEvents(t *testing.T, p place) {
	d := p.open(t)
	must.Kind(t, "a huge event", d.Publish(t.Context(), event("x", strings.Repeat("a", 8<<20))), amber.KindInvalid)
	must.Kind(t, "no JSON", d.Publish(t.Context(), event("x", func() {})), amber.KindInvalid)
	const n = 6
	must.Do(t, d.Publish(t.Context(), event("0", strings.Repeat("a", 7<<20))))
	for range n - 1 { // as Publish would, without the JSON
		const again = `INSERT INTO outbox (event) SELECT event FROM outbox WHERE seq = 1`
		p.do(t, again, again)
	}
	ids, last := pending(t, d, n)
	must.Hold(t, len(ids) != n && len(ids) >= 2, "%d large events in one page", len(ids))
	must.Do(t, d.EventsPublished(t.Context(), last))
	if rest, _ := pending(t, d, n); len(rest)+len(ids) != n {
		t.Errorf("%d and then %d events", len(ids), len(rest))
	}
}

// A row that is no event does not hold up those around it.
func TestAnEventThatCannotBeReadIsNone(t *testing.T) { both(t, testAnEventThatCannotBeReadIsNone) }

func testAnEventThatCannotBeReadIsNone(t *testing.T, p place) {
	d := p.open(t)
	for _, id := range []string{"1", "2", "3"} {
		must.Do(t, d.Publish(t.Context(), event(id, nil)))
	}
	const harm = `UPDATE outbox SET event = '{"id":' WHERE seq = 2`
	p.do(t, harm, harm)
	if ids, last := pending(t, d, 10); !cmp.Equal(ids, []string{"1", "", "3"}) || last != 3 {
		t.Errorf("got %q up to %d", ids, last)
	}
}
