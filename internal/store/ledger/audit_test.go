package ledger_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// hashOf computes the hash of an entry as docs/format/audit.md says.
func hashOf(e wire.AuditEntry) string {
	var b []byte
	for _, s := range []string{
		"amber audit 1", fmt.Sprint(e.Seq), fmt.Sprint(e.At.UnixMilli()), string(e.Tenant), string(e.Agent), e.Actor,
		e.Action, e.Subject, e.Outcome, e.RequestID, e.Prev,
	} {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

var zeros = strings.Repeat("0", 64)

// verified returns a report that must find nothing.
func verified(t testing.TB, d *ledger.DB, entries int64) wire.AuditReport {
	t.Helper()
	r := must.Get(d.VerifyAudit(t.Context()))(t)
	must.Hold(t, r.OK() && r.Entries == entries, "%d entries, want %d; damaged: %q", r.Entries, entries, r.Damaged)
	return r
}

func TestEntriesAreChained(t *testing.T) { both(t, testEntriesAreChained) }

func testEntriesAreChained(t *testing.T, p place) {
	d := p.open(t)
	if r := verified(t, d, 0); r.Head != zeros || len(r.NotChecked) == 0 || !strings.Contains(r.NotChecked[0], "end of the log") {
		t.Errorf("an empty log: %+v", r)
	}
	record(t, d, "one", "two", "three")
	page := must.Get(d.ListAudit(t.Context(), wire.AuditQuery{}))(t)
	want := []wire.AuditEntry{entry("three"), entry("two"), entry("one")}
	prev := zeros
	for i := len(want) - 1; i >= 0; i-- {
		e := &want[i]
		e.Seq, e.At, e.Prev = int64(len(want)-i), amber.At(p.clock.Now()), prev
		e.Hash = hashOf(*e)
		prev = e.Hash
	}
	must.Equal(t, "", page.Items, want, cmp.AllowUnexported(amber.Time{}))
	if r := verified(t, d, 3); r.Head != prev || r.First != want[2].At || r.Last != want[0].At {
		t.Errorf("%+v", r)
	}
}

// The entry in docs/format/audit.md has the hash that is printed there.
func TestTheHashOfTheDocumentation(t *testing.T) { both(t, testTheHashOfTheDocumentation) }

func testTheHashOfTheDocumentation(t *testing.T, p place) {
	d := p.open(t)
	must.Do(t, d.Record(t.Context(), wire.AuditEntry{
		Tenant: "acme", Agent: "bob", Actor: "k3x7q2ma", Action: "memory.write",
		Subject: "019b7ccd-f1ae-7a1b-8c2d-3e4f5a6b7c8d", Outcome: "ok", RequestID: "req-1",
	}))
	got := must.Get(d.ListAudit(t.Context(), wire.AuditQuery{}))(t).Items[0].Hash
	if want := documentedHash; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

const documentedHash = "3e80c3a38b3a66d3f965ee3f8cf4eb7af1030cb5574a4e7b8bbee6a40d7bd738"

// A field that would not fit into the log is cut and cleaned: no change happens without an entry.
func TestFieldsAreMadeToFit(t *testing.T) { both(t, testFieldsAreMadeToFit) }

func testFieldsAreMadeToFit(t *testing.T, p place) {
	d := p.open(t)
	long := strings.Repeat("ä", 150)
	must.Do(t, d.Record(t.Context(), wire.AuditEntry{Actor: "a\nb\x00c", Action: "\xff", Subject: long, RequestID: "\u202eevil"}))
	got := must.Get(d.ListAudit(t.Context(), wire.AuditQuery{}))(t).Items[0]
	must.Hold(t, got.Actor == "a?b?c" && got.Action == "?" && got.Subject == long[:200] && got.RequestID == "?evil", "%+v", got)
	verified(t, d, 1)
}

func TestConcurrentRecordersShareOneChain(t *testing.T) {
	both(t, testConcurrentRecordersShareOneChain)
}

func testConcurrentRecordersShareOneChain(t *testing.T, p place) {
	const (
		opened  = 4
		callers = 8
		each    = 32
	)
	var wg sync.WaitGroup
	for i := range opened {
		d := p.open(t)
		for j := range callers {
			wg.Go(func() {
				for k := range each {
					must.NoError(t, d.Record(t.Context(), entry(fmt.Sprintf("%d-%d-%d", i, j, k))))
				}
			})
		}
	}
	wg.Wait()
	d := p.open(t)
	verified(t, d, opened*callers*each)
	seen := map[string]bool{}
	for _, e := range all(t, d, wire.AuditQuery{Limit: amber.MaxPageSize}) {
		seen[e.Subject] = true
	}
	must.Equal(t, "entries", len(seen), opened*callers*each)
}

// all reads every page.
func all(t testing.TB, d *ledger.DB, q wire.AuditQuery) (entries []wire.AuditEntry) {
	t.Helper()
	for {
		page := must.Get(d.ListAudit(t.Context(), q))(t)
		entries = append(entries, page.Items...)
		if q.Cursor = page.Next; q.Cursor == "" {
			return entries
		}
	}
}

// A call that stands in line when the context ends was never there; one that is
// being written is waited for.
func TestRecordingEndsWithItsContext(t *testing.T) { both(t, testRecordingEndsWithItsContext) }

func testRecordingEndsWithItsContext(t *testing.T, p place) {
	d := p.open(t)
	unlock := p.lock(t, "audit")
	leader := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { leader <- d.Record(ctx, entry("leader")) }()
	// Whether this one is behind the leader or leads itself, its end is known.
	behind, leave := context.WithCancel(t.Context())
	second := make(chan error, 1)
	go func() { second <- d.Record(behind, entry("second")) }()
	leave()
	cancel()
	unlock()
	recorded := 0
	for name, c := range map[string]chan error{"leader": leader, "second": second} {
		switch err := <-c; {
		case err == nil:
			recorded++
		case amber.KindOf(err) != amber.KindUnreachable:
			t.Errorf("%s: %v", name, err)
		}
	}
	verified(t, d, int64(recorded))
	ended, end := context.WithCancel(t.Context())
	end()
	must.Kind(t, "a context that has ended", d.Record(ended, entry("late")), amber.KindUnreachable)
	verified(t, d, int64(recorded))
}

func TestListingAuditEntries(t *testing.T) { both(t, testListingAuditEntries) }

func testListingAuditEntries(t *testing.T, p place) {
	d := p.open(t)
	var middle amber.Time
	for i := range 20 {
		if i == 10 {
			p.clock.Advance(1e9)
			middle = amber.At(p.clock.Now())
		}
		e := entry(fmt.Sprint(i))
		e.Tenant = []amber.TenantID{"acme", "other"}[i%2]
		e.Agent = []amber.AgentID{"bob", "eve"}[i/2%2]
		e.Actor = []string{"local", "k3x7q2ma"}[i%2]
		e.Action = []string{"memory.write", "memory.read", "token.create"}[i%3]
		must.Do(t, d.Record(t.Context(), e))
	}
	for name, c := range map[string]struct {
		q    wire.AuditQuery
		want int
	}{
		"all":               {wire.AuditQuery{}, 20},
		"pages of 7":        {wire.AuditQuery{Limit: 7}, 20},
		"pages of 10":       {wire.AuditQuery{Limit: 10}, 20},
		"a huge page":       {wire.AuditQuery{Limit: 1 << 30}, 20},
		"tenant":            {wire.AuditQuery{Tenant: "acme", Limit: 3}, 10},
		"agent":             {wire.AuditQuery{Tenant: "acme", Agent: "eve"}, 5},
		"actor":             {wire.AuditQuery{Actor: "local", Limit: 1}, 10},
		"action":            {wire.AuditQuery{Action: "token.create"}, 6},
		"since":             {wire.AuditQuery{Since: middle, Limit: 4}, 10},
		"nobody":            {wire.AuditQuery{Tenant: "' OR 1=1 --"}, 0},
		"all of it at once": {wire.AuditQuery{Tenant: "other", Agent: "bob", Actor: "k3x7q2ma", Action: "memory.read", Since: middle}, 1},
	} {
		got := all(t, d, c.q)
		must.Equal(t, name+": entries", len(got), c.want)
		for i := 1; i < len(got); i++ {
			must.Hold(t, got[i].Seq < got[i-1].Seq, "%s: %d comes after %d", name, got[i].Seq, got[i-1].Seq)
		}
	}
	for _, q := range []wire.AuditQuery{{Limit: -1}, {Cursor: "x"}, {Cursor: "!"}, {Cursor: amber.Cursor(strings.Repeat("a", 1<<20))}, {Cursor: "YXVkaXQKKzE"}} {
		page, err := d.ListAudit(t.Context(), q)
		must.Kind(t, fmt.Sprintf("%.20q", q.Cursor), err, amber.KindInvalid)
		must.Hold(t, page.Items != nil, "a list is nil")
	}
}
